import assert from "node:assert/strict";
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import path from "node:path";
import { test } from "node:test";

import { captureHooks, captureSettings, registerCapture, said } from "../../hooks/capture.mjs";
import { MemoryProcess, serverArguments, StoppedError } from "../../hooks/child.mjs";
import { framed, tellPermission, Turns } from "../../hooks/context.mjs";
import { maintenanceJob } from "../../hooks/lifecycle.mjs";
import { anew, fakeExecutable, folder, logged, rememberingLogger, until } from "./helpers.mjs";

const turn = { trigger: "user", agentId: "main", sessionKey: "agent:main:main", sessionId: "s1", runId: "r1" };
const user = (text, timestamp, more = {}) => ({ role: "user", content: [{ type: "text", text }], timestamp, ...more });
const model = (text, timestamp, more = {}) => ({ role: "assistant", content: [{ type: "text", text }], timestamp, ...more });

/** The hooks over a fake server. */
async function hooks(t, { config = { capture: true }, env = {}, warm = true, againMs } = {}) {
  anew();
  const stateDir = await folder(t);
  const log = path.join(stateDir, "log.jsonl");
  const broken = path.join(stateDir, "broken");
  const command = await fakeExecutable(path.join(stateDir, "x"), { FAKE_LOG: log, FAKE_BROKEN: broken, ...env });
  const logger = rememberingLogger();
  const memory = new MemoryProcess({ config: { command, ...config }, stateDir, version: "0.1.0" }, logger);
  t.after(() => memory.stop());
  if (warm) await memory.call("echo", {}, { timeoutMs: 10_000 });
  const turns = new Turns();
  const subjectOf = ({ agentId }) => (agentId === "nobody" ? null : { agentId, workspaceDir: "/w" });
  const made = captureHooks({ config, memory: () => memory, subjectOf, logger, stateDir: () => stateDir, turns, againMs });
  const asked = async (tool) => (await logged(log)).filter((line) => line.params?.name === tool).map((line) => line.params);
  /** Everything that the hooks have sent so far has been answered. */
  const settled = () => memory.call("echo", {}, { timeoutMs: 10_000 });
  /** A whole turn: its tools are made, its prompt is built, it ends. */
  const runs = async (text, reply, { owner = true, ctx = turn, success = true, before = [], messages, prompt = {} } = {}) => {
    turns.toolsMade({ ...ctx, senderIsOwner: owner });
    made.begins({ prompt: text, messages: before, ...prompt }, ctx);
    const at = Math.max(0, ...before.map((message) => message.timestamp)) + 10;
    const end = { runId: ctx.runId, success, messages: messages ?? [...before, user(text, at), model(reply, at + 1)] };
    made.ends(end, ctx);
    await settled();
    return end;
  };
  return { ...made, runs, asked, settled, logger, memory, turns, broken, waiting: path.join(stateDir, "openclaw-memory", "waiting") };
}

test("a turn of the owner is sent once, with the person's own words and the reply", async (t) => {
  const { runs, ends, asked, settled, logger } = await hooks(t);
  const prompt = { currentUserMessage: "We decided on oak." };
  const end = await runs(`We decided on oak.\n${framed("Wren keeps the key.")}`, "Noted.", { prompt });
  const [call, ...others] = await asked("memory_turn");
  assert.deepEqual(others, []);
  const { at, ...sent } = call.arguments;
  assert.deepEqual(sent, {
    messages: [{ role: "user", text: "We decided on oak." }, { role: "assistant", text: "Noted." }],
    sessionId: "s1", origin: "owner", trigger: "user",
  });
  assert.ok(Math.abs(Date.now() - at) < 60_000);
  assert.equal(call._meta["openclaw-memory/agent"], "main");
  assert.equal(call._meta["openclaw-memory/workspace"], "/w");
  ends(end, turn);
  await settled();
  assert.equal((await asked("memory_turn")).length, 1);
  assert.ok(logger.lines.some((line) => /^info .*2 sentences of a turn of agent main kept in memory\/captures/.test(line)));
});

