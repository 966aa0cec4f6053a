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
  const parts = String(sessionKey ?? "").toLowerCase().replace(/^agent:[^:]*:/, "").split(":");
  return { mode: "auto", cites: !parts.includes("group") && !parts.includes("channel") };
}

/** A hit of ours as OpenClaw's own search returns one. */
export function hostHit(hit) {
  return {
    path: hit.path,
    startLine: hit.startLine,
    endLine: hit.endLine,
    score: hit.score,
    ...(hit.vectorScore === undefined ? {} : { vectorScore: hit.vectorScore }),
    ...(hit.textScore === undefined ? {} : { textScore: hit.textScore }),
    snippet: hit.snippet,
    source: "memory",
    provenance: {
      originClass: hit.origin,
      sessionKind: "unknown",
      observedAt: Date.parse(hit.date ?? "") || 0,
    },
  };
}

function presented(hit, cites) {
  const out = {
    ...hostHit(hit),
    corpus: "memory",
    id: hit.id,
    heading: hit.heading,
    date: hit.date,
    kind: hit.kind,
    ...(hit.superseded?.length ? { superseded: hit.superseded } : {}),
    ...(hit.via ? { distance: hit.distance, via: hit.via } : {}),
  };
  if (!cites) return out;
  return { ...out, citation: hit.citation, snippet: `${hit.snippet.trimEnd()}\n\nSource: ${hit.citation}` };
}

/** The documented answer when there is no memory to ask, with the next step in `action`. */
export function unavailable(error, { toolMs, action, what = "Memory search" } = {}) {
  const reason = error instanceof Error ? error.message : String(error);
  const timedOut = error?.name === "DeadlineError";
  const warning = timedOut ? `${what} did not finish within its time limit.` : `${what} is unavailable.`;
  const next =
    action ??
    (error?.name === "UnavailableError" && error.action
      ? error.action
      : timedOut
        ? "Try again in a moment; if it stays slow, run: openclaw memory doctor"
        : "Run: openclaw memory doctor");
  return {
    results: [],
    disabled: true,
    unavailable: true,
    ...(timedOut ? { timedOut: true } : {}),
    error: reason,
    warning,
    action: next,
    debug: { backend: "openclaw-memory", toolMs, error: reason, warning, action: next },
  };
}

/** The answer for an agent whose workspace is not made yet. */
export function nothingYet(toolMs) {
  return {
    results: [],
    provider: "none",
    model: null,
    fallback: null,
    mode: "none",
    warning: "This agent has no notes yet.",
    debug: { backend: "openclaw-memory", toolMs, hits: 0 },
  };
}

/** The host's answer from ours. */
export function searchResult(found, { cites, mode }, toolMs) {
  return {
    results: found.results.map((hit) => presented(hit, cites)),
    provider: found.provider,
    model: found.model,
    fallback: found.fallback,
    citations: mode,
    mode: found.mode,
    ...(found.warning ? { warning: found.warning } : {}),
    ...(found.stale ? { stale: true, action: "Run: openclaw memory index" } : {}),
    debug: { backend: "openclaw-memory", effectiveMode: found.mode, searchMs: found.took_ms, toolMs, hits: found.results.length },
  };
}

/** The host's answer of a read from ours. */
export function readResult(found) {
  if (found.status === "ok") {
    return given({
      status: "ok",
      text: found.text,
      path: found.path,
      truncated: found.truncated || undefined,
      from: found.from,
      lines: found.lines,
      nextFrom: found.nextFrom,
    });
  }
  if (found.status === "not_found") return { status: "not_found", path: found.path, text: "" };
  return { path: found.path, text: "", status: "error", code: "invalid", error: found.error ?? "it could not be read" };
}

