import assert from "node:assert/strict";
import { cp } from "node:fs/promises";
import path from "node:path";
import { test } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";

import { ParameterError } from "../../hooks/arguments.mjs";
import { MemoryProcess, sharedProcess, stopShared } from "../../hooks/child.mjs";
import { fakeExecutable, folder, makeTools, rememberingLogger } from "./helpers.mjs";

/** A module of ours from a copy of all of them, as OpenClaw loads them for another registration. */
async function copyOf(t, name) {
  const hooks = path.join(await folder(t), "hooks");
  await cp(fileURLToPath(new URL("../../hooks", import.meta.url)), hooks, { recursive: true });
  return await import(pathToFileURL(path.join(hooks, name)).href);
}

const turn = { agentId: "main", workspaceDir: "/w", sessionKey: "agent:main:main", cfg: () => ({}) };
const failing = (error) => makeTools({ config: {}, call: async () => Promise.reject(error) }, turn);
const searched = async (error) => (await failing(error).memory_search.execute("1", { query: "x" })).details;
const read = async (error) => (await failing(error).memory_get.execute("1", { path: "a.md" })).details;

test("a process of one copy of the modules answers the tools of another", async (t) => {
  const stateDir = await folder(t);
  const command = await fakeExecutable(path.join(stateDir, "x"));
  const other = await copyOf(t, "child.mjs");
  assert.notEqual(other.MemoryProcess, MemoryProcess);
  const options = { config: { command }, stateDir, version: "0.1.0" };
  const theirs = other.sharedProcess(options, rememberingLogger());
  t.after(() => stopShared(theirs));
  assert.equal(sharedProcess(options, rememberingLogger()), theirs);
  const asked = (tool, timeoutMs) => makeTools({ config: { searchTimeoutMs: timeoutMs }, call: (_tool, ...rest) => theirs.call(tool, ...rest) }, turn);
  const { details } = await asked("hang", 300).memory_search.execute("1", { query: "x" });
  assert.equal(details.timedOut, true);
  await assert.rejects(theirs.call("die", {}, { timeoutMs: 5000, again: false }), { name: "ConnectionError" });
  assert.equal((await theirs.call("echo", { n: 1 }, { timeoutMs: 5000 })).args.n, 1);
});

test("errors of another copy mean the same", async (t) => {
  const { DeadlineError, ToolError } = await copyOf(t, "mcp.mjs");
  const { UnavailableError } = await copyOf(t, "child.mjs");
  assert.equal((await searched(new DeadlineError("late"))).timedOut, true);
  assert.equal((await searched(new UnavailableError("gone", "Run: it"))).action, "Run: it");
  assert.equal((await searched(new ToolError("no folder", "workspace"))).warning, "This agent has no notes yet.");
  await assert.rejects(searched(new ToolError("since is no day", "request")), ParameterError);
  assert.deepEqual([(await read(new DeadlineError("late"))).code, (await read(new UnavailableError("gone", "Run: it"))).action], ["timeout", "Run: it"]);
  assert.equal((await read(new ToolError("no folder", "workspace"))).status, "not_found");
  const facts = failing(new ToolError("no such fact", "request")).memory_facts;
  await assert.rejects(facts.execute("1", { action: "query" }), ParameterError);
});