test("what was said before the turn is not sent again", async (t) => {
  const { runs, asked } = await hooks(t);
  const before = [user("Wren prefers tea.", 100), model("Good to know.", 101), { role: "toolResult", content: "x", timestamp: 102 }];
  await runs("We decided on oak.", "Noted.", { before });
  const [call] = await asked("memory_turn");
  assert.deepEqual(call.arguments.messages.map((one) => one.text), ["We decided on oak.", "Noted."]);
});

test("turns of nobody's conversation are never sent, nor is one whose beginning was not seen", async (t) => {
  const { runs, ends, asked, settled } = await hooks(t);
  const refused = [
    { trigger: "heartbeat" }, { trigger: "cron" }, { trigger: "memory" }, { trigger: undefined },
    { inputProvenance: { kind: "inter_session" } }, { inputProvenance: { kind: "internal_system" } },
    { sessionKey: "agent:main:subagent:1" }, { sessionKey: "agent:main:cron:x" }, { sessionKey: "agent:main:hook:x" },
    { sessionKey: "agent:main:dreaming-narrative-1" }, { agentId: "nobody" },
  ];
  for (const [at, ctx] of refused.entries()) await runs("We decided on oak.", "Noted.", { ctx: { ...turn, runId: `refused ${at}`, ...ctx } });
  ends({ runId: "unseen", success: true, messages: [user("We decided on oak.", 1), model("Noted.", 2)] }, { ...turn, runId: "unseen" });
  await settled();
  assert.deepEqual(await asked("memory_turn"), []);
  assert.deepEqual(await asked("memory_replied"), []);
});

test("what anybody else sends is untrusted, in groups too", async (t) => {
  const { runs, asked } = await hooks(t);
  await runs("I moved to Delft.", "Noted.", { owner: false });
  await runs("We decided on oak.", "Noted.", { ctx: { ...turn, runId: "r2", sessionKey: "agent:main:telegram:group:7" }, owner: false });
  await runs("We decided on pine.", "Noted.", { ctx: { ...turn, runId: "r3", sessionKey: "agent:main:telegram:group:7" }, owner: true });
  assert.deepEqual((await asked("memory_turn")).map((call) => call.arguments.origin), ["untrusted", "untrusted", "owner"]);
});

test("what the model wrote after it had read something from outside is untrusted, what was sent in between unless it is the owner's", () => {
  const begun = { words: "We decided on oak.", owner: true, since: 5 };
  const tainted = { __openclaw: { turnTainted: true } };
  const list = [
    user("old", 1), model("old", 2), user("We decided on oak.", 10), model("I look it up.", 11),
    { role: "toolResult", content: [{ type: "text", text: "a page" }], timestamp: 12 }, model("The page says so.", 13, tainted),
    user("And on tiles.", 14, { __openclaw: { senderIsOwner: true } }), model("Fine.", 15),
    user("Resume.", 16, { provenance: { kind: "internal_system" } }),
    user("And on pine, says another.", 17), model("Pine it is.", 18),
  ];
  assert.deepEqual(said(list, begun).map(({ text, owners }) => [text, owners]), [
    ["We decided on oak.", true], ["I look it up.", true], ["The page says so.", false], ["And on tiles.", true],
    ["Fine.", true], ["And on pine, says another.", false], ["Pine it is.", false],
  ]);
  assert.ok(said(list, { ...begun, owner: false }).every((one) => !one.owners));
});

