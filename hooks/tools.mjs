/** The tools that the model calls, with the schemas and result shapes of OpenClaw's built-in memory. */

import { setTimeout as delay } from "node:timers/promises";

import { choice, clamp, closed, flag, given, listed, names, number, ParameterError, text } from "./arguments.mjs";
import { knowledgeTools } from "./knowledge.mjs";
import { citesSources, nothingYet, readResult, searchResult, toolResult, unavailable } from "./results.mjs";

/** The names that this plugin registers; `contracts.tools` of the manifest lists the same. */
export const TOOL_NAMES = ["memory_search", "memory_get", "memory_timeline", "graph_recall", "memory_facts"];

/** Defaults of OpenClaw's own memory search, which ours follow unless the host's configuration says otherwise. */
export const DEFAULT_MAX_RESULTS = 6;
export const DEFAULT_MIN_SCORE = 0.35;
const MOST_RESULTS = 50; // what the server allows
const READ_TIMEOUT_MS = 10_000;
const READING_WAIT_MS = 2000; // a search waits this long for notes that are being read, and half its deadline at most

const count = { type: "integer", minimum: 1 };
const corpora = (...allowed) => ({ type: "string", enum: allowed });
const several = (description) => ({ type: "array", items: { type: "string" }, description });

const day = (description) => ({ type: "string", description: `${description}, YYYY-MM-DD` });
const age = (description) => ({ type: "integer", minimum: 0, description });

/** Which texts count, by their resolution in time and their age. */
const TIMES = {
  grain: {
    type: "string",
    enum: ["working", "daily", "weekly", "monthly", "quarterly", "yearly"],
    description: "Only texts of this resolution in time; working = the notes themselves, the others are summaries",
  },
  minimumDaysAgo: age("Leave out what is younger than this many days"),
  maximumDaysAgo: age("Leave out what is older than this many days"),
  includeArchived: { type: "boolean", description: "Also the notes that summaries stand for, behind those" },
};

export const SEARCH_PARAMETERS = closed(["query"], {
  query: { type: "string" },
  maxResults: count,
  minScore: { type: "number" },
  corpus: corpora("memory", "wiki", "all", "sessions"),
  ...TIMES,
  concept: several("Only what mentions one of these names, under whatever alias"),
  conceptKind: several("Only what mentions something of one of these kinds: person, project, tool, event, place …"),
  near: several("Prefer what is connected with these names, directly or over others"),
  maxDistance: { type: "integer", minimum: 1, maximum: 6, description: "With near: steps from them that still count; 3 unless told" },
  vectorWeight: {
    type: "number",
    minimum: 0,
    maximum: 1,
    description: "With near: how much the question counts, from 0 (only nearness) to 1 (only the question); 0.5 unless told",
  },
});

export const GET_PARAMETERS = closed(["path"], {
  path: { type: "string" },
  from: count,
  lines: count,
  corpus: corpora("memory", "wiki", "all"),
});

/** The arguments of a search that name concepts; a model may give one name without a list. */
const CONCEPT_LISTS = ["concept", "conceptKind", "near"];

export const TIMELINE_PARAMETERS = closed([], {
  query: { type: "string", description: "What to look for; without it everything in the range is listed" },
  ...TIMES,
  kind: {
    type: "string",
    enum: ["curated", "daily", "note"],
    description: "Only MEMORY.md and USER.md (curated), the notes of a day (daily), or other notes (note)",
  },
  since: day("First day"),
  until: day("Last day"),
  budget: { type: "integer", minimum: 1, maximum: 100_000, description: "Return about this many tokens of text, instead of maxResults" },
  maxResults: count,
});

const ANSWERS =
  "Answers with exact lines, best first; `citation` names file and lines. If the result has unavailable, stale or " +
  "warning, tell the user, with the action it names.";

const DESCRIPTIONS = {
  memory_search:
    "Look up the agent's long-term memory (MEMORY.md, USER.md, the notes under memory/): by meaning, by exact terms such " +
    "as names, numbers and codes, and by the dates the question names. Use it before you answer about earlier work, decisions, " +
    "dates, people, preferences or open tasks. A hit with `superseded` is out of date: what it says there holds now. " +
    ANSWERS,
  memory_get:
    "Read lines of a memory file exactly as they are on disk, for instance around a search hit. Without `lines` it reads a " +
    "bounded part and says in `nextFrom` where to go on. status=not_found means that there is no such file.",
  memory_timeline:
    "Memory in order of time: what was noted in a span of days, with or without a question. Use it for 'what happened last " +
    "week', 'since when', 'what led to'; each text starts with its day.",
};

/** What of {@link TIMES} a model gave. */
const times = (params) => ({
  grain: choice(params, "grain", TIMES.grain.enum),
  minimumDaysAgo: number(params, "minimumDaysAgo", { integer: true, minimum: 0 }),
  maximumDaysAgo: number(params, "maximumDaysAgo", { integer: true, minimum: 0 }),
  includeArchived: flag(params, "includeArchived"),
});

