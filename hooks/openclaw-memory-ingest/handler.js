// Reads changed notes into the index of openclaw-memory when the gateway starts and on /new.
//
// OpenClaw waits for a handler, so this one only queues work and returns. Whatever goes wrong is a line in the log.

import { execFile, spawn } from "node:child_process";
import { constants } from "node:fs";
import { access } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { promisify } from "node:util";

const NAME = "openclaw-memory-ingest";
const DEFAULT_TIMEOUT_S = 600;
const GRACE_MS = 5_000; // between asking a process to end and ending it
const EXECUTABLE = process.platform === "win32" ? "openclaw-memory.exe" : "openclaw-memory";
const DISTRIBUTION = "openclaw-memory-graph"; // who has the name of the command on PyPI is somebody else
const ASK_MS = 5_000;
const MAX_OUTPUT = 64 * 1024; // characters kept of what a process says; a report is a few hundred

// OpenClaw loads this file again after a change to it: the queue belongs to the process, not to one copy of the module.
const queue = (globalThis[Symbol.for("openclaw-memory.ingest-hook")] ??= createQueue());

/** The hook: `event` is an OpenClaw internal hook event of `gateway:startup` or `command:new`. */
export default function handler(event) {
  try {
    const target = targetOf(event);
    if (target) enqueue(target, readOptions(event.context?.cfg));
  } catch (error) {
    log(`not run: ${oneLine(error?.message ?? error)}`);
  }
}

/** Whose notes are to be read, and with which arguments; nobody's at other events. */
export function targetOf({ type, action, sessionKey, context = {} }) {
  if (type === "gateway" && action === "startup") return { name: "all agents", args: ["ingest", "--all-agents", "--json"] };
  const { agentId, workspaceDir } = context;
  if (type !== "command" || action !== "new" || !workspaceDir) return undefined;
  const name = normalized(agentId ?? /^agent:([^:]+):/.exec(sessionKey ?? "")?.[1] ?? "main");
  return { name, args: [`--agent=${name}`, `--workspace=${workspaceDir}`, "ingest", "--json"] };
}

/** This hook's entry in `openclaw.json`; a value of the wrong type counts as absent. */
function readOptions(cfg) {
  const { command, timeoutSeconds, env } = cfg?.hooks?.internal?.entries?.[NAME] ?? {};
  const limited = Number.isFinite(timeoutSeconds) ? Math.min(Math.max(timeoutSeconds, 1), 86_400) : DEFAULT_TIMEOUT_S;
  return {
    command: /[/\\]/.test(text(command)) ? absolute(text(command)) : text(command),
    timeoutMs: limited * 1000,
    env: env && typeof env === "object" ? env : {},
  };
}

function createQueue() {
  const created = { waiting: new Map(), working: false, child: undefined };
  process.once("exit", () => end(created.child, "SIGTERM"));
  return created;
}

/** At most one ingest runs, and at most one with the same arguments waits. */
function enqueue(target, options) {
  queue.waiting.set(target.args.join("\0"), { ...target, ...options });
  if (!queue.working) void work();
}

