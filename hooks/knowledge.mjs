/** The tools over the graph and the facts: following a thread, and what is known about a name. */

import { choice, clamp, closed, flag, given, listed, names, number, ParameterError, text } from "./arguments.mjs";
import { citesSources, toolResult, unavailable } from "./results.mjs";

const MOST_RECALLED = 20; // what the server allows
const FARTHEST = 4;
const ACTIONS = ["query", "add", "update", "remove"];

const words = (description) => ({ type: "string", description });

export const RECALL_PARAMETERS = closed(["query"], {
  query: words("The question, in plain words"),
  hops: { type: "integer", minimum: 1, maximum: FARTHEST, default: 2, description: "How many steps to follow from what answers the question" },
  maxResults: { type: "integer", minimum: 1, maximum: MOST_RECALLED, default: 5 },
  since: words("First day, YYYY-MM-DD"),
  until: words("Last day, YYYY-MM-DD"),
  concept: { type: "array", items: { type: "string" }, description: "Only what mentions one of these names, under whatever alias" },
});

export const FACTS_PARAMETERS = closed(["action"], {
  action: { type: "string", enum: ACTIONS },
  subject: words("Whom or what the fact is about; needed to add"),
  predicate: words("What is said of it, such as: lives in, works at, prefers, status; needed to add"),
  object: words("The value; needed to add"),
  id: words("Which fact to update or remove, as a query names it"),
  asOf: words("query: what held on this day, YYYY-MM-DD, instead of today"),
  history: { type: "boolean", description: "query: also what no longer holds" },
  source: words("add: where it is noted, path#L3"),
  since: words("add, update: first day on which it holds, YYYY-MM-DD; else the day of its source, or today"),
  confidence: { type: "number", minimum: 0, maximum: 1, description: "add, update: how sure it is; 1 unless told" },
});

const DESCRIPTIONS = {
  graph_recall:
    "Follow the thread behind a memory: what led to it, what came of it, what else touches the same names, even where the notes " +
    "share no words with the question. Use it for 'why did we', 'what came of', 'what else depends on'. The results are notes in " +
    "order of time; `distance` 0 answers the question itself, `via` says in words how the others are connected with it. If the " +
    "result has unavailable, stale or warning, tell the user, with the action it names.",
  memory_facts:
    "Facts about a person, project or thing: subject, predicate, object, with the days they hold and where they are noted. " +
    "action=query (by any of subject, predicate, object) tells what holds now, with asOf what held on a day, with history also what " +
    "no longer does. When you learn something lasting, action=add it: a new value for what has one value at a time (lives in, status) " +
    "replaces the old one, which stays in the history. Correct with update, withdraw with remove, by id.",
};

/** The arguments of each action, and those that it cannot do without. */
function factArguments(action, params) {
  const fact = (required) => ({
    subject: text(params, "subject", required),
    predicate: text(params, "predicate", required),
    object: text(params, "object", required),
  });
  const weight = () => ({ since: text(params, "since"), confidence: number(params, "confidence", { minimum: 0, maximum: 1 }) });
  switch (action) {
    case "query":
      return { ...fact(false), asOf: text(params, "asOf"), history: flag(params, "history") };
    case "add":
      return { ...fact(true), source: text(params, "source"), ...weight() };
    case "update": {
      const { predicate, object } = fact(false);
      return { id: text(params, "id", true), predicate, object, ...weight() };
    }
    default:
      return { id: text(params, "id", true) };
  }
}

/** A row for the model; who wrote it is told as with a hit of a search. */
function presentedFact({ origin, source, ...row }, cites) {
  return { ...row, provenance: { originClass: origin }, ...(cites && source ? { source } : {}) };
}

function factsResult(found, { cites, mode }, toolMs) {
  return {
    rows: found.rows.map((row) => presentedFact(row, cites)),
    added: found.added,
    updated: found.updated,
    removed: found.removed,
    citations: mode,
    ...(found.warning ? { warning: found.warning } : {}),
    debug: { backend: "openclaw-memory", factsMs: found.took_ms, toolMs, rows: found.rows.length },
  };
}

/**
 * Make `graph_recall` and `memory_facts` for one turn.
 *
 * @param {{guard: () => object, search: Function, call: Function}} base what all tools share: whether memory is on,
 *   a search that answers in the host's shape, a plain call
 * @param {{cfg: () => object, sessionKey?: string, stranger?: boolean}} turn `stranger` means that somebody is known to
 *   have written who is not the owner
 */
export function knowledgeTools({ guard, search, call }, turn) {
  return {
    graph_recall: {
      label: "Graph Recall",
      name: "graph_recall",
      description: DESCRIPTIONS.graph_recall,
      parameters: RECALL_PARAMETERS,
      catalogMode: "direct-only",
      prepareArguments: (params) => listed(params, "concept"),
      execute: async (_id, params, signal) => {
        guard();
        const hops = number(params, "hops", { integer: true, minimum: 1 });
        const maxResults = number(params, "maxResults", { integer: true, minimum: 1 });
        const args = given({
          query: text(params, "query", true),
          hops: hops && clamp(hops, 1, FARTHEST),
          maxResults: maxResults && clamp(maxResults, 1, MOST_RECALLED),
          since: text(params, "since"),
          until: text(params, "until"),
          concept: names(params, "concept"),
        });
        return await search("graph_recall", args, signal);
      },
    },
    memory_facts: {
      label: "Memory Facts",
      name: "memory_facts",
      description: DESCRIPTIONS.memory_facts,
      parameters: FACTS_PARAMETERS,
      catalogMode: "direct-only",
      execute: async (_id, params, signal) => {
        guard();
        const action = choice(params, "action", ACTIONS, true);
        const args = { action, ...given(factArguments(action, params)) };
        if (action !== "query" && turn.stranger) {
          throw new Error(
            "Facts are changed in turns of the owner only, and this sender is not the owner. If they are, their id belongs " +
              "into commands.ownerAllowFrom of OpenClaw's configuration.",
          );
        }
        const started = Date.now();
        try {
          // A change must not be made twice.
          const found = await call("memory_facts", args, signal, { again: action === "query" });
          return toolResult(factsResult(found, citesSources(turn.cfg(), turn.sessionKey), Date.now() - started));
        } catch (error) {
          if (signal?.aborted) throw error;
          if (error?.name === "ToolError" && error.kind === "request") throw new ParameterError(error.message);
          const { results, ...reason } = unavailable(error, { toolMs: Date.now() - started, what: "Memory" });
          return toolResult({ rows: results, ...reason });
        }
      },
    },
  };
}
