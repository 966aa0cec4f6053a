/**
 * The one Python process of a gateway: found, started, started again with back-off, and stopped.
 *
 * OpenClaw calls `register()` several times in a process, each time from a copy of its own of these modules, which
 * all share it.
 */

import { spawn } from "node:child_process";
import path from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as delay } from "node:timers/promises";

import { findExecutable, SETUP_COMMAND, UnavailableError } from "./environment.mjs";
import { abortReason, ConnectionError, DeadlineError, McpClient, seconds } from "./mcp.mjs";
import { shared } from "./shared.mjs";

export { describe, executableIn, findExecutable, privateEnvironment, SETUP_COMMAND, UnavailableError } from "./environment.mjs";

const BACKOFF_MS = [0, 250, 1000, 4000, 15_000, 60_000];
const END_MS = 2000; // for a process to end after SIGKILL
const SHORT_WAIT_MS = 1000; // a call waits this long for the next start rather than fail
const STDERR_LINES = 20;
const MARGIN_MS = 500; // between the server's deadline and ours
const HEARS_MS = 900; // within this time a sound server says something to a call, be it that it was too slow
const STRIKES = 2; // calls in a row that heard nothing: the process is stuck

/** The process was stopped on purpose, as the gateway ends or the plugin is reloaded. */
export class StoppedError extends ConnectionError {
  name = "StoppedError";
  constructor() {
    super("the memory process was stopped, as the gateway ends or the plugin was reloaded");
  }
}

/** The arguments of the server, from the plugin's configuration. */
export function serverArguments({ configFile, settings = {} }, { agent, workspace } = {}) {
  return [
    ...(configFile ? ["--config", configFile] : []),
    // A value as --set reads it: JSON is YAML.
    ...Object.entries(settings).flatMap(([key, value]) => ["--set", `${key}=${typeof value === "object" ? JSON.stringify(value) : value}`]),
    ...(agent ? ["--agent", agent] : []),
    ...(workspace ? ["--workspace", workspace] : []),
  ];
}

export class MemoryProcess {
  #options;
  #logger;
  /** The start that is under way or running: `{child, client, ready, exited}`. */
  #current = null;
  #stopping = false;
  #failures = 0;
  #strikes = 0;
  #notBefore = 0;
  #stderr = [];
  #exited = Promise.resolve();

  /**
   * @param {{config: object, stateDir: string, version: string, agent?: string, workspace?: string,
   *   env?: object}} options
   * @param {{info: Function, warn: Function, debug?: Function}} logger
   */
  constructor(options, logger) {
    this.#options = options;
    this.#logger = logger;
  }

  /** What it was started with: another key needs another process. */
  get key() {
    const { config, stateDir } = this.#options;
    return JSON.stringify([config.command, config.configFile, config.settings, stateDir]);
  }

  /** Process id while it runs. */
  get pid() {
    return this.#current?.child?.pid ?? null;
  }

  /** Start it now, so that the first call need not wait; failures are told by the calls. */
  warm() {
    if (this.#stopping) return;
    this.#start().ready.catch((error) => this.#logger.debug?.(`openclaw-memory: ${error.message}`));
  }

  /**
   * Call a tool of the server, starting or restarting it as need be.
   *
   * A process that died before it answered is started again once when `again` allows it: the call must be one that
   * may be made twice.
   *
   * @param {string} tool
   * @param {object} args
   * @param {{agent?: string, workspace?: string, parent?: string, timeoutMs: number, marginMs?: number, signal?: AbortSignal,
   *   again?: boolean, onProgress?: Function}} options
   */
  async call(tool, args, options) {
    const until = Date.now() + options.timeoutMs;
    try {
      return await this.#callOnce(tool, args, options, until);
    } catch (error) {
      if (this.#stopping) throw new StoppedError();
      if (error?.name !== "ConnectionError" || options.again === false || Date.now() >= until) throw error;
      this.#logger.warn(`openclaw-memory: ${error.message}; starting it again`);
      return await this.#callOnce(tool, args, options, until);
    }
  }

  async #callOnce(tool, args, { agent, workspace, parent, signal, onProgress, marginMs = MARGIN_MS }, until) {
    const start = this.#start();
    await within(start.ready, until - Date.now(), signal);
    const asked = Date.now();
    const left = Math.max(1, until - asked);
    const meta = {
      ...(agent ? { "openclaw-memory/agent": agent } : {}),
      ...(workspace ? { "openclaw-memory/workspace": workspace } : {}),
      ...(parent ? { "openclaw-memory/parent": parent } : {}),
      // The server gives up first, as its answer says what was left out.
      "openclaw-memory/deadlineMs": Math.ceil(Math.max(left / 2, left - marginMs)),
    };
    try {
      const result = await start.client.callTool(tool, args, { meta, timeoutMs: left, signal, onProgress });
      this.#failures = 0;
      this.#strikes = 0;
      return result;
    } catch (error) {
      if (error?.name === "DeadlineError" && left >= HEARS_MS) this.#strike(start, asked);
      throw error;
    }
  }

  /** A call heard nothing at all: after some of those the process is taken for stuck, and ended. */
  #strike(start, asked) {
    this.#strikes = start.client.lastHeard > asked ? 0 : this.#strikes + 1;
    if (this.#strikes < STRIKES) return;
    this.#strikes = 0;
    this.#logger.warn("openclaw-memory: the memory process answers no more; it is ended and started again");
    start.child.kill("SIGKILL");
  }

  #start() {
    if (this.#stopping) throw new StoppedError();
    if (!this.#current) {
      const start = { child: null, client: null, ready: null };
      this.#current = start;
      start.ready = this.#spawn(start, this.#exited).catch((error) => {
        if (this.#current === start) this.#current = null;
        throw error;
      });
      start.ready.catch(() => {}); // whoever waits for it hears of it
    }
    return this.#current;
  }

