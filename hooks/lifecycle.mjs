/** When the host begins a session, compacts one or is idle: ingest and maintenance, never in the way of a reply. */

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

/** Reading what changed, with a line in the log when something did. */
export function ingestJob(memory, logger) {
  return coalesced(async ({ agentId, workspaceDir }, { sessionId, reason }) => {
    try {
      const { report } = await memory().call(
        "memory_session_start",
        { ...(sessionId ? { sessionId } : {}), ...(reason ? { reason } : {}) },
        { agent: agentId, workspace: workspaceDir, timeoutMs: INGEST_TIMEOUT_MS },
      );
      if (!report) return undefined;
      const changed = report.added + report.updated + report.deleted;
      const line =
        `openclaw-memory: ingest for agent ${agentId} (${reason}): ${report.files} files, ${report.added} units added, ` +
        `${report.updated} updated, ${report.deleted} deleted, ${Math.round(report.seconds * 1000)} ms`;
      if (changed) logger.info(line);
      else logger.debug?.(line);
      if (report.warning) logger.warn(`openclaw-memory: ${report.warning}`);
      return undefined;
    } catch (error) {
      if (error?.name === "StoppedError") return false;
      logger.warn(`openclaw-memory: notes of agent ${agentId} were not read (${reason}): ${describe(error)}`);
      return undefined;
    }
  }, shared("ingests"));
}

/** Maintenance through the Python hook, with a line in the log when it wrote or took out summaries. */
export function maintenanceJob(memory, logger) {
  const reported = shared("reported", () => new Set());
  return coalesced(async ({ agentId, workspaceDir }) => {
    try {
      const { ran, took_ms } = await memory().call(
        "memory_heartbeat",
        {},
        { agent: agentId, workspace: workspaceDir, timeoutMs: MAINTENANCE_TIMEOUT_MS },
      );
      logger.debug?.(`openclaw-memory: maintenance for agent ${agentId}: ${Math.round(took_ms)} ms`);
      const report = ran?.find((one) => Array.isArray(one?.created) && Array.isArray(one?.retired));
      if (report) tellConsolidation(report, agentId, reported, logger);
      return undefined;
    } catch (error) {
      if (error?.name === "StoppedError") return false;
      logger.warn(`openclaw-memory: no maintenance for agent ${agentId}: ${describe(error)}`);
      return undefined;
    }
  }, shared("maintenance"));
}

/** Say what a consolidation did; of one that only looked, once per agent, what it would do and how to let it. */
function tellConsolidation(report, agentId, reported, logger) {
  const summaries = `${report.created.length} ${report.created.length === 1 ? "summary" : "summaries"}`;
  const files = `${report.retired.length} ${report.retired.length === 1 ? "file" : "files"}`;
  const any = report.created.length + report.retired.length > 0;
  const looked = report.dryRun ?? report.dry_run;
  if (!looked && any) {
    logger.info(`openclaw-memory: old notes of agent ${agentId}: ${summaries} written, ${files} retired${report.complete === false ? ", more next time" : ""}`);
  } else if (looked && any && !reported.has(agentId)) {
    reported.add(agentId);
    logger.info(
      `openclaw-memory: old notes of agent ${agentId}: ${summaries} to be written, ${files} to be retired; nothing was done. ` +
        `To see more: openclaw memory consolidate --agent ${agentId} --dry-run; to have it done from now on, the same with --enable`,
    );
  }
  for (const remark of [report.skipped, report.warning]) if (remark) logger.warn(`openclaw-memory: ${remark}`);
}

function describe(error) {
  return error.action ? `${error.message}. ${error.action}` : error.message;
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