test("messages of any shape are read, and none of an earlier turn", () => {
  const begun = { words: "", owner: true, since: 50 };
  const odd = [null, "x", { role: "assistant", content: "old", timestamp: 1 }, { role: "custom", content: "x", timestamp: 60 },
    { role: "assistant", content: [{ type: "toolCall" }, null, { type: "text", text: "new \ud800" }], timestamp: 61 }, { role: "assistant", timestamp: 62 }];
  assert.deepEqual(said(odd, begun), [{ role: "assistant", text: "new �", owners: true }]);
  assert.deepEqual(said([], begun), []);
  // A person's message that the host had written down before the turn began.
  assert.deepEqual(said([user("We decided.", 40), model("Yes.", 60)], { ...begun, words: "We decided." }).map((one) => one.text), ["We decided.", "Yes."]);
});

test("the owner's and the untrusted part of a turn are two calls", async (t) => {
  const { runs, asked } = await hooks(t);
  const messages = [user("Look it up: we decided on oak.", 10), model("The page says pine.", 11, { __openclaw: { turnTainted: true } })];
  await runs("Look it up: we decided on oak.", "", { messages });
  await until(async () => (await asked("memory_turn")).length === 2);
  assert.deepEqual((await asked("memory_turn")).map(({ arguments: { origin, messages: [{ text }] } }) => [origin, text]), [
    ["owner", "Look it up: we decided on oak."], ["untrusted", "The page says pine."],
  ]);
});

test("a turn that could not be kept is sent again by itself, and is told of once", async (t) => {
  const { runs, asked, broken, logger, waiting } = await hooks(t, { againMs: 50 });
  await writeFile(broken, "");
  await runs("We decided on oak.", "Noted.");
  await until(async () => (await asked("memory_turn")).length > 3, "it to be sent again");
  await rm(broken);
  await until(async () => !(await readdir(waiting)).length, "it to be kept");
  assert.equal(logger.lines.filter((line) => /^warn .*was not captured/.test(line)).length, 1);
});

test("a turn that could not be kept is sent again when the next one ends, or at a reset", async (t) => {
  const { runs, cuts, asked, settled, broken, logger } = await hooks(t);
  await writeFile(broken, "");
  await runs("We decided on oak.", "Noted.");
  await runs("We decided on tiles.", "Noted.", { ctx: { ...turn, runId: "r2" } });
  assert.ok(logger.lines.some((line) => /^warn .*was not captured: the disk is full/.test(line)));
  const failed = (await asked("memory_turn")).length;
  await rm(broken);
  await cuts({ agentId: "main", sessionKey: "agent:main:another", sessionId: "s1" });
  await settled();
  assert.equal((await asked("memory_turn")).length, failed, "another session waits for nothing");
  await cuts({ agentId: "main", sessionKey: turn.sessionKey, sessionId: "s1" });
  assert.deepEqual((await asked("memory_turn")).slice(failed).map((call) => call.arguments.messages[0].text), ["We decided on oak.", "We decided on tiles."]);
  await cuts({ agentId: "main", sessionKey: turn.sessionKey, sessionId: "s1" });
  assert.equal((await asked("memory_turn")).length, failed + 2, "and once is enough");
});

test("what was said outlives every process, from before the reply on, and keeps its time", async (t) => {
  const first = await hooks(t, { env: { FAKE_MODE: "slow-turn" } });
  await first.runs("We decided on oak.", "Noted.");
  first.begins({ prompt: "We decided on tiles.", messages: [] }, { ...turn, runId: "r2" });
  first.begins({ prompt: "We decided on tiles.", messages: [] }, { ...turn, runId: "r2" });
  const left = await readdir(first.waiting);
  assert.equal(left.length, 2, "one is being sent, and one has only begun");
  assert.equal((await stat(path.join(first.waiting, left[0]))).mode & 0o777, 0o600);
  await first.memory.stop();
  const second = await hooks(t);
  await mkdir(path.dirname(second.waiting), { recursive: true });
  await rename(first.waiting, second.waiting);
  await writeFile(path.join(second.waiting, "0-broken.json"), "{");
  const [name] = left.sort();
  const waited = JSON.parse(await readFile(path.join(second.waiting, name), "utf8"));
  await writeFile(path.join(second.waiting, name), JSON.stringify({ ...waited, at: Date.UTC(2026, 2, 3) }));
  second.starts();
  await until(async () => (await readdir(second.waiting)).length === 1, "all to be kept");
  const [oak, tiles] = (await second.asked("memory_turn")).map((call) => call.arguments);
  assert.deepEqual([oak.messages[0].text, oak.at], ["We decided on oak.", Date.UTC(2026, 2, 3)]);
  assert.equal(tiles.messages[0].text, "We decided on tiles.");
});