  async #spawn(start, previous) {
    await previous;
    const wait = this.#notBefore - Date.now();
    if (wait > 0 && wait <= SHORT_WAIT_MS) await delay(wait);
    else if (wait > 0) {
      throw new UnavailableError(
        `the memory process ended ${this.#failures} times in a row${this.#lastLine()}; it is started again in ${seconds(wait)}`,
        "Run: openclaw memory doctor",
      );
    }
    const { config, stateDir, version, agent, workspace, env = process.env } = this.#options;
    const found = await findExecutable({ command: config.command, stateDir, env });
    if (this.#stopping) throw new StoppedError();
    const args = [...serverArguments(config, { agent, workspace }), "serve", "--for-host"];
    const startedAt = Date.now();
    const limit = config.startTimeoutMs ?? 30_000;
    this.#stderr = [];
    const child = spawn(found.command, args, {
      stdio: ["pipe", "pipe", "pipe"],
      env: childEnvironment(env, stateDir),
      windowsHide: true,
    });
    start.child = child;
    const exited = new Promise((resolve) => {
      child.once("exit", (code, signal) => {
        this.#ended(start, code, signal);
        resolve();
      });
      child.on("error", (error) => {
        this.#stderr.push(error.message);
        if (child.pid !== undefined) return; // a signal that could not be sent
        this.#ended(start, null, null);
        resolve();
      });
    });
    this.#exited = exited;
    createInterface({ input: child.stderr }).on("line", (line) => this.#heard(line));
    child.stderr.on("error", () => {});
    start.client = new McpClient(child.stdout, child.stdin, {
      onBusy: (busy) => hold(child, busy),
      onNoise: (line) => this.#heard(line),
      onClosed: (error) => this.#unheard(start, error),
    });
    hold(child, false);
    try {
      const server = await start.client.initialize({ name: "openclaw", version }, limit);
      this.#logger.info(
        `openclaw-memory: ${found.command} (${found.from}) answered after ${Date.now() - startedAt} ms, pid ${child.pid}`,
      );
      if (server.version !== version) {
        this.#logger.warn(
          `openclaw-memory: the plugin is ${version}, ${found.command} is ${server.version ?? "unknown"}; ` +
            (found.from === "private" ? `run: ${SETUP_COMMAND}` : "install the same version of both"),
        );
      }
      return;
    } catch (error) {
      child.kill("SIGKILL");
      await settled(exited, END_MS);
      if (this.#stopping) throw new StoppedError();
      if (error?.name === "DeadlineError") {
        throw new UnavailableError(
          `${found.command} did not answer within ${seconds(limit)}${this.#lastLine()}`,
          "Run: openclaw memory doctor; on a slow machine raise startTimeoutMs of the plugin",
        );
      }
      throw new UnavailableError(
        `${found.command} could not be started${this.#lastLine() || `: ${error.message}`}`,
        `Run: openclaw memory doctor, or ${SETUP_COMMAND}`,
      );
    }
  }

