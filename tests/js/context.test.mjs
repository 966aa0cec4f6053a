import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { test } from "node:test";

import { MemoryProcess } from "../../hooks/child.mjs";
import { contextHook, contextSettings, framed, missingPermission, ownWords, refusal, tellPermission, Turns } from "../../hooks/context.mjs";
import { anew, fakeExecutable, folder, logged, rememberingLogger } from "./helpers.mjs";

const turn = {
  trigger: "user", agentId: "main", sessionKey: "agent:main:main", sessionId: "s1", runId: "r1",
  toolAuthority: { allows: (tool) => tool === "memory_search" },
};

/** The hook over a fake server; the owner's turn `r1` is about to build its prompt. */
async function hook(t, { config = {}, env = {}, owner = true, warm = true } = {}) {
  anew();
  const stateDir = await folder(t);
  const log = path.join(stateDir, "log.jsonl");
  const command = await fakeExecutable(path.join(stateDir, "x"), { FAKE_LOG: log, ...env });
  const logger = rememberingLogger();
  const settings = { command, contextTimeoutMs: 5000, ...config };
  const memory = new MemoryProcess({ config: settings, stateDir, version: "0.1.0" }, logger);
  t.after(() => memory.stop());
  if (warm) await memory.call("echo", {}, { timeoutMs: 10_000 });
  const turns = new Turns();
  const begins = (ctx = turn, senderIsOwner = owner) => turns.toolsMade({ ...ctx, senderIsOwner });
  begins();
  const subjectOf = ({ agentId }) => ({ agentId, workspaceDir: "/w" });
  const made = contextHook({ config: settings, memory: () => memory, subjectOf, logger, turns });
  const asked = async () =>
    (await logged(log)).filter((line) => line.params?.name === "memory_context").map((line) => line.params);
  return { ...made, asked, begins, logger, memory };
}

test("a message about something known gets context after it, framed as data; another gets none", async (t) => {
  const { handle, asked, begins } = await hook(t);
  const { appendContext, ...others } = await handle({ prompt: "How is Mira?", messages: [] }, turn);
  assert.deepEqual(others, {});
  assert.match(appendContext, /^<openclaw_memory note="[^"<>]*data[^"<>]*">\nOn 2026-03-01 Mira moved to Utrecht\. .*\n<\/openclaw_memory>$/);
  assert.equal(appendContext.split("</openclaw_memory>").length, 2); // what is found cannot end the element
  const [call] = await asked();
  assert.deepEqual(call.arguments, { message: "How is Mira?", session: "agent:main:main#s1#0" });
  assert.equal(call._meta["openclaw-memory/agent"], "main");
  begins();
  assert.equal(await handle({ prompt: "Good morning", messages: [] }, { ...turn, runId: "r2" }), undefined);
});

test("the settings reach the server, an agent's own before the general ones", async (t) => {
  const config = { contextBudget: 300, contextAgents: { MAIN: { budget: 120 } } };
  const { handle, asked } = await hook(t, { config });
  await handle({ prompt: "Mira?" }, turn);
  const [call] = await asked();
  assert.deepEqual(call.arguments, { message: "Mira?", budget: 120, session: "agent:main:main#s1#0" });
});

test("without a budget of the plugin's own the setting context.budget counts", async (t) => {
  const { handle, asked } = await hook(t, { config: { settings: { "context.budget": 30 } } });
  await handle({ prompt: "Mira?" }, turn);
  assert.ok(!("budget" in (await asked())[0].arguments));
  const manifest = JSON.parse(await readFile(new URL("../../openclaw.plugin.json", import.meta.url), "utf8"));
  assert.ok(!("default" in manifest.configSchema.properties.contextBudget), "OpenClaw fills in what has a default");
});

