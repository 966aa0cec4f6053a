import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { chmod, mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

import { SearchManager } from "../../hooks/capability.mjs";
import { MemoryProcess, sharedProcess, stopShared } from "../../hooks/child.mjs";
import { ingestJob } from "../../hooks/lifecycle.mjs";
import { alive, fakeExecutable, folder, logged, makeTools, rememberingLogger, until } from "./helpers.mjs";

const HOOKS = new URL("../../hooks/", import.meta.url).href;

/** An executable whose first start never answers; all others do. */
async function silentOnce(stateDir, log) {
  const good = await fakeExecutable(path.join(stateDir, "good"), { FAKE_LOG: log });
  const silent = await fakeExecutable(path.join(stateDir, "silent"), { FAKE_LOG: log, FAKE_MODE: "silent" });
  const command = path.join(stateDir, "openclaw-memory");
  await writeFile(command, `#!/bin/sh\nif [ -e '${stateDir}/tried' ]; then exec '${good}' "$@"; fi\n: > '${stateDir}/tried'\nexec '${silent}' "$@"\n`);
  await chmod(command, 0o755);
  return command;
}

/** A process whose first start has just been given up. */
async function givenUp(t) {
  const stateDir = await folder(t);
  const log = path.join(stateDir, "log.jsonl");
  const config = { command: await silentOnce(stateDir, log), startTimeoutMs: 300 };
  const memory = new MemoryProcess({ config, stateDir, version: "0.1.0" }, rememberingLogger());
  t.after(() => memory.stop());
  await assert.rejects(memory.call("echo", {}, { timeoutMs: 5000 }), /did not answer within/);
  return { memory, log };
}

/** The processes that were started, by what they noted. */
const started = async (log) => (await logged(log)).filter((line) => line.started).map((line) => line.pid);

/** Run a script in a process of its own; resolves to its exit code and what it printed. */
async function runScript(t, source) {
  const file = path.join(await folder(t), "script.mjs");
  await writeFile(file, source);
  const child = spawn(process.execPath, [file], { stdio: ["ignore", "pipe", "pipe"] });
  let printed = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (text) => (printed += text));
  return { code: await new Promise((resolve) => child.once("close", resolve)), printed };
}

test("after a start that took too long, a call that comes at once and all later ones are answered", async (t) => {
  const { memory, log } = await givenUp(t);
  // At once, as an ingest that was asked for again is: the process that was given up has not ended yet.
  assert.equal((await memory.call("echo", { n: 1 }, { timeoutMs: 3000 })).args.n, 1);
  assert.equal((await memory.call("echo", { n: 2 }, { timeoutMs: 3000 })).args.n, 2);
  assert.equal((await started(log)).length, 2);
});

test("calls at once after a start that took too long start one process", async (t) => {
  const { memory } = await givenUp(t);
  const early = memory.call("echo", {}, { timeoutMs: 3000 });
  await new Promise((resolve) => setTimeout(resolve, 15));
  const answers = await Promise.all([early, ...Array.from({ length: 5 }, () => memory.call("echo", {}, { timeoutMs: 3000 }))]);
  assert.equal(new Set(answers.map((answer) => answer.pid)).size, 1);
});

test("a process that lives and is not heard any more is ended, and another one answers", async (t) => {
  for (const [tool, reason] of [["endless", /no end/], ["mute", /the process ended/]]) {
    const stateDir = await folder(t);
    const command = await fakeExecutable(path.join(stateDir, "x"));
    const memory = new MemoryProcess({ config: { command }, stateDir, version: "0.1.0" }, rememberingLogger());
    t.after(() => memory.stop());
    const { pid } = await memory.call("echo", {}, { timeoutMs: 5000 });
    await assert.rejects(memory.call(tool, {}, { timeoutMs: 20_000, again: false }), reason);
    const answers = await Promise.all(Array.from({ length: 6 }, () => memory.call("echo", {}, { timeoutMs: 5000 })));
    assert.equal(new Set(answers.map((answer) => answer.pid)).size, 1, tool);
    assert.notEqual(answers[0].pid, pid);
    assert.ok(!alive(pid), tool);
  }
});

test("a process that does not read any more is ended, and the call that found out is answered by another one", async (t) => {
  const stateDir = await folder(t);
  const command = await fakeExecutable(path.join(stateDir, "x"));
  const memory = new MemoryProcess({ config: { command }, stateDir, version: "0.1.0" }, rememberingLogger());
  t.after(() => memory.stop());
  const { pid } = await memory.call("echo", {}, { timeoutMs: 5000 });
  await assert.rejects(memory.call("deaf", {}, { timeoutMs: 500, again: false }), { name: "DeadlineError" });
  assert.notEqual((await memory.call("echo", {}, { timeoutMs: 5000 })).pid, pid);
  assert.ok(!alive(pid));
});

