import assert from "node:assert/strict";
import { chmod, writeFile } from "node:fs/promises";
import path from "node:path";
import { test } from "node:test";

import { registerCommands } from "../../hooks/commands.mjs";
import { TOOLS } from "../../hooks/tools.mjs";
import { folder } from "./helpers.mjs";

/** The commands over a memory that answers as told, and an executable that prints its arguments and `printed`. */
async function commands(t, answer, printed = "{}") {
  const stateDir = await folder(t);
  const command = path.join(stateDir, "openclaw-memory");
  await writeFile(command, `#!/bin/sh\nprintf '%s\\n' "$@" > '${stateDir}/arguments'\ncat <<'END'\n${printed}\nEND\n`);
  await chmod(command, 0o755);
  const calls = [];
  const call = async (tool, args) => {
    const { properties } = TOOLS.find(({ name }) => name === tool).parameters;
    assert.deepEqual(Object.keys(args).filter((name) => !(name in properties)), [], "arguments that the tool does not have");
    calls.push([tool, args]);
    return await answer(tool, args);
  };
  const memory = () => ({ call });
  const subjectOf = ({ agentId }) => (agentId ? { agentId, workspaceDir: "/w" } : null);
  const made = {};
  registerCommands({ registerCommand: (each) => (made[each.name] = each) }, { config: { command }, stateDir: () => stateDir, memory, subjectOf });
  const say = async (name, args, ctx = { agentId: "main" }) => (await made[name].handler({ ...ctx, args })).text;
  return { made, say, calls };
}

test("only the owner may use them, and each says what it wants", async (t) => {
  const { made, say } = await commands(t, () => assert.fail("nothing is asked"));
  for (const name of ["remember", "why", "forget"]) {
    assert.deepEqual(made[name].requiredScopes, [name === "why" ? "operator.write" : "operator.admin"]);
    assert.match(await say(name, "  "), new RegExp(`^Say .*: /${name} …$`));
    assert.equal(await say(name, "x", {}), "This agent has no memory.");
  }
});

test("what is remembered is kept as it is said, or was there already", async (t) => {
  let captured = [{ text: "The cello is lent." }];
  const { say, calls } = await commands(t, async () => ({ captured, path: "memory/captures/2026-03-04.md", warning: null }));
  assert.equal(await say("remember", "The cello is lent."), "Kept in memory/captures/2026-03-04.md:\n- The cello is lent.");
  captured = [];
  assert.match(await say("remember", "The cello is lent."), /^Nothing new/);
  assert.deepEqual(calls[0], ["memory_capture", { text: "The cello is lent." }]);
});

test("why tells the thread with its sources, and says when the notes do not", async (t) => {
  let found = { results: [{ date: "2026-03-04", snippet: "- It broke.\n- It was sold.\u001b[1m", citation: "memory/a.md#L1" }] };
  const { say } = await commands(t, async () => found);
  assert.equal(await say("why", "cello"), "From the notes, in order of time:\n- 2026-03-04: - It broke. - It was sold.\\u001b[1m (memory/a.md#L1)");
  found = { ...found, goodMatch: false };
  assert.match(await say("why", "cello"), /^The notes do not say it/);
  found = { results: [], goodMatch: false };
  assert.equal(await say("why", "cello"), "The notes say nothing about it.");
});

test("forgetting shows first what would go, and a failure is told", async (t) => {
  const report = { texts: [{ text: "- The cello is lent.", citation: "memory/a.md#L1" }], remains: ["memory/a.md"] };
  const { say } = await commands(t, null, JSON.stringify(report));
  assert.equal(await say("forget", "cello"), [
    "This would be forgotten, for good:", "- The cello is lent. (memory/a.md#L1)", "Your own files still have it:", "- memory/a.md",
    "To forget it: /forget --yes cello",
  ].join("\n"));
  assert.match(await say("forget", "--yes cello"), /^Forgotten:/);
  assert.match(await (await commands(t, null, '{"error":{"message":"it is busy"}}')).say("forget", "cello"), /^Nothing was forgotten: it is busy/);
  assert.match(await (await commands(t, null, '{"texts":[],"remains":[]}')).say("forget", "cello"), /^The memory has nothing/);
  const failing = await commands(t, async () => Promise.reject(Object.assign(new Error("gone"), { action: "Run: it" })));
  assert.equal(await failing.say("why", "x"), "gone. Run: it");
});