test("settings: on by default, off for all or for one agent, on for one", () => {
  assert.deepEqual(contextSettings({}, "main"), { timeoutMs: 1000, turns: "owner", budget: undefined });
  assert.equal(contextSettings({ context: false }, "main"), null);
  assert.equal(contextSettings({ contextAgents: { work: { enabled: false } } }, "work"), null);
  assert.ok(contextSettings({ contextAgents: { work: { enabled: false } } }, "main"));
  assert.equal(contextSettings({ context: false, contextAgents: { work: { enabled: true, turns: "all" } } }, "work").turns, "all");
});

test("an agent that has it off is not asked about", async (t) => {
  const { handle, asked } = await hook(t, { config: { contextAgents: { main: { enabled: false } } } });
  assert.equal(await handle({ prompt: "Mira?" }, turn), undefined);
  assert.deepEqual(await asked(), []);
});

test("only the owner's own turns of a chat get it, unless more are configured", () => {
  const why = (ctx, turns = "owner", owner = true) => refusal({ ...turn, ...ctx }, turns, owner);
  assert.equal(why({}), null);
  assert.equal(why({ inputProvenance: { kind: "external_user" } }), null);
  for (const turns of ["owner", "private", "all"]) {
    for (const trigger of ["heartbeat", "cron", "memory", undefined]) assert.ok(why({ trigger }, turns), `${trigger}`);
    for (const kind of ["inter_session", "internal_system"]) assert.ok(why({ inputProvenance: { kind } }, turns), kind);
    for (const scope of ["subagent:x", "cron:x:run:y", "hook:x", "dreaming-narrative-rem-1"]) {
      assert.ok(why({ sessionKey: `agent:main:${scope}` }, turns), scope);
    }
    assert.ok(why({ sessionKey: undefined }, turns));
  }
  for (const sessionKey of ["agent:main:telegram:group:7", "agent:main:discord:channel:7:thread:8"]) {
    assert.match(why({ sessionKey }), /group/);
    assert.match(why({ sessionKey }, "private"), /group/);
    assert.equal(why({ sessionKey }, "all", false), null);
  }
  assert.match(why({}, "owner", false), /not known to be the owner/);
  assert.equal(why({ sessionKey: "agent:main:telegram:direct:7" }, "private", false), null);
});

test("whose turn it is: as told with the tools of that turn, and never by an earlier one", () => {
  const turns = new Turns();
  const made = (senderIsOwner, nowMs, more = {}) => turns.toolsMade({ agentId: "Main", sessionId: "s1", senderIsOwner, ...more }, nowMs);
  const owners = (runId, nowMs, more = {}) => turns.isOwners({ agentId: "main", sessionId: "s1", runId, ...more }, nowMs);
  assert.equal(owners("r0", 0), false);
  made(true, 1);
  assert.equal(owners("r1", 2, { sessionId: "s2" }), false);
  assert.equal(owners("r1", 2), true);
  assert.equal(owners("r1", 3), true); // the same prompt, built again
  assert.equal(owners("r2", 4), false); // another turn, whose tools were not seen
  made(undefined, 5);
  assert.equal(owners("r3", 6), false);
  made(false, 7); // tools of two turns at once: not to be told apart
  made(true, 8);
  assert.equal(owners("r4", 9), false);
  made(false, 10);
  made(true, 100_000); // the first of them was never used
  assert.equal(owners("r5", 100_001), true);
  made(true, 200_000);
  assert.equal(owners("r6", 300_000), false); // made for something else long ago
  made(true, 400_000, { sessionId: undefined });
  assert.equal(owners("r7", 400_001, { sessionId: undefined }), false);
});

test("a turn that may not search memory gets no context either", async (t) => {
  const { handle, asked, begins } = await hook(t);
  for (const toolAuthority of [undefined, { allows: () => false }, { allows: () => assert.fail("no longer active") }]) {
    begins();
    assert.equal(await handle({ prompt: "Mira?" }, { ...turn, toolAuthority }), undefined);
  }
  assert.deepEqual(await asked(), []);
});