test("a process that closes its output each time is not started over and over", async (t) => {
  const stateDir = await folder(t);
  const log = path.join(stateDir, "log.jsonl");
  const command = await fakeExecutable(path.join(stateDir, "x"), { FAKE_LOG: log });
  const memory = new MemoryProcess({ config: { command }, stateDir, version: "0.1.0" }, rememberingLogger());
  t.after(() => memory.stop());
  for (let n = 0; n < 2; n++) await assert.rejects(memory.call("mute", {}, { timeoutMs: 20_000 }), { name: "ConnectionError" });
  for (let n = 0; n < 4; n++) await assert.rejects(memory.call("mute", {}, { timeoutMs: 20_000 }), /4 times in a row.*started again in/);
  assert.equal((await started(log)).length, 4);
});

test("once stopped, work that was waiting starts no new process", async (t) => {
  const stateDir = await folder(t);
  const log = path.join(stateDir, "log.jsonl");
  const command = await fakeExecutable(path.join(stateDir, "x"), { FAKE_LOG: log, FAKE_MODE: "slow-ingest" });
  const logger = rememberingLogger();
  const memory = () => sharedProcess({ config: { command }, stateDir, version: "0.1.0" }, logger);
  t.after(() => stopShared(memory()));
  const ingest = ingestJob(memory, logger);
  const subject = { agentId: "main", workspaceDir: "/w" };
  void ingest(subject, { reason: "start" });
  void ingest(subject, { reason: "new" }); // waits for the first one
  await until(async () => (await logged(log)).some((line) => line.params?.name === "memory_session_start"), "the ingest");
  await stopShared(memory());
  await new Promise((resolve) => setTimeout(resolve, 500));
  const left = (await started(log)).filter(alive);
  assert.deepEqual(left, [], "the service was stopped, yet a process runs");
  assert.ok(!logger.lines.some((line) => line.includes("starting it again")), logger.lines.join("\n"));
});

test("a host whose progress display fails does not end with it", async (t) => {
  const stateDir = await folder(t);
  const command = await fakeExecutable(path.join(stateDir, "x"));
  const { code, printed } = await runScript(
    t,
    `const { MemoryProcess } = await import(${JSON.stringify(`${HOOKS}child.mjs`)});
     const memory = new MemoryProcess({ config: { command: ${JSON.stringify(command)} }, stateDir: ${JSON.stringify(stateDir)}, version: "0.1.0" }, { info() {}, warn() {} });
     const onProgress = () => { throw new Error("no terminal"); };
     await memory.call("progress", {}, { timeoutMs: 5000, onProgress }).catch(() => {});
     console.log((await memory.call("echo", { still: "here" }, { timeoutMs: 5000 })).args.still);
     await memory.stop();`,
  );
  assert.equal(code, 0, printed);
  assert.match(printed, /here/);
});

test("an installation log that cannot be written is told in words", async (t) => {
  const state = await folder(t);
  const python = path.join(state, "python");
  await mkdir(path.join(state, "openclaw-memory", "setup.log"), { recursive: true });
  await writeFile(python, `#!/bin/sh\n[ "$1" = -I ] && echo '{"version":[3,12,0],"executable":"${python}","missing":[]}' && exit 0\nsleep 0.3; exit 1\n`);
  await chmod(python, 0o755);
  const { printed } = await runScript(
    t,
    `const { setUp } = await import(${JSON.stringify(`${HOOKS}provision.mjs`)});
     const host = { stateDir: () => ${JSON.stringify(state)}, rootDir: ${JSON.stringify(fileURLToPath(new URL("../../", import.meta.url)))}, version: "0.1.0" };
     await setUp(host, { python: ${JSON.stringify(python)} }).catch((error) => console.log("told:", error.message));`,
  );
  assert.match(printed, /told: .*setup\.log/);
  assert.doesNotMatch(printed, /Unhandled 'error' event/);
});

test("a server whose model has crashed goes on by keywords: the tools say so, and nothing starts it again", async (t) => {
  const stateDir = await folder(t);
  const log = path.join(stateDir, "log.jsonl");
  const why = "the model ended by SIGSEGV: only words are compared; run: openclaw-memory doctor";
  const command = await fakeExecutable(path.join(stateDir, "x"), { FAKE_LOG: log, FAKE_CRASHED: why });
  const logger = rememberingLogger();
  const memory = new MemoryProcess({ config: { command }, stateDir, version: "0.1.0" }, logger);
  t.after(() => memory.stop());
  const call = memory.call.bind(memory);
  const made = makeTools({ call, config: {} }, { agentId: "main", workspaceDir: "/w", sessionKey: "agent:main:main", cfg: () => ({}) });
  for (const [name, args] of [["memory_search", { query: "x" }], ["memory_timeline", {}], ["graph_recall", { query: "x" }], ["memory_facts", { action: "query" }]]) {
    const { details } = await made[name].execute("1", args);
    assert.equal(details.warning, why, name);
    assert.ok(!details.unavailable && (details.results ?? details.rows).length, name);
  }
  const told = [];
  const manager = new SearchManager(call, { workspaceDir: "/w", timeoutMs: 5000 });
  assert.equal((await manager.search("x", { onDebug: (one) => told.push(one) })).length, 1);
  assert.equal(told[0].fallback, why);
  assert.equal((await started(log)).length, 1);
  assert.deepEqual(logger.lines.filter((line) => line.startsWith("warn")), []);
});
