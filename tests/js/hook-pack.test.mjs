// The standalone hook pack: what it runs, when, and that nothing of it reaches the host.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { after, afterEach, beforeEach, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import handler, { targetOf } from "../../hooks/openclaw-memory-ingest/handler.js";

const HANDLER = new URL("../../hooks/openclaw-memory-ingest/handler.js", import.meta.url).href;
const REPORT = { files: 8, added: 12, updated: 1, deleted: 2, embedded: 13, pending: 0, seconds: 0.42 };

// Stands for openclaw-memory: notes its arguments, then does what FAKE says.
const FAKE = `#!${process.execPath}
const { appendFileSync } = require("node:fs");
const { sleep = 0, stubborn = false, stderr = "", stdout = ${JSON.stringify(JSON.stringify(REPORT))}, status = 0, name = "openclaw-memory-graph" } = JSON.parse(process.env.FAKE ?? "{}");
const note = (event) => appendFileSync(process.env.FAKE_LOG, JSON.stringify({ event, pid: process.pid, argv: process.argv.slice(2) }) + "\\n");
if (process.argv[2] === "--version") {
  console.log(JSON.stringify({ name, version: "0.1.0" }));
  process.exit();
}
if (stubborn) process.on("SIGTERM", () => note("SIGTERM"));
note("start");
setTimeout(() => {
  process.stdout.write(stdout);
  process.stderr.write(stderr);
  note("end");
  process.exitCode = status;
}, sleep);
`;

const folder = mkdtempSync(path.join(os.tmpdir(), "hook pack ü "));
const executable = path.join(folder, "openclaw-memory");
const said = [];
const print = console.log;
let record;

writeFileSync(executable, FAKE, { mode: 0o755 });
after(() => rmSync(folder, { recursive: true }));
beforeEach((t) => {
  record = path.join(folder, `${t.name.replace(/\W+/g, "-")}.jsonl`);
  said.length = 0;
  console.log = (line) => said.push(line);
});
afterEach(() => (console.log = print));

// A line that is being written has no end yet.
const runs = () => (existsSync(record) ? readFileSync(record, "utf8").split("\n").slice(0, -1).map(JSON.parse) : []);
const starts = () => runs().filter(({ event }) => event === "start");

function workspace(name) {
  const made = path.join(folder, name);
  mkdirSync(made, { recursive: true });
  return made;
}

function config(fake = {}, entry = {}, agents = {}) {
  const env = { FAKE: JSON.stringify(fake), FAKE_LOG: record };
  const entries = { "openclaw-memory-ingest": { enabled: true, command: executable, env, ...entry } };
  return { hooks: { internal: { entries } }, agents };
}

const asNew = (workspaceDir, cfg, agentId = "main") => ({
  type: "command",
  action: "new",
  sessionKey: `agent:${agentId}:main`,
  context: { agentId, workspaceDir, cfg },
});

async function until(condition, what) {
  for (let waited = 0; !condition(); waited += 20) {
    assert.ok(waited < 20_000, `waited in vain for ${what}; said: ${said.join(" | ")}`);
    await sleep(20);
  }
}

const gone = (pid) => {
  try {
    process.kill(pid, 0);
    return false;
  } catch {
    return true;
  }
};

test("/new ingests the workspace of its agent and says what came of it in one line", async () => {
  const ws = workspace("it's a $(workspace); `true`");
  assert.equal(handler(asNew(ws, config(), "bob")), undefined);
  await until(() => said.length, "the line");
  assert.deepEqual(starts()[0].argv, ["--agent=bob", `--workspace=${ws}`, "ingest", "--json"]);
  assert.deepEqual(said, [
    "[openclaw-memory-ingest] bob: 8 files, 12 added, 1 updated, 2 deleted, 13 embedded in 0.42 s",
  ]);
});

test("a gateway start ingests all agents, and of each there is a line, also where one failed", async () => {
  const stdout = [{ agentId: "main", ...REPORT }, { agentId: "bob", ok: false, error: "the index is locked" }].map((one) => JSON.stringify(one)).join("\n");
  handler({ type: "gateway", action: "startup", context: { cfg: config({ stdout, status: 1, stderr: "error: agent bob: …" }) } });
  await until(() => said.length === 2, "two lines");
  assert.deepEqual(starts().map(({ argv }) => argv), [["ingest", "--all-agents", "--json"]]);
  assert.match(said[0], /\] main: 8 files, 12 added/);
  assert.match(said[1], /\] bob: failed: the index is locked$/);
});

test("what is asked for again while it runs, runs once more, however often", async () => {
  const [one, two] = [workspace("one"), workspace("two")];
  const cfg = config({ sleep: 300 });
  handler(asNew(one, cfg));
  await until(() => starts().length === 1, "the first run");
  for (let i = 0; i < 5; i += 1) handler(asNew(one, cfg));
  handler(asNew(two, cfg));
  handler(asNew(one, cfg));
  await until(() => said.length === 3, "three runs");
  await sleep(200);
  assert.deepEqual(starts().map(({ argv }) => argv[1]), [one, one, two].map((ws) => `--workspace=${ws}`));
});

test("agents that share a workspace have an ingest each", async () => {
  const ws = workspace("shared");
  handler(asNew(ws, config({ sleep: 100 }), "a"));
  handler(asNew(ws, config({ sleep: 100 }), "b"));
  await until(() => said.length === 2, "two lines");
  assert.deepEqual(starts().map(({ argv }) => argv[0]), ["--agent=a", "--agent=b"]);
});