test("a workspace that is gone, and what is no turn, keep nothing else waiting", async (t) => {
  const stateDir = await folder(t);
  const waiting = path.join(stateDir, "openclaw-memory", "waiting");
  await mkdir(waiting, { recursive: true });
  const parts = [{ origin: "owner", messages: [{ role: "user", text: "We decided on oak." }] }];
  const waits = (name, workspaceDir) => writeFile(path.join(waiting, name), JSON.stringify({ subject: { agentId: "main", workspaceDir }, session: "s", parts, at: 1 }));
  await Promise.all([writeFile(path.join(waiting, "0.json"), "null"), writeFile(path.join(waiting, "1.json"), "{}"), waits("2.json", "/gone"), waits("3.json", "/w")]);
  const call = async (_tool, _args, { workspace }) => (workspace === "/gone" ? Promise.reject(new Error("no such folder")) : { captured: [] });
  const host = { config: { capture: true }, logger: rememberingLogger(), turns: new Turns(), stateDir: () => stateDir, subjectOf: () => null };
  captureHooks({ ...host, memory: () => ({ call, pid: 1 }) }).starts();
  await until(async () => !(await readdir(waiting)).includes("3.json"), "the other workspace's turn");
  assert.ok((await readdir(waiting)).includes("2.json"));
});

test("a service that is started again after a stop sends again what it cannot at once", async (t) => {
  const stateDir = await folder(t);
  const waiting = path.join(stateDir, "openclaw-memory", "waiting");
  await mkdir(waiting, { recursive: true });
  const parts = [{ origin: "owner", messages: [{ role: "user", text: "We decided on oak." }] }];
  await writeFile(path.join(waiting, "1.json"), JSON.stringify({ subject: { agentId: "main", workspaceDir: "/w" }, session: "s", parts, at: 1 }));
  const errors = [new StoppedError(), new Error("not ready")];
  let calls = 0;
  const call = async () => (calls < errors.length ? Promise.reject(errors[calls++]) : { captured: [] });
  const host = { config: { capture: true }, logger: rememberingLogger(), turns: new Turns(), stateDir: () => stateDir, subjectOf: () => null };
  const { starts } = captureHooks({ ...host, memory: () => ({ call, pid: 1 }), againMs: 20 });
  starts();
  await until(() => calls === 1, "the first try");
  await new Promise(setImmediate);
  starts();
  await until(async () => !(await readdir(waiting)).length, "it to be kept");
});

test("what a running turn has said so far is kept before it is compacted", async (t) => {
  const { begins, ends, cuts, asked, turns, waiting } = await hooks(t);
  turns.toolsMade({ ...turn, senderIsOwner: true });
  begins({ prompt: "We decided on oak.", messages: [] }, turn);
  await cuts({ sessionKey: turn.sessionKey, agentId: "main" }, [user("We decided on oak.", 10), model("The oak costs 90 euros.", 11)]);
  assert.deepEqual((await asked("memory_turn"))[0].arguments.messages.map(({ text }) => text), ["We decided on oak.", "The oak costs 90 euros."]);
  ends({ runId: "r1", success: true, messages: [user("We decided on oak.", 10), model("Noted.", 12)] }, turn);
  await until(async () => (await asked("memory_turn")).length === 2 && !(await readdir(waiting)).length);
});