test("a server that is too slow, or none, costs the deadline at most, and the turn goes on", async (t) => {
  const slow = await hook(t, { env: { FAKE_MODE: "slow-context" }, config: { contextTimeoutMs: 60 } });
  assert.equal(await slow.handle({ prompt: "Mira?" }, turn), undefined);
  const [{ _meta }] = await slow.asked();
  await slow.handle({ prompt: "Mira?" }, turn);
  await slow.handle({ prompt: "Mira?" }, turn);
  assert.deepEqual((await slow.asked()).map((call) => call.arguments.missed), [undefined, 1, 2], "the memory is to count them");
  assert.ok(_meta["openclaw-memory/deadlineMs"] > 30 && _meta["openclaw-memory/deadlineMs"] <= 40, "the server is to answer shortly before");
  assert.ok(slow.logger.lines.some((line) => line.startsWith("debug") && line.includes("no context for this turn")));
  assert.ok(!slow.logger.lines.some((line) => line.startsWith("warn")));

  const cold = await hook(t, { env: { FAKE_MODE: "silent" }, config: { contextTimeoutMs: 60 }, warm: false });
  assert.equal(await cold.handle({ prompt: "Mira?" }, turn), undefined);

  const none = contextHook({
    config: {}, logger: rememberingLogger(), turns: new Turns(), subjectOf: () => ({ agentId: "main", workspaceDir: "/w" }),
    memory: () => assert.fail("the plugin is stopped"),
  });
  assert.equal(await none.handle({ prompt: "Mira?" }, { ...turn, trigger: "user" }), undefined);
});

test("a prompt that is built again gets the same context, without another question", async (t) => {
  const { handle, asked, begins } = await hook(t);
  const first = await handle({ prompt: "Mira?" }, turn);
  begins();
  assert.deepEqual(await handle({ prompt: "Mira?" }, turn), first);
  assert.equal((await asked()).length, 1);
  begins();
  await handle({ prompt: "Mira?" }, { ...turn, runId: "r2" });
  assert.equal((await asked()).length, 2);
});

test("after a reset or a compaction the session counts as new", async (t) => {
  const { handle, asked, begins, renewed } = await hook(t);
  await handle({ prompt: "Mira?" }, turn);
  renewed("agent:main:main");
  renewed(undefined);
  begins();
  await handle({ prompt: "Mira?" }, { ...turn, runId: "r2" });
  assert.deepEqual((await asked()).map((call) => call.arguments.session), ["agent:main:main#s1#0", "agent:main:main#s1#1"]);
});

test("after a compaction the next turn is given what was said, once, and again if it came too late", async (t) => {
  const { handle, asked, begins, renewed } = await hook(t);
  await handle({ prompt: "Mira?" }, turn);
  renewed("agent:main:main", "s0");
  await handle({ prompt: "Mira?" }, turn); // the prompt of the same turn, built again
  begins();
  await handle({ prompt: "Mira?" }, { ...turn, runId: "r2" });
  renewed("agent:main:main", "");
  begins();
  await handle({ prompt: "Mira?" }, { ...turn, runId: "r3" });
  renewed("agent:main:main", "s1");
  renewed("agent:main:main");
  begins();
  await handle({ prompt: "Mira?" }, { ...turn, runId: "r4" });
  assert.deepEqual((await asked()).map((call) => call.arguments.compacted), [undefined, "s0", undefined, "s1", undefined]);

  const late = await hook(t, { config: { contextTimeoutMs: 50 }, env: { FAKE_MODE: "slow-context" } });
  late.renewed("agent:main:main", "s1");
  await late.handle({ prompt: "Mira?" }, turn);
  late.begins();
  await late.handle({ prompt: "Mira?" }, { ...turn, runId: "r2" });
  assert.deepEqual((await late.asked()).map((call) => call.arguments.compacted), ["s1", "s1"]);
});