test("a run past its time limit is ended, and the next one is not kept waiting", async () => {
  handler(asNew(workspace("slow"), config({ sleep: 60_000 }, { timeoutSeconds: 2 })));
  handler(asNew(workspace("quick"), config()));
  await until(() => said.length === 2, "both lines");
  assert.match(said[0], /main: failed: ended after 2 s/);
  assert.match(said[1], /main: 8 files/);
  await until(() => gone(starts()[0].pid), "the end of the slow process");
});

test("a run that does not heed the request to end is killed", async () => {
  handler(asNew(workspace("stubborn"), config({ sleep: 60_000, stubborn: true }, { timeoutSeconds: 2 })));
  await until(() => said.length === 1, "the line");
  assert.match(said[0], /ended after 2 s/);
  assert.deepEqual(runs().map(({ event }) => event), ["start", "SIGTERM"]);
  await until(() => gone(starts()[0].pid), "the end of the process");
});

test("a missing executable is a line in the log", async () => {
  handler(asNew(workspace("ws"), config({}, { command: path.join(folder, "no such file") })));
  handler(asNew(workspace("ws"), config({}, { command: undefined, env: { PATH: folder + "/nowhere" } }), "other"));
  await until(() => said.length === 2, "both lines");
  assert.match(said[0], /failed: .*no such file is not there/);
  assert.match(said[1], /failed: openclaw-memory is not on the gateway's PATH; see/);
});

test("the executable is found on the PATH", async () => {
  const env = { PATH: folder, FAKE_LOG: record };
  handler(asNew(workspace("ws"), config({}, { command: undefined, env })));
  await until(() => said.length, "the line");
  assert.equal(starts().length, 1);
});

test("another program of that name on the PATH is not run", async () => {
  const theirs = workspace("theirs");
  const command = path.join(theirs, "openclaw-memory");
  const ran = path.join(theirs, "ran");
  writeFileSync(command, `#!/bin/sh\n[ "$1" = --version ] && { echo "openclaw-memory 3.0"; exit 0; }\n: > '${ran}'\n`, { mode: 0o755 });
  const env = { PATH: theirs, FAKE_LOG: record };
  handler(asNew(workspace("ws"), config({}, { command: undefined, env })));
  await until(() => said.length, "the line");
  assert.ok(said[0].includes(`left out: ${command}, which does not answer --version --json`), said[0]);
  handler(asNew(workspace("ws"), config({}, { command: undefined, env: { ...env, PATH: `${theirs}${path.delimiter}${folder}` } })));
  await until(() => said.length === 2, "the second line");
  assert.equal(starts().length, 1);
  assert.ok(!existsSync(ran));
});

test("what the executable complains about last is said in one line, without control characters", async () => {
  const stderr = "Traceback\n\u001b[31merror: locked by 42;\ttry again\n\n";
  handler(asNew(workspace("ws"), config({ status: 1, stdout: "", stderr })));
  await until(() => said.length, "the line");
  assert.equal(said[0], "[openclaw-memory-ingest] main: failed: [31merror: locked by 42; try again");
});

test("output that is no report and a silent failure are explained", async () => {
  handler(asNew(workspace("a"), config({ stdout: "hello" })));
  handler(asNew(workspace("b"), config({ stdout: "", status: 3 })));
  await until(() => said.length === 2, "both lines");
  assert.match(said[0], /no report came back: hello/);
  assert.match(said[1], /ended with exit status 3/);
});

test("events of other kinds, without a context or without a workspace do nothing and throw nothing", () => {
  for (const event of [
    { type: "command", action: "reset", context: { workspaceDir: folder } },
    { type: "command", action: "new" },
    { type: "command", action: "new", context: {} },
    { type: "message", action: "received", context: { workspaceDir: folder } },
  ]) {
    assert.equal(targetOf(event), undefined);
    handler(event);
  }
  assert.deepEqual(said, []);
});

test("a host that ends is not kept alive, and ends what runs", async () => {
  const ws = workspace("ws");
  const event = JSON.stringify(asNew(ws, config({ sleep: 60_000 })));
  const host = `
    const { default: handler } = await import(${JSON.stringify(HANDLER)});
    handler(${event});
    const { existsSync } = await import("node:fs");
    while (!existsSync(${JSON.stringify(record)})) await new Promise((done) => setTimeout(done, 20));
  `;
  const ended = spawnSync(process.execPath, ["--input-type=module", "--eval", host], { encoding: "utf8", timeout: 20_000 });
  assert.equal(ended.status, 0, ended.stderr);
  await until(() => gone(starts()[0].pid), "the end of the process");
  assert.deepEqual(runs().map(({ event }) => event), ["start"]);
});

test("the pack is what OpenClaw looks for", () => {
  const pack = new URL("../../hooks/openclaw-memory-ingest/", import.meta.url);
  const manifest = JSON.parse(readFileSync(new URL("package.json", pack)));
  assert.equal(manifest.type, "module");
  assert.deepEqual(manifest.openclaw.hooks, ["."]);
  for (const file of manifest.files) assert.ok(existsSync(new URL(file, pack)), file);
  assert.equal(manifest.version, JSON.parse(readFileSync(new URL("../../package.json", import.meta.url))).version);
});
