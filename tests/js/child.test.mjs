import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { access, chmod, readdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

import { executableIn, findExecutable, MemoryProcess, privateEnvironment, sharedProcess, stopShared } from "../../hooks/child.mjs";
import { newEnvironment, switchTo } from "../../hooks/environment.mjs";
import { alive, fakeExecutable, folder, logged, rememberingLogger, until } from "./helpers.mjs";

async function started(t, { env = {}, config = {}, ...rest } = {}) {
  const stateDir = await folder(t);
  const log = path.join(stateDir, "log.jsonl");
  const command = await fakeExecutable(path.join(stateDir, "bin", "openclaw-memory"), { FAKE_LOG: log, ...env });
  const logger = rememberingLogger();
  const memory = new MemoryProcess({ config: { command, ...config }, stateDir, version: "0.1.0", ...rest }, logger);
  t.after(() => memory.stop());
  return { memory, logger, log, stateDir, command };
}

const ask = { timeoutMs: 10_000 };

test("the server gets the settings as arguments, and who is asked with each call", async (t) => {
  const { memory, log, stateDir } = await started(t, {
    config: { configFile: "/etc/memory.yaml", settings: { "embedding.threads": 3, "search.mode": "keyword" } },
    agent: "main",
    workspace: "/home/a b",
  });
  const answer = await memory.call("echo", { a: 1 }, { ...ask, agent: "other", workspace: "/elsewhere" });
  assert.deepEqual(answer.args, { a: 1 });
  assert.equal(answer.meta["openclaw-memory/agent"], "other");
  assert.equal(answer.meta["openclaw-memory/workspace"], "/elsewhere");
  const deadline = answer.meta["openclaw-memory/deadlineMs"];
  assert.ok(deadline > 5000 && deadline <= 9500, `the server gives up before its client: ${deadline}`);
  const [first] = await logged(log);
  assert.deepEqual(first.started, [
    "--config", "/etc/memory.yaml", "--set", "embedding.threads=3", "--set", "search.mode=keyword",
    "--agent", "main", "--workspace", "/home/a b", "serve", "--for-host",
  ]);
  assert.equal(first.folder, path.join(stateDir, "openclaw-memory", "index"));
});

test("calls at once start one process", async (t) => {
  const { memory } = await started(t);
  const answers = await Promise.all(Array.from({ length: 50 }, (_, n) => memory.call("echo", { n }, ask)));
  assert.deepEqual(answers.map((answer) => answer.args.n), [...Array(50).keys()]);
  assert.equal(new Set(answers.map((answer) => answer.pid)).size, 1);
});

test("a process that was killed is started again by the next call", async (t) => {
  const { memory } = await started(t);
  const { pid } = await memory.call("echo", {}, ask);
  process.kill(pid, "SIGKILL");
  await until(() => memory.pid === null, "the end of the process");
  const again = await memory.call("echo", {}, ask);
  assert.notEqual(again.pid, pid);
});

test("a process that dies under a call is asked again, but only once", async (t) => {
  const { memory, log } = await started(t);
  await assert.rejects(memory.call("die", {}, ask), /ended by SIGKILL/);
  assert.equal((await logged(log)).filter((line) => line.method === "tools/call").length, 2);
  assert.equal((await memory.call("echo", { still: "there" }, ask)).args.still, "there");
});

test("a call that must not be made twice is not", async (t) => {
  const { memory, log } = await started(t);
  await assert.rejects(memory.call("die", {}, { ...ask, again: false }), /ended by SIGKILL/);
  assert.equal((await logged(log)).filter((line) => line.method === "tools/call").length, 1);
});

test("a process that cannot start is told with its last words, and is not started over and over", async (t) => {
  const { memory, log } = await started(t, { env: { FAKE_MODE: "dies-at-start" } });
  for (let n = 0; n < 4; n++) {
    await assert.rejects(memory.call("echo", {}, ask), (error) => {
      assert.equal(error.name, "UnavailableError");
      assert.match(error.message, /could not be started.*no module named duckdb/);
      assert.match(error.action, /openclaw memory doctor/);
      return true;
    });
  }
  await assert.rejects(memory.call("echo", {}, ask), /in a row.*started again in/);
  assert.equal((await logged(log)).length, 4);
});

test("a process that does not answer is given up and ended", async (t) => {
  const { memory, log } = await started(t, { env: { FAKE_MODE: "silent" }, config: { startTimeoutMs: 1000 } });
  await assert.rejects(memory.call("echo", {}, ask), /did not answer within 1 s/);
  const [{ pid }] = await logged(log);
  await until(() => !alive(pid), "the end of the process");
});

test("a deadline ends the wait, cancels the call, and leaves the process as it is", async (t) => {
  const { memory, log } = await started(t);
  const { pid } = await memory.call("echo", {}, ask);
  await assert.rejects(memory.call("hang", {}, { timeoutMs: 150 }), { name: "DeadlineError" });
  await until(async () => (await logged(log)).some((line) => line.method === "notifications/cancelled"), "the cancellation");
  assert.equal((await memory.call("echo", {}, ask)).pid, pid);
});

test("a process that says nothing any more is replaced", async (t) => {
  const { memory, logger } = await started(t);
  const { pid } = await memory.call("echo", {}, ask);
  process.kill(pid, "SIGSTOP");
  for (let n = 0; n < 2; n++) await assert.rejects(memory.call("echo", {}, { timeoutMs: 1000 }), { name: "DeadlineError" });
  assert.notEqual((await memory.call("echo", {}, ask)).pid, pid);
  await until(() => !alive(pid), "the end of the process");
  assert.ok(logger.lines.some((line) => line.includes("answers no more")));
});

test("settings that are lists or mappings are handed on as JSON", async (t) => {
  const { memory, log } = await started(t, { config: { settings: { "plugins.disabled": ["a b"], "search.weights": { date: 2 } } } });
  await memory.call("echo", {}, ask);
  const [{ started: args }] = await logged(log);
  assert.deepEqual(args.slice(0, 4), ["--set", 'plugins.disabled=["a b"]', "--set", 'search.weights={"date":2}']);
});

test("an aborted signal ends the wait with its reason", async (t) => {
  const { memory } = await started(t);
  const controller = new AbortController();
  const call = memory.call("hang", {}, { ...ask, signal: controller.signal });
  setTimeout(() => controller.abort(new Error("the user stopped the turn")), 100);
  await assert.rejects(call, /the user stopped the turn/);
  await assert.rejects(memory.call("echo", {}, { ...ask, signal: controller.signal }), /the user stopped the turn/);
});

test("stopping ends the process, even one that heeds nothing", async (t) => {
  for (const mode of ["", "stubborn"]) {
    const { memory } = await started(t, { env: { FAKE_MODE: mode } });
    const { pid } = await memory.call("echo", {}, ask);
    await memory.stop();
    await until(() => !alive(pid), `the end of the process (${mode || "plain"})`);
    await assert.rejects(memory.call("echo", {}, ask), /was stopped/);
  }
});

test("what a plugin prints on stdout does no harm", async (t) => {
  const { memory, logger } = await started(t, { env: { FAKE_MODE: "noisy" } });
  assert.deepEqual((await memory.call("echo", { a: 1 }, ask)).args, { a: 1 });
  assert.ok(logger.lines.some((line) => line.includes("loading the model")));
});

test("another version than the plugin's is told", async (t) => {
  const { memory, logger } = await started(t, { env: { FAKE_VERSION: "0.0.9" } });
  await memory.call("echo", {}, ask);
  assert.ok(logger.lines.some((line) => line.startsWith("warn") && line.includes("the plugin is 0.1.0") && line.includes("0.0.9")));
});

test("the executable: as configured, of the private environment, on PATH, or what to do", async (t) => {
  const stateDir = await folder(t);
  const onPath = await folder(t);
  const env = { PATH: `relative${path.delimiter}${onPath}` };
  await assert.rejects(findExecutable({ stateDir, env }), (error) => {
    assert.equal(error.action, "Run: openclaw memory setup");
    return true;
  });
  await fakeExecutable(path.join(onPath, "openclaw-memory"));
  assert.equal((await findExecutable({ stateDir, env })).from, "path");
  const own = executableIn(privateEnvironment(stateDir));
  await fakeExecutable(own);
  assert.deepEqual(await findExecutable({ stateDir, env }), { command: own, from: "private" });
  const named = await fakeExecutable(path.join(stateDir, "named"));
  assert.deepEqual(await findExecutable({ command: named, stateDir, env }), { command: named, from: "configured" });
  // A configured one that cannot run is no reason to take another one silently.
  await chmod(named, 0o644);
  await assert.rejects(findExecutable({ command: named, stateDir, env }), /config\.command is .*named/);
  await assert.rejects(findExecutable({ command: stateDir, stateDir, env }), /no executable file/);
});

test("a program on PATH is ours only if it says so; it is asked once, and a configured one is not", async (t) => {
  const stateDir = await folder(t);
  const [theirs, other, stuck, ours] = await Promise.all([folder(t), folder(t), folder(t), folder(t)]);
  const log = path.join(stateDir, "log.jsonl");
  const ran = path.join(stateDir, "ran");
  await writeFile(path.join(theirs, "openclaw-memory"), `#!/bin/sh\n[ "$2" = --json ] && { echo "openclaw-memory 3.0"; exit 0; }\n: > '${ran}'\n`);
  await chmod(path.join(theirs, "openclaw-memory"), 0o755);
  const named = await fakeExecutable(path.join(other, "openclaw-memory"), { FAKE_NAME: "openclaw-memory", FAKE_LOG: log });
  await writeFile(path.join(stuck, "openclaw-memory"), "#!/bin/sh\nexec sleep 600\n");
  await chmod(path.join(stuck, "openclaw-memory"), 0o755);
  const strangers = { PATH: [theirs, other].join(path.delimiter) };
  for (let n = 0; n < 2; n++) {
    await assert.rejects(findExecutable({ stateDir, env: strangers }), (error) => {
      assert.match(error.message, /left out: .*openclaw-memory, .*openclaw-memory, which does not answer --version --json as openclaw-memory-graph/);
      assert.equal(error.action, "Run: openclaw memory setup");
      return true;
    });
  }
  const good = await fakeExecutable(path.join(ours, "openclaw-memory"), { FAKE_LOG: log });
  const env = { PATH: [theirs, stuck, other, ours].join(path.delimiter) };
  assert.deepEqual(await findExecutable({ stateDir, env }), { command: good, from: "path" });
  const memory = new MemoryProcess({ config: {}, stateDir, version: "0.1.0", env: { ...env, PATH: ours } }, rememberingLogger());
  t.after(() => memory.stop());
  assert.equal((await memory.call("echo", { n: 1 }, ask)).args.n, 1);
  const asked = (await logged(log)).filter((line) => line.asked);
  assert.equal(asked.length, 2, "each of them once");
  assert.deepEqual(await findExecutable({ command: named, stateDir, env }), { command: named, from: "configured" });
  assert.equal((await logged(log)).filter((line) => line.asked).length, 2);
  await assert.rejects(access(ran), { code: "ENOENT" });
});

test("the private environment in use is the one that the pointer names", async (t) => {
  const stateDir = await folder(t);
  const home = path.join(stateDir, "openclaw-memory");
  assert.equal(privateEnvironment(stateDir), path.join(home, "venv"), "as earlier versions made it");
  const first = await newEnvironment(stateDir, "0.2.0");
  const second = await newEnvironment(stateDir, "0.2.0");
  assert.deepEqual([first, second], [path.join(home, "venv-0.2.0"), path.join(home, "venv-0.2.0-2")]);
  assert.equal(privateEnvironment(stateDir), path.join(home, "venv"), "until it is switched");
  for (const environment of [first, second]) {
    await switchTo(environment);
    assert.equal(privateEnvironment(stateDir), environment);
  }
  assert.deepEqual((await readdir(home)).sort(), ["venv-0.2.0", "venv-0.2.0-2", "venv.current"]);
  await writeFile(path.join(home, "venv.current"), "../../elsewhere\n");
  assert.equal(privateEnvironment(stateDir), path.join(home, "venv"), "what leads elsewhere counts as nothing");
});

test("a process that is started again runs from the environment that is in use then", async (t) => {
  const stateDir = await folder(t);
  const first = await newEnvironment(stateDir, "0.1.0");
  await fakeExecutable(executableIn(first), { FAKE_VERSION: "first" });
  await switchTo(first);
  const logger = rememberingLogger();
  const memory = new MemoryProcess({ config: {}, stateDir, version: "0.1.0" }, logger);
  t.after(() => memory.stop());
  const { pid } = await memory.call("echo", {}, ask);
  const second = await newEnvironment(stateDir, "0.1.0");
  await fakeExecutable(executableIn(second), { FAKE_VERSION: "second" });
  await switchTo(second);
  assert.equal((await memory.call("echo", {}, ask)).pid, pid, "what runs goes on");
  process.kill(pid, "SIGKILL");
  await until(() => memory.pid === null, "the end of the process");
  await memory.call("echo", {}, ask);
  assert.ok(logger.lines.some((line) => line.includes(`${executableIn(second)} (private)`)), logger.lines.join("\n"));
});

test("one process for the same configuration, another for another one, a new one after a stop", async (t) => {
  const stateDir = await folder(t);
  const command = await fakeExecutable(path.join(stateDir, "x"));
  const options = { config: { command }, stateDir, version: "0.1.0" };
  const logger = rememberingLogger();
  const first = sharedProcess(options, logger);
  t.after(() => stopShared(sharedProcess(options, logger)));
  assert.equal(sharedProcess({ ...options, agent: "other" }, logger), first);
  const other = sharedProcess({ ...options, config: { command, settings: { "search.mode": "keyword" } } }, logger);
  assert.notEqual(other, first);
  await stopShared(other);
  const { pid } = await first.call("echo", {}, ask);
  await stopShared(first);
  await until(() => !alive(pid), "the end of the process");
  const second = sharedProcess(options, logger);
  assert.notEqual(second, first);
  assert.notEqual((await second.call("echo", {}, ask)).pid, pid);
});

test("an idle process does not keep its host alive, and ends with it", async (t) => {
  const stateDir = await folder(t);
  const command = await fakeExecutable(path.join(stateDir, "x"));
  const script = path.join(stateDir, "host.mjs");
  const child = path.join(path.dirname(fileURLToPath(import.meta.url)), "..", "..", "hooks", "child.mjs");
  await writeFile(
    script,
    `const { MemoryProcess } = await import(${JSON.stringify(new URL(`file://${child}`).href)});
     const memory = new MemoryProcess({ config: { command: ${JSON.stringify(command)} }, stateDir: ${JSON.stringify(stateDir)}, version: "0.1.0" },
       { info() {}, warn() {} });
     console.log(JSON.stringify(await memory.call("echo", {}, { timeoutMs: 10000 })));`,
  );
  const host = spawn(process.execPath, [script], { stdio: ["ignore", "pipe", "inherit"] });
  let printed = "";
  host.stdout.on("data", (text) => (printed += text));
  const code = await new Promise((resolve) => host.once("close", resolve));
  assert.equal(code, 0);
  const { pid } = JSON.parse(printed);
  await until(() => !alive(pid), "the end of the process");
});
