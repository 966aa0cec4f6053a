import assert from "node:assert/strict";
import { cp } from "node:fs/promises";
import path from "node:path";
import { test } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";

import { ParameterError } from "../../hooks/arguments.mjs";
import { MemoryProcess, sharedProcess, stopShared } from "../../hooks/child.mjs";
import { registerCapture } from "../../hooks/capture.mjs";
import { registerContext, sharedTurns } from "../../hooks/context.mjs";
import { ingestJob, registerLifecycle } from "../../hooks/lifecycle.mjs";
import { parentOf, registerParents } from "../../hooks/parents.mjs";
import { anew, fakeExecutable, folder, makeTools, rememberingLogger } from "./helpers.mjs";

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

/** The hooks of one copy of the modules, by name, over a memory that notes its calls. */
async function registered(modules, calls, answer, stateDir) {
  const hooks = {};
  const logger = rememberingLogger();
  const api = { logger, registerService() {}, on: (name, handler) => ((hooks[name] ??= []).push(handler)) };
  const memory = () => ({ pid: 1, call: async (tool, args) => (calls.push([tool, args]), await answer(tool)) });
  const subjectOf = ({ agentId }) => ({ agentId, workspaceDir: "/w" });
  const host = { config: { capture: true }, memory, subjectOf, logger, stateDir: () => stateDir, start() {}, stop() {} };
  const ingest = modules.ingestJob(memory, logger);
  modules.registerLifecycle(api, { ...host, ingest });
  modules.registerContext(api, host);
  modules.registerCapture(api, host);
  modules.registerParents(api);
  return { ingest, fire: async (name, event, ctx) => await Promise.all((hooks[name] ?? []).map((handler) => handler(event, ctx))) };
}

test("what one copy of the modules hears, all of them know: resets, compaction, ended sessions, turns that wait, reading", async (t) => {
  anew();
  const calls = [];
  const stateDir = await folder(t);
  let answer = async (tool) => (tool === "memory_context" ? { text: "Mira lives in Utrecht." } : {});
  const here = await registered({ registerCapture, registerContext, registerParents, registerLifecycle, ingestJob }, calls, (tool) => answer(tool), stateDir);
  const copies = ["capture.mjs", "context.mjs", "parents.mjs", "lifecycle.mjs"];
  const other = await registered(Object.assign({}, ...(await Promise.all(copies.map((name) => copyOf(t, name))))), calls, (tool) => answer(tool), stateDir);
  const ctx = { trigger: "user", agentId: "main", sessionKey: "agent:main:main", sessionId: "s1", toolAuthority: { allows: () => true } };
  const asks = async (runId) => {
    sharedTurns().toolsMade({ ...ctx, senderIsOwner: true });
    await here.fire("before_prompt_build", { prompt: "How is Mira?" }, { ...ctx, runId });
    return calls.filter(([tool]) => tool === "memory_context").at(-1)[1].session;
  };
  const sessions = [await asks("r1")];
  for (const reason of ["new", "reset", "idle", "deleted"]) {
    await other.fire("session_end", { reason }, ctx);
    sessions.push(await asks(`r ${reason}`));
  }
  await other.fire("after_compaction", {}, ctx);
  sessions.push(await asks("r9"));
  assert.equal(new Set(sessions).size, 6);
  await other.fire("session_end", { reason: "shutdown" }, ctx);
  assert.equal(await asks("r10"), sessions.at(-1));

  // A turn that could not be kept where it ended is kept by the copy that hears of the reset.
  answer = async () => Promise.reject(new Error("busy"));
  await here.fire("agent_end", { runId: "r10", success: true, messages: [{ role: "user", content: "How is Mira?" }] }, { ...ctx, runId: "r10" });
  await new Promise(setImmediate); // until that has failed
  answer = async () => ({});
  calls.length = 0;
  await other.fire("before_reset", {}, ctx);
  assert.ok(calls.every(([tool]) => tool === "memory_turn"));
  assert.equal(calls.length, 7, "with the six that began and never ended");

  await here.fire("subagent_spawned", { childSessionKey: "agent:b:subagent:1" }, { requesterSessionKey: ctx.sessionKey });
  assert.equal(parentOf("agent:b:subagent:1"), "main");
  await other.fire("subagent_ended", { targetSessionKey: "agent:b:subagent:1" });
  assert.equal(parentOf("agent:b:subagent:1"), undefined);

  let read;
  answer = () => new Promise((resolve) => (read = resolve));
  await other.fire("session_start", { sessionId: "s2" }, ctx);
  const reading = here.ingest.running({ agentId: "main", workspaceDir: "/w" });
  assert.ok(reading, "a search of this copy waits for what another one reads");
  read({});
  await reading;
});
