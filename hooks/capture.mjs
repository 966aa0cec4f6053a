/** When a turn has ended: what is worth keeping of it goes into memory, and what its reply quotes counts as used. */

import { given } from "./arguments.mjs";
import { describe } from "./environment.mjs";
import { ownWords, refusal, sharedTurns } from "./context.mjs";
import { Journal } from "./journal.mjs";
import { remember, shared } from "./shared.mjs";

const TIMEOUT_MS = 10_000; // while the host waits
const SEND_MS = 30_000; // while nobody does: a server that has just been started may take that long; and until the next try
const MOST_CHARS = 20_000; // of what the model wrote

/** The plugin's configuration with the settings of the Python side that follow from it. */
export function captureSettings(config) {
  if (config.capture !== true) return config;
  return { ...config, settings: { "capture.enabled": true, ...config.settings } };
}

// -- what was said ----------------------------------------------------------------------------------------------------

/** The text of a message, whose content is a string or a list of parts. */
function textOf(message) {
  if (typeof message.content === "string") return message.content;
  const parts = Array.isArray(message.content) ? message.content : [];
  return parts.filter((part) => part?.type === "text" && typeof part.text === "string").map((part) => part.text).join("\n");
}

/** The time of the latest of these messages, 0 without any. */
const latest = (messages) => messages.reduce((time, message) => (message?.timestamp > time ? message.timestamp : time), 0);

/**
 * What was said in a turn, in order, each with who is behind it.
 *
 * `since` is the time of the last message before the turn.  The person's first words are those that the prompt was
 * built of.  What was sent into the running turn is the owner's only where the host says so, and what the model wrote
 * after it had read something from outside is nobody's: OpenClaw marks it as tainted.
 *
 * @param {object[]} messages of the conversation, as `agent_end` has them
 * @param {{words: string, owner: boolean, since: number}} begun
 * @returns {{role: "user" | "assistant", text: string, owners: boolean}[]}
 */
export function said(messages, { words, owner, since }) {
  const list = messages.filter((message) => message && typeof message === "object");
  const isNew = ({ timestamp }) => timestamp === undefined || timestamp > since;
  const first = list.findIndex((message) => message.role === "user" && isNew(message));
  const opens = first < 0 ? list.findLastIndex((message) => message.role === "user") : first;
  const out = words ? [{ role: "user", text: words, owners: owner }] : [];
  let owners = owner;
  for (const message of list.slice(opens + 1).filter(isNew)) {
    const { senderIsOwner, turnTainted } = message.__openclaw ?? {};
    if (message.role === "user") {
      if ((message.provenance?.kind ?? "external_user") !== "external_user") continue;
      owners &&= senderIsOwner === true;
      const text = ownWords({ prompt: textOf(message) });
      if (text) out.push({ role: "user", text, owners });
    } else if (message.role === "assistant") {
      const text = textOf(message).trim().slice(0, MOST_CHARS).toWellFormed();
      if (text) out.push({ role: "assistant", text, owners: owners && turnTainted !== true });
    }
  }
  return out;
}

/** What was said, as one call for what is the owner's and one for the rest. */
function parted(turn) {
  return [true, false]
    .map((owners) => ({
      origin: owners ? "owner" : "untrusted",
      messages: turn.filter((one) => one.owners === owners).map(({ role, text }) => ({ role, text })),
    }))
    .filter((part) => part.messages.length);
}

// -- the hooks --------------------------------------------------------------------------------------------------------

/**
 * Make the handlers of a turn's beginning and end, and of a session's compaction and reset.
 *
 * Only a turn whose beginning was seen is kept: where its input comes from is told then and not when it ends.  What is
 * to be kept is in the journal from then on, before the host has answered anybody, and until the server has it: what it
 * could not take is sent again while the host runs, and when it starts.
 *
 * @param {{config: object, memory: () => {call: Function, pid: number | null}, subjectOf: Function, logger: object,
 *   stateDir: () => string, turns?: import("./context.mjs").Turns, againMs?: number}} host `againMs` is the time after
 *   which what could not be sent is sent again
 */