test("with capture off nothing waits, not even what did before", async (t) => {
  const { starts, waiting } = await hooks(t, { config: {}, warm: false });
  await mkdir(waiting, { recursive: true });
  await writeFile(path.join(waiting, "1.json"), "{}");
  starts();
  await assert.rejects(readdir(waiting));
});

test("of a turn that failed, the person's words are kept at a reset, unless another attempt succeeds", async (t) => {
  const { runs, cuts, asked } = await hooks(t);
  await runs("We decided on oak.", "half of a rep", { success: false });
  assert.deepEqual(await asked("memory_turn"), []);
  await runs("We decided on oak.", "Noted.");
  assert.deepEqual((await asked("memory_turn")).map((call) => call.arguments.messages.length), [2]);
  await runs("We decided on pine.", "half of a rep", { success: false, ctx: { ...turn, runId: "r2" } });
  await runs("Thanks.", "You are welcome.", { ctx: { ...turn, runId: "r3" } });
  await cuts(turn);
  assert.equal((await asked("memory_turn")).length, 3);
  assert.deepEqual((await asked("memory_turn"))[2].arguments.messages, [{ role: "user", text: "We decided on pine." }]);
});

test("a prompt that is built again belongs to the same turn, and to the owner only if it did both times", async (t) => {
  const { begins, runs, asked, turns } = await hooks(t);
  turns.toolsMade({ ...turn, senderIsOwner: false });
  begins({ prompt: "We decided on oak.", messages: [] }, turn);
  await runs("something that the host made of it", "Noted.", { owner: true });
  const [call] = await asked("memory_turn");
  assert.equal(call.arguments.origin, "untrusted");
  assert.equal(call.arguments.messages[0].text, "We decided on oak.");
});

test("off is the default: nothing is sent but what a reply quotes", async (t) => {
  const { runs, cuts, asked, settled } = await hooks(t, { config: {} });
  await runs("We decided on oak.", "Wren keeps the key in the blue tin.");
  assert.equal(cuts(turn), undefined);
  await settled();
  assert.deepEqual(await asked("memory_turn"), []);
  const [call] = await asked("memory_replied");
  assert.deepEqual(call.arguments, { text: "Wren keeps the key in the blue tin." });

  const quiet = await hooks(t, { config: { capture: true, maintenance: false } });
  await quiet.runs("We decided on oak.", "Noted.");
  assert.equal((await quiet.asked("memory_turn")).length, 1);
  assert.deepEqual(await quiet.asked("memory_replied"), []);

  const cold = await hooks(t, { config: {}, warm: false });
  cold.turns.toolsMade({ ...turn, senderIsOwner: true });
  cold.begins({ prompt: "a", messages: [] }, turn);
  cold.ends({ runId: "r1", success: true, messages: [user("a", 1), model("b", 2)] }, turn);
  assert.equal(cold.memory.pid, null, "no process is started for that");
});

test("a process that is stopped meanwhile is nothing to warn of", async (t) => {
  const { begins, ends, memory, turns, logger } = await hooks(t, { env: { FAKE_MODE: "slow-turn" } });
  turns.toolsMade({ ...turn, senderIsOwner: true });
  begins({ prompt: "We decided on oak.", messages: [] }, turn);
  ends({ runId: "r1", success: true, messages: [user("We decided on oak.", 1), model("Noted.", 2)] }, turn);
  await memory.stop();
  assert.deepEqual(logger.lines.filter((line) => line.startsWith("warn")), []);
});

