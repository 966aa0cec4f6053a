import assert from "node:assert/strict";
import path from "node:path";
import { test } from "node:test";

import { MemoryProcess } from "../../hooks/child.mjs";
import { parentOf, registerParents } from "../../hooks/parents.mjs";
import { fakeExecutable, folder, logged, makeTools, rememberingLogger } from "./helpers.mjs";

const CHILD = "agent:helper:subagent:1";

/** The host's side of {@link registerParents}. */
function host() {
  const hooks = {};
  registerParents({ on: (name, hook) => (hooks[name] = hook) });
  const spawned = (childSessionKey, requesterSessionKey, agentId) =>
    hooks.subagent_spawned({ childSessionKey, agentId }, { childSessionKey, requesterSessionKey });
  return { spawned, ended: (targetSessionKey) => hooks.subagent_ended({ targetSessionKey }) };
}

test("a sub-agent's calls name the agent that started it, until it has ended", async (t) => {
  const stateDir = await folder(t);
  const log = path.join(stateDir, "log.jsonl");
  const command = await fakeExecutable(path.join(stateDir, "x"), { FAKE_LOG: log });
  const memory = new MemoryProcess({ config: { command }, stateDir, version: "0.1.0", env: { PATH: stateDir } }, rememberingLogger());
  t.after(() => memory.stop());
  const tools = (sessionKey) =>
    makeTools({ call: memory.call.bind(memory), config: {} }, { agentId: "helper", workspaceDir: "/w", sessionKey, cfg: () => ({}) });
  const { spawned, ended } = host();
  await tools(CHILD).memory_search.execute("1", { query: "x" });
  spawned(CHILD, "agent:main:direct:me", "helper");
  await tools(CHILD).memory_search.execute("2", { query: "x" });
  await tools("agent:helper:main").memory_search.execute("3", { query: "x" });
  ended(CHILD);
  await tools(CHILD).memory_search.execute("4", { query: "x" });
  const calls = (await logged(log)).filter((line) => line.method === "tools/call");
  assert.deepEqual(calls.map(({ params }) => params._meta["openclaw-memory/parent"]), [undefined, "main", undefined, undefined]);
});

test("a sub-agent of the same agent has the same memory, and no parent", () => {
  const { spawned } = host();
  spawned("agent:main:subagent:2", "agent:main:direct:me", "main");
  assert.equal(parentOf("agent:main:subagent:2"), undefined);
});

test("what the host leaves out names no parent, and only so many sessions are remembered", () => {
  const { spawned, ended } = host();
  spawned(undefined, "agent:main:direct:me", "helper");
  spawned("agent:helper:subagent:3", undefined, "helper");
  assert.equal(parentOf("agent:helper:subagent:3"), undefined);
  for (let at = 0; at < 1100; at++) spawned(`agent:helper:subagent:m${at}`, "agent:main:direct:me", "helper");
  assert.equal(parentOf("agent:helper:subagent:m0"), undefined);
  assert.equal(parentOf("agent:helper:subagent:m1099"), "main");
  for (let at = 0; at < 1100; at++) ended(`agent:helper:subagent:m${at}`);
});