async function work() {
  queue.working = true;
  // A key that is set again while its ingest runs comes up again at the end of this same loop.
  for (const [key, job] of queue.waiting) {
    queue.waiting.delete(key);
    try {
      const command = job.command || (await commandOnPath({ ...process.env, ...job.env }));
      const reports = await ingest({ ...job, command });
      for (const report of reports.trim().split(/\n(?=\{)/)) log(told(report, job.name));
    } catch (error) {
      log(`${job.name}: failed: ${oneLine(error?.message ?? error)}`);
    }
  }
  queue.working = false;
}

/** Run one ingest; resolves to what it printed, and settles within its time limit and the grace. */
function ingest({ args, command, timeoutMs, env }) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      env: { ...process.env, ...env },
      stdio: ["ignore", "pipe", "pipe"],
      detached: process.platform !== "win32", // a group of its own: what it starts ends with it
      windowsHide: true,
    });
    queue.child = child;
    const output = { stdout: "", stderr: "" };
    const settle = (done) => {
      clearTimeout(timer);
      if (queue.child === child) queue.child = undefined;
      done();
    };
    const fail = (reason) => settle(() => reject(new Error(reason)));
    const tooLong = `ended after ${timeoutMs / 1000} s; the next ingest goes on from there`;
    let timedOut = false;
    const timer = setTimeout(() => {
      timedOut = true;
      end(child, "SIGTERM");
      setTimeout(() => {
        end(child, "SIGKILL");
        fail(tooLong);
      }, GRACE_MS).unref();
    }, timeoutMs);

    child.once("error", (error) => fail(explained(error, command)));
    child.once("close", (code, signal) => {
      if (timedOut) fail(tooLong);
      else if (code === 0 || output.stdout.startsWith('{"agentId"')) settle(() => resolve(output.stdout)); // of each agent what came of it
      else fail(lastLine(output.stderr) || `${command} ended with ${signal ?? `exit status ${code}`}`);
    });
    for (const name of ["stdout", "stderr"]) {
      // Without a stream where the system has no file handle left; then "error" follows.
      child[name]?.setEncoding("utf8").on("data", (chunk) => (output[name] = (output[name] + chunk).slice(-MAX_OUTPUT)));
    }
    // Nothing here keeps a process alive that wants to end.
    for (const handle of [timer, child, child.stdout, child.stderr]) handle?.unref?.();
  });
}

/** One line for people from the JSON report of an ingest; one of all agents names its own. */
function told(stdout, name) {
  let report;
  try {
    report = JSON.parse(stdout);
  } catch {
    throw new Error(`no report came back: ${oneLine(stdout) || "nothing was printed"}`);
  }
  const { agentId = name, error, files, added, updated, deleted, embedded, pending, seconds } = report;
  if (error) return oneLine(`${agentId}: failed: ${error}`);
  const line = `${agentId}: ${files} files, ${added} added, ${updated} updated, ${deleted} deleted, ${embedded} embedded in ${seconds} s`;
  return oneLine(pending ? `${line}, ${pending} without a vector` : line);
}

/** The first openclaw-memory on the PATH that says it is ours: another project has the same name. */
async function commandOnPath(env) {
  const others = [];
  for (const folder of (env.PATH ?? "").split(path.delimiter).filter(path.isAbsolute)) {
    const command = path.join(folder, EXECUTABLE);
    try {
      await access(command, constants.X_OK);
      const asked = promisify(execFile)(command, ["--version", "--json"], { env, timeout: ASK_MS, killSignal: "SIGKILL", windowsHide: true });
      asked.child.stdin?.on("error", () => {}).end();
      if (JSON.parse((await asked).stdout)?.name === DISTRIBUTION) return command;
      others.push(command);
    } catch (error) {
      if (error.code !== "ENOENT" && error.code !== "ENOTDIR") others.push(command);
    }
  }
  const leftOut = others.length ? `; left out: ${others.join(", ")}, which does not answer --version --json as ${DISTRIBUTION}` : "";
  throw new Error(`openclaw-memory is not on the gateway's PATH${leftOut}; see \`openclaw hooks info ${NAME}\``);
}

function explained(error, command) {
  if (error.code !== "ENOENT") return error.message;
  return `${command} is not there, or not on the gateway's PATH; see \`openclaw hooks info ${NAME}\``;
}

function end(child, signal) {
  if (!child?.pid || child.exitCode !== null || child.signalCode !== null) return;
  try {
    if (process.platform === "win32") child.kill(signal);
    else process.kill(-child.pid, signal);
  } catch {
    // gone already
  }
}

const text = (value) => (typeof value === "string" ? value.trim() : "");
const normalized = (id) => String(id).trim().toLowerCase() || "main";
const home = () => text(process.env.OPENCLAW_HOME) || os.homedir();
const absolute = (file) =>
  /^~(?=[/\\]|$)/.test(file.trim()) ? path.join(home(), file.trim().slice(1)) : path.resolve(file.trim());
const oneLine = (value) => String(value).replace(/[\s\p{Cc}]+/gu, " ").trim().slice(0, 300);
const lastLine = (value) => oneLine(value.trim().split("\n").at(-1));
const log = (line) => console.log(`[${NAME}] ${line}`);