test("whatever goes wrong, the host hears nothing of it", async () => {
  const logger = rememberingLogger();
  const gone = captureHooks({
    config: { capture: true }, logger, turns: new Turns(), memory: () => assert.fail("stopped"), stateDir: () => "/dev/null/none",
    subjectOf: () => ({ agentId: "main", workspaceDir: "/w" }),
  });
  gone.begins({ prompt: "We decided on oak.", messages: [{ timestamp: "odd" }] }, turn);
  assert.equal(gone.ends({ runId: "r1", success: true, messages: [user("We decided on oak.", 1)] }, turn), undefined);
  assert.equal(gone.ends({ runId: "r1", success: true, messages: "odd" }, turn), undefined);
  assert.equal(await gone.cuts(turn), undefined);
  assert.equal(gone.starts(), undefined);
  const none = captureHooks({ config: { capture: true }, logger, turns: new Turns(), memory: () => null, subjectOf: () => assert.fail("no configuration") });
  for (const hook of ["begins", "ends"]) assert.equal(none[hook]({}, turn), undefined);
  assert.equal(none.cuts(turn), undefined);
});

test("one setting: it makes the server's too, and what the settings say wins", () => {
  assert.deepEqual(captureSettings({}), {});
  assert.deepEqual(captureSettings({ capture: false, settings: { a: 1 } }), { capture: false, settings: { a: 1 } });
  assert.deepEqual(serverArguments(captureSettings({ capture: true })), ["--set", "capture.enabled=true"]);
  const config = captureSettings({ capture: true, settings: { "capture.quiet": 3, "capture.enabled": false } });
  assert.deepEqual(config.settings, { "capture.enabled": false, "capture.quiet": 3 });
});

test("the hooks are there when there is something to do, and a missing permission is told", () => {
  const registered = (config) => {
    const names = [];
    registerCapture({ on: (name) => names.push(name) }, { config, subjectOf: () => null, memory: () => null, stateDir: () => "/none", logger: rememberingLogger() });
    return names;
  };
  assert.deepEqual(registered({}), ["before_prompt_build", "agent_end", "before_compaction", "before_reset"]);
  assert.deepEqual(registered({ maintenance: false }), []);
  assert.deepEqual(registered({ capture: true, maintenance: false }).length, 4);

  const told = (config, hooks) => {
    const logger = rememberingLogger();
    const cfg = () => ({ plugins: { entries: { "openclaw-memory": { hooks } } } });
    tellPermission({ config: { context: false, ...config }, agents: () => ["main"], remembers: () => true, cfg, logger });
    return logger.lines;
  };
  assert.match(told({ capture: true })[0], /^warn .*no turn is captured: .*allowConversationAccess true --strict-json/);
  assert.deepEqual(told({ capture: true }, { allowConversationAccess: true }), []);
  assert.deepEqual(told({}), []);
});

test("a heartbeat that consolidated says so, one that only looked says once how to let it", async (t) => {
  const beat = async (ran) => {
    const stateDir = await folder(t);
    const command = await fakeExecutable(path.join(stateDir, "x"), { FAKE_RAN: JSON.stringify(ran) });
    const logger = rememberingLogger();
    const memory = new MemoryProcess({ config: { command }, stateDir, version: "0.1.0" }, logger);
    t.after(() => memory.stop());
    const maintain = maintenanceJob(() => memory, logger);
    for (const agentId of ["main", "main", "other"]) await maintain({ agentId, workspaceDir: "/w" });
    return logger.lines.filter((line) => line.includes("old notes") || line.startsWith("warn"));
  };
  const done = await beat({ created: ["a", "b"], retired: ["c"], dryRun: false, complete: true });
  assert.equal(done.length, 3);
  assert.match(done[0], /^info .*agent main: 2 summaries written, 1 file retired$/);
  const looked = await beat({ created: ["a"], retired: [], dryRun: true });
  assert.equal(looked.length, 2);
  assert.match(looked[0], /agent main: 1 summary to be written, 0 files to be retired; nothing was done\. .*openclaw memory consolidate --agent main --dry-run; .* --enable$/);
  assert.match(looked[1], /agent other/);
  assert.deepEqual(await beat({ created: [], retired: [], dryRun: false }), []);
  assert.match((await beat({ created: [], retired: [], skipped: "memory/ cannot be written" }))[0], /^warn .*cannot be written/);
});
