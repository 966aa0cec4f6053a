/** What the tests share: folders of their own, an executable that runs the fake server, a logger that remembers. */

import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";

import { makeTool, TOOLS } from "../../hooks/tools.mjs";

/** All tools for one turn, by their names. */
export const makeTools = (memory, turn) => Object.fromEntries(TOOLS.map((tool) => [tool.name, makeTool(tool, memory, turn)]));

const SERVER = path.join(path.dirname(fileURLToPath(import.meta.url)), "fake-server.mjs");

/** A folder that is removed after the test; its name has a space and letters that are no ASCII. */
export async function folder(t) {
  const made = await mkdtemp(path.join(os.tmpdir(), "mémoire à soi "));
  t.after(() => rm(made, { recursive: true, force: true, maxRetries: 5 }));
  return made;
}

/** An executable at `file` that runs the fake server; the variables of `env` are set for it. */
export async function fakeExecutable(file, env = {}) {
  await mkdir(path.dirname(file), { recursive: true });
  const quoted = (text) => `'${String(text).replaceAll("'", "'\\''")}'`;
  const settings = Object.entries(env).map(([key, value]) => `export ${key}=${quoted(value)}\n`);
  await writeFile(file, `#!/bin/sh\n${settings.join("")}exec ${quoted(process.execPath)} ${quoted(SERVER)} "$@"\n`);
  await chmod(file, 0o755);
  return file;
}

/** The messages that the fake server wrote into its log. */
export async function logged(file) {
  try {
    return (await readFile(file, "utf8")).trim().split("\n").map((line) => JSON.parse(line));
  } catch {
    return [];
  }
}

export function rememberingLogger() {
  const lines = [];
  const level = (name) => (text) => lines.push(`${name} ${text}`);
  return { lines, info: level("info"), warn: level("warn"), error: level("error"), debug: level("debug") };
}

/** Let nothing be known of what other tests of this process did. */
export function anew() {
  delete globalThis[Symbol.for("openclaw-memory.state.v1")];
}

/** Wait until `condition` holds; gives up after ten seconds. */
export async function until(condition, what = "the condition") {
  const end = Date.now() + 10_000;
  while (!(await condition())) {
    if (Date.now() > end) throw new Error(`${what} did not come`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

export function alive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