test("the tools that a compaction makes are no turn's, and a running turn stays whose it is", () => {
  const turns = new Turns();
  turns.toolsMade({ ...turn, senderIsOwner: undefined });
  turns.compacts(turn);
  assert.equal(turns.isOwners(turn), false, "nobody's, until tools are made for it");
  turns.toolsMade({ ...turn, senderIsOwner: true });
  assert.equal(turns.isOwners(turn), true);
  turns.compacts(turn);
  turns.compacts({});
  assert.equal(turns.isOwners(turn), true);
  turns.toolsMade({ ...turn, senderIsOwner: true });
  turns.toolsMade({ ...turn, senderIsOwner: false });
  assert.equal(turns.isOwners({ ...turn, runId: "r2" }), false);
});

test("what is asked about are the person's own words", () => {
  assert.equal(ownWords({ prompt: "everything so far", currentUserMessage: "How is Mira?" }), "How is Mira?");
  assert.equal(ownWords({ prompt: "everything so far", currentUserMessage: "" }), "");
  const prompt = [
    "[media attached 1/2: media://inbound/a.png (image/png)]",
    "[Sat 2026-11-21 15:37 UTC] ignored stamp inside is kept",
    "Conversation info (untrusted metadata): ⟦openclaw:ctx⟧",
    "```json",
    '{ "sender": "Wren" }',
    "```",
    "",
    "How is Mira?",
    '<file name="a.txt" mime="text/plain">',
    "<<<EXTERNAL_UNTRUSTED_CONTENT id=\"1\">>>\nDario\n<<<END_EXTERNAL_UNTRUSTED_CONTENT id=\"1\">>>",
    "</file>",
    framed("earlier context about tidepool"),
  ].join("\n");
  assert.equal(ownWords({ prompt }), "[Sat 2026-11-21 15:37 UTC] ignored stamp inside is kept\n\nHow is Mira?");
  assert.equal(ownWords({ prompt: "[Sat 2026-11-21 15:37 UTC] How is Mira?" }), "How is Mira?");
  assert.equal(ownWords({ prompt: "Note: The previous agent run was interrupted. Review the transcript.\n\nHow is Mira?" }), "How is Mira?");
  assert.equal(ownWords({ prompt: "[User sent media without caption]" }), "");
  assert.equal(ownWords({ prompt: "A new session was started via /new or /reset. Execute your startup sequence." }), "");
  assert.equal(ownWords({ prompt: "is <file a tag?" }), "is <file a tag?");
});

test("of a long message its ends are asked about, however many blocks it seems to begin", () => {
  const long = ownWords({ prompt: `Mira ${"<file ".repeat(300_000)} Wren` });
  assert.ok(long.length <= 8001 && long.startsWith("Mira") && long.endsWith("Wren"));
  assert.ok(ownWords({ prompt: `x${"🐇".repeat(10_000)}` }).isWellFormed()); // cut in the middle of a character
});

test("a missing permission is told with the command that grants it", () => {
  const entries = (hooks) => ({ plugins: { entries: { "openclaw-memory": { hooks } } } });
  assert.match(missingPermission({}), /allowConversationAccess true --strict-json/);
  assert.match(missingPermission(entries({ allowConversationAccess: true, allowPromptInjection: false })), /allowPromptInjection true --strict-json/);
  assert.equal(missingPermission(entries({ allowConversationAccess: true })), null);

  const told = ({ config = {}, hooks, remembers = true }) => {
    const logger = rememberingLogger();
    tellPermission({ config, agents: () => ["main"], remembers: () => remembers, cfg: () => entries(hooks), logger });
    return logger.lines;
  };
  assert.match(told({})[0], /^warn .*no context is added to turns/);
  assert.deepEqual(told({ hooks: { allowConversationAccess: true } }), []);
  assert.deepEqual(told({ config: { context: false } }), []);
  assert.deepEqual(told({ remembers: false }), []);
});
