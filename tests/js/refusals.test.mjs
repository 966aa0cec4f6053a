import assert from "node:assert/strict";
import { test } from "node:test";

import { ToolError } from "../../hooks/mcp.mjs";
import { searchLimits } from "../../hooks/tools.mjs";
import { makeTools } from "./helpers.mjs";

const turn = (cfg) => ({ agentId: "main", workspaceDir: "/w", sessionKey: "agent:main:main", cfg });

test("an argument that the memory refuses is the model's to correct, not a memory that is unavailable", async () => {
  const reason = "memory_timeline: since must be a day such as 2026-02-13, not 'last week'";
  const call = async () => {
    throw new ToolError(reason, "request");
  };
  const { memory_timeline } = makeTools({ call, config: {} }, turn(() => ({})));
  let told;
  try {
    told = (await memory_timeline.execute("1", { since: "last week" })).details;
  } catch (error) {
    assert.match(error.message, /since must be a day/); // as every other wrong argument
    return;
  }
  assert.match(told.error, /since must be a day/);
  assert.ok(!told.unavailable && !told.disabled, "the memory works");
  assert.doesNotMatch(told.action ?? "", /doctor/);
});

test("when memory search is turned off, tools that a turn already has answer no more", async () => {
  let asked = 0;
  const call = async (tool) => {
    asked += 1;
    return tool === "memory_get" ? { status: "ok", path: "MEMORY.md", text: "secret" } : { results: [], provider: "none", model: null, mode: "keyword" };
  };
  let cfg = {};
  const made = makeTools({ call, config: {} }, turn(() => cfg));
  cfg = { memory: { search: { enabled: false } } };
  for (const [name, params] of [["memory_search", { query: "x" }], ["memory_get", { path: "MEMORY.md" }], ["memory_timeline", {}]]) {
    await made[name].execute("1", params).catch(() => {});
    assert.equal(asked, 0, name);
  }
});

test("an agent is found in the configuration as OpenClaw finds it", () => {
  // OpenClaw accepts this key and calls the agent "work".
  assert.equal(searchLimits({ agents: { entries: { Work: { memory: { search: { enabled: false } } } } } }, "work"), null);
});
