/** Where the Python package is: the environment that `openclaw memory setup` made, and the executable to start. */

import { execFile } from "node:child_process";
import { constants, readFileSync } from "node:fs";
import { access, mkdir, rename, stat, writeFile } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";

import { shared } from "./shared.mjs";

const EXECUTABLE = process.platform === "win32" ? "openclaw-memory.exe" : "openclaw-memory";
const DISTRIBUTION = "openclaw-memory-graph"; // who has the name of the command on PyPI is somebody else
const POINTER = "venv.current"; // holds the name of the folder beside it that is in use
const ASK_MS = 5000;

const execute = promisify(execFile);

/** The one thing to do when there is no Python package. */
export const SETUP_COMMAND = "openclaw memory setup";

/** Nothing can be started: `message` says why and `action` what to do about it. */
export class UnavailableError extends Error {
  name = "UnavailableError";
  constructor(message, action) {
    super(message);
    this.action = action;
  }
}

/** What an error says, and what to do about it. */
export const describe = ({ message, action }) => (action ? `${message}. ${action}` : message);

// -- the private environment ------------------------------------------------------------------------------------------

/** The private environment of `openclaw memory setup` that is in use; one that is not there when none is named. */
export function privateEnvironment(stateDir) {
  const home = path.join(stateDir, "openclaw-memory");
  let name = "";
  try {
    name = readFileSync(path.join(home, POINTER), "utf8").trim();
  } catch {
    // no setup has made one
  }
  return path.join(home, /^venv[\w.+-]*$/.test(name) ? name : "venv");
}

/** Make an empty folder for the environment of a version; another one than any that is there, as that may be in use. */
export async function newEnvironment(stateDir, version) {
  const home = path.join(stateDir, "openclaw-memory");
  await mkdir(home, { recursive: true });
  for (let n = 1; ; n++) {
    const folder = path.join(home, n === 1 ? `venv-${version}` : `venv-${version}-${n}`);
    try {
      await mkdir(folder);
      return folder;
    } catch (error) {
      if (error.code !== "EEXIST") throw error;
    }
  }
}

/** From now on this environment is the one in use; a process that runs from another one goes on. */
export async function switchTo(environment) {
  const pointer = path.join(path.dirname(environment), POINTER);
  const next = `${pointer}.${process.pid}`;
  await writeFile(next, `${path.basename(environment)}\n`, { flush: true });
  await rename(next, pointer);
}

/** The executable in a virtual environment. */
export function executableIn(environment) {
  return path.join(environment, process.platform === "win32" ? "Scripts" : "bin", EXECUTABLE);
}

// -- the executable ---------------------------------------------------------------------------------------------------

/**
 * Find the executable: the configured one, that of the private environment, the first one on PATH that says it is ours.
 *
 * A configured one that is missing is an error, as another one would run unnoticed.
 *
 * @returns {Promise<{command: string, from: "configured" | "private" | "path"}>}
 * @throws {UnavailableError}
 */
export async function findExecutable({ command, stateDir, env = process.env }) {
  if (command) {
    if (await executable(command)) return { command, from: "configured" };
    throw new UnavailableError(
      `plugins.entries.openclaw-memory.config.command is ${command}, and there is no executable file`,
      `Correct or remove that setting, or run: ${SETUP_COMMAND}`,
    );
  }
  const own = executableIn(privateEnvironment(stateDir));
  if (await executable(own)) return { command: own, from: "private" };
  const others = [];
  for (const folder of (env.PATH ?? "").split(path.delimiter).filter(path.isAbsolute)) {
    const there = path.join(folder, EXECUTABLE);
    if (!(await executable(there))) continue;
    if (await isOurs(there, env)) return { command: there, from: "path" };
    others.push(there);
  }
  const leftOut = others.length ? ` (left out: ${others.join(", ")}, which does not answer --version --json as ${DISTRIBUTION})` : "";
  throw new UnavailableError(`the Python package of openclaw-memory is not installed for OpenClaw${leftOut}`, `Run: ${SETUP_COMMAND}`);
}

const asked = shared("asked"); // what programs answered, by path and time of change

/** Whether a program says that it is ours: another project has the same name. */
async function isOurs(command, env) {
  const key = `${command}\0${(await stat(command)).mtimeMs}`;
  if (!asked.has(key)) {
    const running = execute(command, ["--version", "--json"], { env, timeout: ASK_MS, killSignal: "SIGKILL", windowsHide: true });
    running.child.stdin?.on("error", () => {}).end();
    let name;
    try {
      name = JSON.parse((await running).stdout)?.name;
    } catch (error) {
      if (error.killed) return false; // too slow this time: it is asked again
    }
    asked.set(key, name === DISTRIBUTION);
  }
  return asked.get(key);
}

async function executable(file) {
  try {
    await access(file, constants.X_OK);
    return (await stat(file)).isFile();
  } catch {
    return false;
  }
}