export function captureHooks({ config, memory, subjectOf, logger, stateDir, turns = sharedTurns(), againMs = SEND_MS }) {
  const captures = config.capture === true;
  const feeds = config.maintenance !== false;
  const journal = new Journal(stateDir);
  const runs = shared("runs"); // turns that have begun, by run
  const sending = shared("sending", () => new Set());
  const unsent = new Set(); // names of turns that are sent again
  let again; // the timer for it
  const say = (level, what) => logger[level]?.(`openclaw-memory: ${what}`);
  const sessionOf = (subject, ctx) => `${subject.agentId}\0${ctx.sessionKey ?? ""}`;

  const call = (tool, args, { agentId, workspaceDir }, timeoutMs) =>
    memory().call(tool, args, { agent: agentId, workspace: workspaceDir, timeoutMs });

  /** Send a turn; whether it needs no other try, `undefined` where the process was stopped on purpose. */
  const keep = async ({ subject, parts, sessionId, at }, timeoutMs, level) => {
    try {
      for (const { origin, messages } of parts) {
        const report = await call("memory_turn", given({ messages, sessionId, origin, trigger: "user", at }), subject, timeoutMs);
        const count = report.captured?.length ?? 0;
        if (count) say("info", `${count} ${count > 1 ? "sentences" : "sentence"} of a turn of agent ${subject.agentId} kept in ${report.path}`);
        else say("debug", `nothing of a turn of agent ${subject.agentId} kept${report.skipped ? `: ${report.skipped}` : ""}`);
        if (report.warning) say("warn", report.warning);
      }
    } catch (error) {
      if (isStopped(error)) return undefined;
      say(level, `a turn of agent ${subject.agentId} was not captured: ${describe(error)}`);
      return false;
    }
    return true;
  };

  /** Send those of these turns that still wait, oldest first, of each memory until that fails; the rest is sent again later. */
  const send = async (names, timeoutMs = SEND_MS, level = "warn") => {
    const failed = new Set(); // a workspace that is gone keeps no other memory's turns waiting
    for (const [name, turn] of journal.turns()) {
      const whose = `${turn.subject.agentId}\0${turn.subject.workspaceDir}`;
      if (!names.has(name) || sending.has(name)) continue;
      if (!failed.has(whose)) {
        sending.add(name);
        const over = await keep(turn, timeoutMs, level);
        sending.delete(name);
        if (over === undefined) return; // the next process has it
        if (over) {
          journal.remove(name);
          continue;
        }
        failed.add(whose);
      }
      unsent.add(name);
    }
    if (unsent.size) again ??= setTimeout(sendAgain, againMs).unref();
  };
  const sendAgain = () => {
    const names = new Set(unsent);
    again = undefined;
    unsent.clear();
    void send(names, SEND_MS, "debug");
  };

  /** Send what waits in a session or in all; turns without a good end only with `all`. */
  const flush = ({ session, all = false }, timeoutMs) => {
    const wanted = ([, turn]) => (!session || turn.session === session) && (all || !turn.unfinished);
    return send(new Set(journal.turns().filter(wanted).map(([name]) => name)), timeoutMs);
  };

  /** Put a turn as far as it is known into the journal, in place of what was known of it before. */
  const write = (begun, turn, unfinished) => {
    const parts = parted(turn);
    const { subject, session, sessionId, at, name: before } = begun;
    begun.name = parts.length ? journal.add({ subject, session, sessionId, at, parts, unfinished }) : undefined;
    journal.remove(before);
  };

  /** Let the server see what of its hits a reply quotes. */
  const replied = async (subject, turn) => {
    const text = turn.filter((one) => one.role === "assistant").map((one) => one.text).join("\n\n").slice(-MOST_CHARS).toWellFormed();
    try {
      // What was shown is known to the process that showed it: there is nothing to start one for.
      if (text && memory().pid !== null) await call("memory_replied", { text }, subject, TIMEOUT_MS);
    } catch (error) {
      if (!isStopped(error)) say("debug", `a reply was not looked through: ${error.message}`);
    }
  };

  return {
    /** What processes that ended have left is kept now; with capture off it is thrown away. */
    starts() {
      try {
        if (captures) void flush({ all: true });
        else journal.clear();
      } catch (error) {
        say("warn", `turns that wait to be captured were not looked through: ${error.message}`);
      }
    },

    /** `before_prompt_build`: a turn begins. */
    begins(event, ctx) {
      try {
        const subject = subjectOf(ctx);
        if (!subject || !ctx.runId) return;
        const before = runs.get(ctx.runId);
        const owner = turns.isOwners({ ...ctx, agentId: subject.agentId }) && (before?.owner ?? true);
        const begun = {
          at: Date.now(), words: ownWords(event), since: latest(event.messages ?? []), subject,
          session: sessionOf(subject, ctx), sessionId: String(ctx.sessionId ?? ""), ...before,
          owner, refused: before?.refused ?? refusal(ctx, "all", owner),
        };
        remember(runs, ctx.runId, begun);
        const words = begun.refused || !begun.words ? [] : [{ role: "user", text: begun.words, owners: owner }];
        if (captures) write(begun, words, true);
      } catch (error) {
        say("debug", `the beginning of a turn was not understood: ${error.message}`);
      }
    },

    /** `agent_end`: a turn, or an attempt at it, has ended. */
    ends(event, ctx) {
      try {
        const runId = event.runId ?? ctx.runId;
        const subject = subjectOf(ctx);
        const begun = runId && runs.get(runId);
        if (!subject || !begun) return;
        if (begun.refused) return void say("debug", `a turn of agent ${subject.agentId} is not captured: ${begun.refused}`);
        const turn = said(event.messages ?? [], begun);
        const failed = event.success !== true;
        if (!failed) runs.delete(runId);
        if (!failed && feeds) void replied(subject, turn);
        if (!captures) return;
        // Of an attempt that failed, the person's words are kept for a reset, unless another one succeeds.
        write(begun, failed ? turn.filter((one) => one.role === "user") : turn, failed);
        if (!failed) void flush({ session: begun.session });
      } catch (error) {
        say("debug", `the end of a turn was not understood: ${error.message}`);
      }
    },

    /**
     * `before_reset` and `before_compaction`: what was said in a session is about to be cut off, so it is kept now.
     *
     * @param {object[]} [messages] that are compacted while a turn runs
     */
    cuts(ctx, messages) {
      try {
        const subject = subjectOf(ctx);
        if (!subject || !captures) return undefined;
        const session = sessionOf(subject, ctx);
        for (const begun of messages ? runs.values() : []) {
          if (begun.session === session && !begun.refused) write(begun, said(messages, begun), true);
        }
        return flush({ session, all: true }, TIMEOUT_MS);
      } catch (error) {
        say("debug", `the cut of a session was not understood: ${error.message}`);
        return undefined;
      }
    },
  };
}

/** Whether the process was stopped on purpose; by name, as another copy of our modules may have made the error. */
function isStopped(error) {
  return error?.name === "StoppedError";
}

/** Hook it up; what to do when the host's service starts. */
export function registerCapture(api, host) {
  const hooks = captureHooks(host);
  if (host.config.capture !== true && host.config.maintenance === false) return hooks.starts;
  api.on("before_prompt_build", (event, ctx) => hooks.begins(event, ctx));
  api.on("agent_end", (event, ctx) => hooks.ends(event, ctx));
  api.on("before_compaction", (event, ctx) => hooks.cuts(ctx, event.messages));
  api.on("before_reset", (_event, ctx) => hooks.cuts(ctx));
  return hooks.starts;
}
