/** What the tools answer: our results in the shapes of OpenClaw's built-in memory. */

import { given } from "./arguments.mjs";

/** What a tool returns to OpenClaw. */
export function toolResult(payload) {
  return { content: [{ type: "text", text: JSON.stringify(payload, null, 2) }], details: payload };
}

/** Whether hits carry their source: as configured, and in `auto` only where one person is spoken to. */
export function citesSources(cfg, sessionKey) {
  const mode = cfg?.memory?.citations;
  if (mode === "on" || mode === "off") return { mode, cites: mode === "on" };
  return { mode: "auto", cites: isPrivate(sessionKey) };
}

/** Whether one person is spoken to in a session. */
export function isPrivate(sessionKey) {
  const parts = String(sessionKey ?? "").toLowerCase().replace(/^agent:[^:]*:/, "").split(":");
  return !["group", "channel", "room"].some((kind) => parts.includes(kind));
}

/** What the paths of conversations begin with. */
export const CONVERSATIONS = "@sessions/";

/** A hit of ours as OpenClaw's own search returns one. */
export function hostHit(hit) {
  const { path, startLine, endLine, score, vectorScore, textScore, snippet } = hit;
  return {
    ...given({ path, startLine, endLine, score, vectorScore, textScore, snippet }),
    source: path.startsWith(CONVERSATIONS) ? "sessions" : "memory",
    provenance: { originClass: hit.origin, sessionKind: "unknown", observedAt: Date.parse(hit.date ?? "") || 0 },
  };
}

/** So many hits below the least score of the host are given where there is none above it. */
const UNSURE = 3;

/**
 * What is found; where the host's own least score leaves nothing, the best few below it, marked as unsure.
 *
 * @param {(args: object) => Promise<object>} search
 */
export async function foundOrUnsure(search, { budget, ...args }) {
  const found = await search(given({ ...args, budget }));
  if (found.results.length || !args.minScore) return found;
  const below = search({ ...args, minScore: 0, maxResults: Math.min(UNSURE, args.maxResults ?? UNSURE) });
  return { ...(await below.catch(() => found)), goodMatch: false };
}

/** A hit for the model; the shares of single signals are in `why`, for those who ask for it. */
function shownHit({ origin, citation, concepts, graphScore, timeScore, archived, ...hit }, cites) {
  const host = hostHit({ ...hit, origin });
  const out = { ...hit, ...host, corpus: host.source, ...(archived ? { archived } : {}) };
  return cites ? { ...out, citation, snippet: `${hit.snippet.trimEnd()}\n\nSource: ${citation}` } : out;
}

/** A fact for the model; who wrote it is told as with a hit. */
function shownFact({ origin, source, ...row }, cites) {
  return { ...row, provenance: { originClass: origin }, ...(cites && source ? { source } : {}) };
}

const SHOWN = { results: shownHit, sources: shownHit, rows: shownFact, facts: shownFact };

/** The host's answer from ours. */
export function presented(tool, { took_ms: searchMs, ...found }, { cites, mode }, toolMs) {
  if (tool.result === "text") return readResult(found);
  for (const [list, shown] of Object.entries(SHOWN)) if (found[list]) found[list] = found[list].map((each) => shown(each, cites));
  return {
    ...found,
    citations: mode,
    ...(found.stale ? { action: "Run: openclaw memory index" } : {}),
    debug: given({
      backend: "openclaw-memory",
      effectiveMode: found.mode,
      searchMs,
      toolMs,
      hits: (found.results ?? found.rows)?.length,
      ...(found.rows ? { factsMs: searchMs, rows: found.rows.length } : {}),
    }),
  };
}

/** The documented answer of a tool that has nothing to ask, with the next step in `action`. */
function unavailable(tool, error, reason, { toolMs, action }) {
  const timedOut = error?.name === "DeadlineError";
  const what = tool.result === "hits" ? "Memory search" : "Memory";
  const warning = timedOut ? `${what} did not finish within its time limit.` : `${what} is unavailable.`;
  const next = timedOut ? "Try again in a moment; if it stays slow, run: openclaw memory doctor" : "Run: openclaw memory doctor";
  const told = { error: reason, warning, action: action ?? error?.action ?? next };
  return {
    ...(tool.result === "hits" ? { results: [], goodMatch: false } : tool.result === "facts" ? { rows: [] } : {}),
    disabled: true,
    unavailable: true,
    ...(timedOut ? { timedOut: true } : {}),
    ...told,
    debug: { backend: "openclaw-memory", toolMs, ...told },
  };
}

const notFound = (path) => ({ status: "not_found", path, text: "" });

/** The answer about what this memory does not hold. */
export function absent(tool, { path }, reason) {
  if (tool.result === "text") return notFound(path);
  const action = "Search again with corpus=memory, or use the tools that the host offers for it.";
  return unavailable(tool, null, reason, { toolMs: 0, action });
}

/** The answer when a call failed; of an agent whose workspace is not made yet, that there is nothing. */
export function failure(tool, { path }, error, toolMs) {
  const noWorkspace = error?.name === "ToolError" && error.kind === "workspace";
  const reason = error instanceof Error ? error.message : String(error);
  if (tool.result === "text") {
    if (noWorkspace) return notFound(path);
    const code = { UnavailableError: "unavailable", DeadlineError: "timeout" }[error?.name] ?? "failed";
    return given({ path, text: "", status: "error", code, error: reason, action: error?.action });
  }
  if (!noWorkspace || tool.result !== "hits") return unavailable(tool, error, reason, { toolMs });
  const debug = { backend: "openclaw-memory", toolMs, hits: 0 };
  return { results: [], goodMatch: false, provider: "none", model: null, fallback: null, mode: "none", warning: "This agent has no notes yet.", debug };
}

/** The host's answer of a read from ours. */
export function readResult(found) {
  if (found.status === "ok") {
    const { text, path, truncated, from, lines, nextFrom } = found;
    return given({ status: "ok", text, path, truncated: truncated || undefined, from, lines, nextFrom });
  }
  if (found.status === "not_found") return notFound(found.path);
  return { path: found.path, text: "", status: "error", code: "invalid", error: found.error ?? "it could not be read" };
}