/** Limits of a search in the host's configuration, an agent's before the defaults; `null` when memory is off. */
export function searchLimits(cfg, agentId) {
  const general = cfg?.memory?.search ?? {};
  const own = agentEntry(cfg, agentId)?.memory?.search ?? {};
  if ((own.enabled ?? general.enabled) === false) return null;
  return {
    maxResults: own.query?.maxResults ?? general.query?.maxResults ?? DEFAULT_MAX_RESULTS,
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

/**
 * Make the tools for one turn.
 *
 * @param {{call: Function, config: object}} memory the process, and the plugin's configuration
 * @param {{agentId: string, workspaceDir: string, sessionKey?: string, cfg: () => object, stranger?: boolean,
 *   reading?: () => Promise<void> | undefined}} turn `reading` is the ingest of these notes while one is going on
 */
export function makeTools(memory, turn) {
  const timeoutMs = memory.config.searchTimeoutMs ?? 10_000;
  const call = (tool, args, signal, options = {}) =>
    memory.call(tool, args, { agent: turn.agentId, workspace: turn.workspaceDir, timeoutMs, signal, ...options });

  const search = async (tool, args, signal) => {
    const started = Date.now();
    try {
      // What was written just before the session began is being read now.
      await atMost(turn.reading?.(), Math.min(READING_WAIT_MS, timeoutMs / 2));
      const found = await call(tool, args, signal, { timeoutMs: timeoutMs - (Date.now() - started) });
      return toolResult(searchResult(found, citesSources(turn.cfg(), turn.sessionKey), Date.now() - started));
    } catch (error) {
      if (signal?.aborted) throw error;
      if (error?.name === "ToolError" && error.kind === "request") throw new ParameterError(error.message);
      const toolMs = Date.now() - started;
      if (error?.name === "ToolError" && error.kind === "workspace") return toolResult(nothingYet(toolMs));
      return toolResult(unavailable(error, { toolMs }));
    }
  };
  const guard = () => {
    const limits = searchLimits(turn.cfg(), turn.agentId);
    if (limits === null) throw new Error("Memory is off for this agent. Turn memory search on for it, then try again.");
    return limits;
  };

  return {
    memory_search: {
      label: "Memory Search",
      name: "memory_search",
      description: DESCRIPTIONS.memory_search,
      parameters: SEARCH_PARAMETERS,
      catalogMode: "direct-only",
      prepareArguments: (params) => listed(params, ...CONCEPT_LISTS),
      execute: async (_id, params, signal) => {
        const limits = guard();
        const query = text(params, "query", true);
        const corpus = choice(params, "corpus", ["memory", "wiki", "all", "sessions"]);
        const maxResults = number(params, "maxResults", { integer: true, minimum: 1 }) ?? limits.maxResults;
        const minScore = number(params, "minScore") ?? limits.minScore;
        if (corpus === "sessions" || corpus === "wiki") {
          const what = corpus === "sessions" ? "Session transcripts are" : "A wiki is";
          return toolResult(
            unavailable(`${what} not part of this memory.`, {
              toolMs: 0,
              action: "Search again with corpus=memory, or use the tools that the host offers for it.",
            }),
          );
        }
        return await search(
          "memory_search",
          given({
            query,
            maxResults: maxResults && clamp(maxResults, 1, MOST_RESULTS),
            minScore: clamp(minScore ?? 0, 0, 1),
            ...times(params),
            ...Object.fromEntries(CONCEPT_LISTS.map((name) => [name, names(params, name)])),
            maxDistance: number(params, "maxDistance", { integer: true, minimum: 1 }),
            vectorWeight: number(params, "vectorWeight", { minimum: 0, maximum: 1 }),
          }),
          signal,
        );
      },
    },
    memory_get: {
      label: "Memory Get",
      name: "memory_get",
      description: DESCRIPTIONS.memory_get,
      parameters: GET_PARAMETERS,
      catalogMode: "direct-only",
      execute: async (_id, params, signal) => {
        guard();
        const path = text(params, "path", true);
        const corpus = choice(params, "corpus", ["memory", "wiki", "all"]);
        const from = number(params, "from", { integer: true, minimum: 1 });
        const lines = number(params, "lines", { integer: true, minimum: 1 });
        if (corpus === "wiki") return toolResult({ status: "not_found", path, text: "" });
        try {
          return toolResult(readResult(await call("memory_get", given({ path, from, lines }), signal, { timeoutMs: READ_TIMEOUT_MS })));
        } catch (error) {
          if (signal?.aborted) throw error;
          if (error?.name === "ToolError" && error.kind === "workspace") return toolResult({ status: "not_found", path, text: "" });
          const code = error?.name === "UnavailableError" ? "unavailable" : error?.name === "DeadlineError" ? "timeout" : "failed";
          const action = error?.name === "UnavailableError" && error.action ? { action: error.action } : {};
          return toolResult({ path, text: "", status: "error", code, error: error.message, ...action });
        }
      },
    },
    memory_timeline: {
      label: "Memory Timeline",
      name: "memory_timeline",
      description: DESCRIPTIONS.memory_timeline,
      parameters: TIMELINE_PARAMETERS,
      catalogMode: "direct-only",
      execute: async (_id, params, signal) => {
        guard();
        const maxResults = number(params, "maxResults", { integer: true, minimum: 1 });
        const args = given({
          query: text(params, "query"),
          ...times(params),
          kind: choice(params, "kind", TIMELINE_PARAMETERS.properties.kind.enum),
          since: text(params, "since"),
          until: text(params, "until"),
          budget: number(params, "budget", { integer: true, minimum: 1 }),
          maxResults: maxResults && clamp(maxResults, 1, MOST_RESULTS),
        });
        return await search("memory_timeline", args, signal);
      },
    },
    ...knowledgeTools({ guard, search, call }, turn),
  };
}

async function atMost(promise, ms) {
  if (!promise) return;
  const stop = new AbortController();
  await Promise.race([promise, delay(ms, undefined, { signal: stop.signal }).catch(() => {})]);
  stop.abort();
}
