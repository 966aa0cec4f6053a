/** The tools that the model calls: those of the registry, each asked of the Python process and answered as OpenClaw expects. */

import { clamp, ParameterError, prepared } from "./arguments.mjs";
import { within } from "./child.mjs";
import { parentOf } from "./parents.mjs";
import { absent, citesSources, CONVERSATIONS, failure, foundOrUnsure, isPrivate, presented, toolResult } from "./results.mjs";
import TOOLS from "./tools.json" with { type: "json" };

export { TOOLS };

/** OpenClaw's own least score; how many hits there are is a setting of ours, `search.max_results`. */
const DEFAULT_MIN_SCORE = 0.35;
const SEARCH_TIMEOUT_MS = 10_000;
const READING_WAIT_MS = 2000; // a search waits this long for notes that are being read, and half its deadline at most
const NO_WIKI = "A wiki is not part of this memory.";
const NOT_HERE = "Conversations are searched in the owner's private ones only, and where tools.sessions.visibility is agent or all.";

/** Limits of a search in the host's configuration, an agent's before the defaults; `null` when memory is off. */
export function searchLimits(cfg, agentId) {
  const general = cfg?.memory?.search ?? {};
  const own = agentEntry(cfg, agentId)?.memory?.search ?? {};
  if ((own.enabled ?? general.enabled) === false) return null;
  return {
    maxResults: own.query?.maxResults ?? general.query?.maxResults,
    minScore: clamp(own.query?.minScore ?? general.query?.minScore ?? DEFAULT_MIN_SCORE, 0, 1),
  };
}

/** An agent's part of the configuration; OpenClaw reads the names there without regard to case. */
function agentEntry(cfg, agentId) {
  const named = (name) => String(name ?? "").trim().toLowerCase() === String(agentId).toLowerCase();
  const { entries, list } = cfg?.agents ?? {};
  const key = Object.keys(entries ?? {}).find(named);
  return key === undefined ? (Array.isArray(list) ? list.find((entry) => named(entry?.id)) : undefined) : entries[key];
}

/** Whether what was said in the agent's conversations may be shown in this one. */
function showsConversations(cfg, { sessionKey, stranger }) {
  return !stranger && isPrivate(sessionKey) && ["agent", "all"].includes(cfg?.tools?.sessions?.visibility ?? "all");
}

/** Whether a call of a tool changes something. */
function changes(tool, args) {
  return !tool.readOnly && !Object.entries(tool.asks).some(([name, values]) => values.includes(args[name] ?? null));
}

/**
 * Make a tool of the registry for one turn.
 *
 * @param {object} tool an entry of {@link TOOLS}
 * @param {{call: Function, config: object}} memory the process, and the plugin's configuration
 * @param {{agentId: string, workspaceDir: string, sessionKey?: string, cfg: () => object, stranger?: boolean,
 *   reading?: () => Promise<void> | undefined}} turn `reading` is the ingest of these notes while one is going on;
 *   `stranger` means that somebody is known to have written who is not the owner
 */
export function makeTool(tool, memory, turn) {
  const { name, label, description, parameters } = tool;
  const execute = async (_id, params, signal) => {
    const limits = searchLimits(turn.cfg(), turn.agentId);
    if (limits === null) throw new Error("Memory is off for this agent. Turn memory search on for it, then try again.");
    const { corpus, ...args } = prepared(parameters, params ?? {});
    const corpora = parameters.properties.corpus?.enum ?? [];
    if (corpus && !corpora.includes(corpus)) throw new ParameterError(`corpus must be one of: ${corpora.join(", ")}`);
    if (corpus === "wiki") return toolResult(absent(tool, args, NO_WIKI));
    const conversations = showsConversations(turn.cfg(), turn);
    if (!conversations && (corpus === "sessions" || args.path?.startsWith(CONVERSATIONS))) return toolResult(absent(tool, args, NOT_HERE));
    if (tool.result === "hits" && conversations && corpus && corpus !== "memory") args.corpus = corpus;
    const changing = changes(tool, args);
    if (changing && turn.stranger) {
      throw new Error(
        "Memory is changed in turns of the owner only, and this sender is not the owner. If they are, their id belongs " +
          "into commands.ownerAllowFrom of OpenClaw's configuration.",
      );
    }
    const hostsFloor = Boolean(parameters.properties.minScore) && args.minScore === undefined;
    if (parameters.properties.minScore) {
      args.minScore ??= limits.minScore;
      if (!args.budget && limits.maxResults) args.maxResults ??= clamp(limits.maxResults, 1, parameters.properties.maxResults.maximum);
    }
    const started = Date.now();
    const passed = () => Date.now() - started;
    const searches = tool.result === "hits" || tool.result === "facts";
    const timeoutMs = searches ? (memory.config.searchTimeoutMs ?? SEARCH_TIMEOUT_MS) : tool.deadlineMs;
    try {
      // What was written just before the session began is being read now.
      if (tool.result === "hits") await within(turn.reading?.(), Math.min(READING_WAIT_MS, timeoutMs / 2)).catch(() => {});
      const call = (wanted) =>
        memory.call(name, wanted, {
          agent: turn.agentId,
          workspace: turn.workspaceDir,
          parent: parentOf(turn.sessionKey),
          timeoutMs: timeoutMs - passed(),
          signal,
          again: !changing || tool.idempotent,
        });
      const found = await (hostsFloor ? foundOrUnsure(call, args) : call(args));
      return toolResult(presented(tool, found, citesSources(turn.cfg(), turn.sessionKey), passed()));
    } catch (error) {
      if (signal?.aborted) throw error;
      if (error?.name === "ToolError" && error.kind === "request") throw new ParameterError(error.message);
      return toolResult(failure(tool, args, error, passed()));
    }
  };
  return {
    label,
    name,
    description,
    parameters,
    ...(tool.hint ? { catalogMode: "direct-only" } : {}),
    prepareArguments: (params) => prepared(parameters, params),
    execute,
  };
}
