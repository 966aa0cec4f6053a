/** When the host begins a session, compacts one or is idle: ingest and maintenance, never in the way of a reply. */

import { given } from "./arguments.mjs";
import { describe } from "./environment.mjs";
import { shared } from "./shared.mjs";

const INGEST_TIMEOUT_MS = 600_000;
const MAINTENANCE_TIMEOUT_MS = 120_000;

/**
 * Run a job per workspace, one at a time: what is asked for meanwhile runs once more afterwards.
 *
 * `running(subject)` of the result is the promise of the work that is going on, if there is any.
 *
 * @param {(subject: {agentId: string, workspaceDir: string}, details: object) => Promise<boolean | void>} job must not
 *   reject; `false` means that its process was stopped, so what waits for it is dropped
 * @param {Map} running what is going on: that of all copies of these modules, each with a job of its own
 */
export function coalesced(job, running = new Map()) {
  const keyOf = ({ agentId, workspaceDir }) => `${agentId}\0${workspaceDir}`;
  const start = (subject, details = {}) => {
    const key = keyOf(subject);
    const current = running.get(key);
    if (current) {
      current.again = { job, details };
      return current.done;
    }
    const state = { again: null, done: null };
    running.set(key, state);
    state.done = (async () => {
      let next = { job, details };
      while (next) {
        state.again = null;
        const stopped = (await next.job(subject, next.details)) === false;
        next = stopped && state.again?.job === next.job ? null : state.again;
      }
      running.delete(key);
    })();
    return state.done;
  };
  start.running = (subject) => running.get(keyOf(subject))?.done;
  return start;
}

/** A job for {@link coalesced}: `work`, whose failure is told in the log behind what `failed` says of it. */
const attempt = (logger, work, failed) => async (subject, details) => {
  try {
    await work(subject, details);
  } catch (error) {
    if (error?.name === "StoppedError") return false;
    logger.warn(`openclaw-memory: ${failed(subject, details)}: ${describe(error)}`);
  }
  return undefined;
};

/** Reading what changed, with a line in the log when something did. */
export function ingestJob(memory, logger) {
  const read = async ({ agentId, workspaceDir }, { sessionId, reason }) => {
    const options = { agent: agentId, workspace: workspaceDir, timeoutMs: INGEST_TIMEOUT_MS };
    const { report } = await memory().call("memory_session_start", given({ sessionId, reason }), options);
    if (!report) return;
    const changed = report.added + report.updated + report.deleted;
    logger[changed ? "info" : "debug"]?.(
      `openclaw-memory: ingest for agent ${agentId} (${reason}): ${report.files} files, ${report.added} units added, ` +
        `${report.updated} updated, ${report.deleted} deleted, ${Math.round(report.seconds * 1000)} ms`,
    );
    if (report.warning) logger.warn(`openclaw-memory: ${report.warning}`);
  };
  return coalesced(attempt(logger, read, ({ agentId }, { reason }) => `notes of agent ${agentId} were not read (${reason})`), shared("ingests"));
}

/** Maintenance through the Python hook, with a line in the log when it wrote or took out summaries. */
export function maintenanceJob(memory, logger) {
  const reported = shared("reported", () => new Set());
  const maintain = async ({ agentId, workspaceDir }) => {
    const options = { agent: agentId, workspace: workspaceDir, timeoutMs: MAINTENANCE_TIMEOUT_MS };
    const { ran, took_ms } = await memory().call("memory_heartbeat", {}, options);
    logger.debug?.(`openclaw-memory: maintenance for agent ${agentId}: ${Math.round(took_ms)} ms`);
    const report = ran?.find((one) => Array.isArray(one?.created) && Array.isArray(one?.retired));
    if (report) tellConsolidation(report, agentId, reported, logger);
  };
  return coalesced(attempt(logger, maintain, ({ agentId }) => `no maintenance for agent ${agentId}`), shared("maintenance"));
}

/** Say what a consolidation did; of one that only looked, once per agent, what it would do and how to let it. */
function tellConsolidation(report, agentId, reported, logger) {
  const summaries = `${report.created.length} ${report.created.length === 1 ? "summary" : "summaries"}`;
  const files = `${report.retired.length} ${report.retired.length === 1 ? "file" : "files"}`;
  const any = report.created.length + report.retired.length > 0;
  if (!report.dryRun && any) {
    logger.info(`openclaw-memory: old notes of agent ${agentId}: ${summaries} written, ${files} retired${report.complete === false ? ", more next time" : ""}`);
  } else if (any && !reported.has(agentId)) {
    reported.add(agentId);
    logger.info(
      `openclaw-memory: old notes of agent ${agentId}: ${summaries} to be written, ${files} to be retired; nothing was done. ` +
        `To see more: openclaw memory consolidate --agent ${agentId} --dry-run; to have it done from now on, the same with --enable`,
    );
  }
  for (const remark of [report.skipped, report.warning]) if (remark) logger.warn(`openclaw-memory: ${remark}`);
}

/** Hook up the host's events; `ingest` is an {@link ingestJob}. */
export function registerLifecycle(api, { memory, start, subjectOf, config, stop, ingest }) {
  const maintain = maintenanceJob(memory, api.logger);
  const read = (ctx, details) => {
    if (config.ingestOnSessionStart === false) return;
    const subject = subjectOf(ctx);
    if (subject) void ingest(subject, details);
  };

  api.registerService({
    id: "openclaw-memory",
    start,
    stop,
  });
  api.on("session_start", (event, ctx) => {
    read(ctx, { sessionId: event.sessionId, reason: "start" });
  });
  api.on("session_end", (event, ctx) => {
    // After /new and /reset the host may still write a note of the session that ended.
    if (event.reason === "new" || event.reason === "reset") {
      read(ctx, { sessionId: event.nextSessionId ?? event.sessionId, reason: event.reason });
    }
  });
  api.on("after_compaction", (_event, ctx) => read(ctx, { sessionId: ctx?.sessionId, reason: "compaction" }));
  api.on(
    "before_agent_reply",
    (_event, ctx) => {
      if (config.maintenance === false || (ctx?.trigger !== "heartbeat" && ctx?.trigger !== "cron")) return;
      const subject = subjectOf(ctx);
      if (subject) void maintain(subject);
    },
    { eligibleTriggers: ["heartbeat", "cron"] },
  );
}