  #heard(line) {
    if (!line.trim()) return;
    this.#stderr.push(line.trimEnd().slice(0, 500));
    if (this.#stderr.length > STDERR_LINES) this.#stderr.shift();
    this.#logger.debug?.(`openclaw-memory: ${line}`);
  }

  #lastLine() {
    const last = this.#stderr.at(-1);
    return last ? ` (${last})` : "";
  }

  /** Nothing can be heard of it any more: it is ended, and the next call starts another one once it has. */
  #unheard(start, error) {
    if (this.#current !== start || this.#stopping) return;
    this.#current = null;
    this.#logger.warn(`openclaw-memory: the memory process cannot be heard any more (${error.message}); it is ended`);
    start.child.kill("SIGKILL");
  }

  #ended(start, code, signal) {
    const how = signal ? `by ${signal}` : `with exit code ${code}`;
    if (this.#current === start) this.#current = null;
    start.client?.close(new ConnectionError(`the memory process ended ${how}${this.#lastLine()}`));
    if (this.#stopping) return;
    this.#failures += 1; // until a call is answered
    this.#notBefore = Date.now() + BACKOFF_MS[Math.min(this.#failures, BACKOFF_MS.length) - 1];
    this.#logger.warn(`openclaw-memory: the memory process ended ${how}${this.#lastLine()}`);
  }

  /** End it: its input is closed, then it is told to end, then it is killed; at most about three seconds. */
  async stop() {
    this.#stopping = true;
    const start = this.#current;
    if (!start?.child) return;
    hold(start.child, true);
    start.client?.close(new StoppedError());
    start.child.stdin.end();
    if (await settled(this.#exited, 1500)) return;
    start.child.kill("SIGTERM");
    if (await settled(this.#exited, 1000)) return;
    start.child.kill("SIGKILL");
    await settled(this.#exited, END_MS);
  }
}

/** Whether the process keeps this one alive: only while a call waits for its answer. */
function hold(child, busy) {
  const how = busy ? "ref" : "unref";
  child[how]();
  for (const stream of [child.stdin, child.stdout, child.stderr]) stream?.[how]?.();
}

/** Environment of the child: the host's, where the index files belong, and how its commands are called. */
export function childEnvironment(env, stateDir) {
  return {
    ...env,
    OPENCLAW_MEMORY_COMMAND: "openclaw memory", // what messages tell people to run: the executable is on no PATH
    OPENCLAW_MEMORY_STORE_FOLDER: env.OPENCLAW_MEMORY_STORE_FOLDER || path.join(stateDir, "openclaw-memory", "index"),
  };
}

/** `promise`, but no longer than `ms` and not after `signal` was aborted. */
export async function within(promise, ms, signal) {
  const over = new AbortController();
  const ends = AbortSignal.any(signal ? [over.signal, signal] : [over.signal]);
  const late = delay(Math.max(1, ms), undefined, { signal: ends }).then(
    () => Promise.reject(new DeadlineError(`it was not ready within ${seconds(ms)}`)),
    () => Promise.reject(abortReason(ends)),
  );
  try {
    return await Promise.race([promise, late]);
  } finally {
    over.abort();
  }
}

/** Whether a process has ended within `ms`. */
const settled = (exited, ms) => within(exited.then(() => true), ms).catch(() => false);

/** Run a command; resolves to its exit code and, when captured, to what it printed. */
export function run(command, args, env, { capture = false } = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { stdio: ["inherit", capture ? "pipe" : "inherit", "inherit"], env });
    let output = "";
    child.stdout?.setEncoding("utf8").on("data", (text) => {
      output += text;
    });
    child.once("error", reject);
    child.once("close", (code) => resolve({ code: code ?? 1, output }));
  });
}

/**
 * The process that all copies of this plugin share; each configuration has its own.
 *
 * @returns {MemoryProcess}
 */
export function sharedProcess(options, logger) {
  const processes = shared("processes");
  const wanted = new MemoryProcess(options, logger);
  const current = processes.get(wanted.key);
  if (current) return current;
  processes.set(wanted.key, wanted);
  return wanted;
}

/** Stop a shared process; who asks for it afterwards gets a new one. */
export async function stopShared(stopped) {
  const processes = shared("processes");
  if (processes.get(stopped.key) === stopped) processes.delete(stopped.key);
  await stopped.stop();
}
