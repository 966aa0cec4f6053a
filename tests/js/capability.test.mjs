import assert from "node:assert/strict";
import { mkdir, symlink, writeFile } from "node:fs/promises";
import path from "node:path";
import { test } from "node:test";

import { classifyPaths, dayIn, flushPlan, promptSection, SearchManager } from "../../hooks/capability.mjs";
import { MemoryProcess } from "../../hooks/child.mjs";
import { CONTEXT_TAG } from "../../hooks/context.mjs";
import { coalesced, ingestJob } from "../../hooks/lifecycle.mjs";
import { TOOLS } from "../../hooks/tools.mjs";
import { fakeExecutable, folder, logged, rememberingLogger } from "./helpers.mjs";

const all = new Set(TOOLS.map(({ name }) => name));

test("the prompt section names only tools that the turn has", () => {
  const text = promptSection({ availableTools: all }).join("\n");
  for (const { name, hint } of TOOLS) assert.equal(text.includes(name), hint !== "", name);
  const some = promptSection({ availableTools: new Set(["memory_get"]) }).join("\n");
  for (const name of all) assert.equal(some.includes(name), name === "memory_get");
  assert.deepEqual(promptSection({ availableTools: new Set(["exec"]) }), []);
  assert.match(promptSection({ availableTools: all, citationsMode: "off" }).join("\n"), /Do not name memory files/);
  assert.ok(!text.includes(CONTEXT_TAG));
  assert.ok(promptSection({ availableTools: all, context: true }).join("\n").includes(CONTEXT_TAG));
});

test("the flush plan: today's note, in the agent's time zone, within the context window", () => {
  const nowMs = Date.UTC(2026, 2, 1, 23, 30);
  const plan = flushPlan({ nowMs, cfg: { agents: { defaults: { userTimezone: "Asia/Tokyo" } } } });
  assert.equal(plan.relativePath, "memory/2026-03-02.md");
  for (const text of [plan.prompt, plan.systemPrompt]) {
    assert.ok(text.includes("memory/2026-03-02.md") && text.includes("NO_REPLY") && text.includes("append"));
  }
  assert.equal(plan.softThresholdTokens, 4000);
  const small = flushPlan({ nowMs, contextWindowTokens: 8000 });
  assert.equal(small.reserveTokensFloor, 2000);
  assert.equal(small.softThresholdTokens, 3000);
});

test("the flush plan follows the host's configuration", () => {
  const cfg = (memoryFlush) => ({ agents: { defaults: { compaction: { memoryFlush } } } });
  assert.equal(flushPlan({ cfg: cfg({ enabled: false }) }), null);
  const plan = flushPlan({ cfg: cfg({ softThresholdTokens: 10, forceFlushTranscriptBytes: "1.5mb", model: " a/b " }) });
  assert.equal(plan.softThresholdTokens, 10);
  assert.equal(plan.forceFlushTranscriptBytes, 1.5 * 1024 * 1024);
  assert.equal(plan.model, "a/b");
  assert.equal(flushPlan({ cfg: cfg({ forceFlushTranscriptBytes: "many" }) }).forceFlushTranscriptBytes, 2 * 1024 * 1024);
});

test("a time zone that does not exist is no reason to fail", () => {
  assert.match(dayIn(Date.UTC(2026, 0, 5, 12), "Mars/Olympus"), /^2026-01-05$/);
});

test("provenance by place, by what the host recorded, and never by a link that leads out", async (t) => {
  const workspaceDir = await folder(t);
  const outside = await folder(t);
  await mkdir(path.join(workspaceDir, "memory", ".dreams"), { recursive: true });
  for (const name of ["MEMORY.md", "USER.md", "SOUL.md", "memory/2026-03-01.md", "memory/.dreams/x.md", "DREAMS.md"]) {
    await writeFile(path.join(workspaceDir, name), "x");
  }
  await writeFile(path.join(outside, "evil.md"), "x");
  await symlink(path.join(outside, "evil.md"), path.join(workspaceDir, "memory", "linked.md"));
  const relativePaths = ["MEMORY.md", "USER.md", "memory/2026-03-01.md", "SOUL.md", "memory/.dreams/x.md", "DREAMS.md", "memory/linked.md", "memory/gone.md", "../x.md"];
  const of = async (recorded) => Object.fromEntries((await classifyPaths({ workspaceDir, relativePaths }, recorded)).map((row) => [row.relativePath, row.originClass]));
  assert.deepEqual(await of(), {
    "MEMORY.md": "owner", "USER.md": "owner", "memory/2026-03-01.md": "agent", "SOUL.md": "untrusted", "memory/.dreams/x.md": "system",
    "DREAMS.md": "system", "memory/linked.md": "untrusted", "memory/gone.md": "untrusted", "../x.md": "untrusted",
  });
  const recorded = await of(async ({ relativePath }) => (relativePath === "MEMORY.md" ? { originClass: "untrusted" } : undefined));
  assert.equal(recorded["MEMORY.md"], "untrusted");
  assert.equal(recorded["USER.md"], "owner");
});

test("a file whose front matter says that strangers speak in it is untrusted, whatever was recorded", async (t) => {
  const workspaceDir = await folder(t);
  await mkdir(path.join(workspaceDir, "memory", "consolidated", "daily"), { recursive: true });
  const files = {
    "memory/consolidated/daily/2026-03-01.md": ["---\ngrain: daily\norigin: untrusted\n---\n# x\n", "untrusted"],
    "memory/consolidated/daily/2026-03-02.md": ["---\ngrain: daily\norigin: agent\n---\norigin: untrusted\n", "agent"],
    "memory/2026-03-03.md": ["\uFEFF---\r\nOrigin: 'untrusted'  # a stranger\r\n---\r\nx", "untrusted"],
    "memory/2026-03-04.md": ["# x\n---\norigin: untrusted\n---\n", "agent"],
    "memory/2026-03-05.md": [`---\nsources: [${"x, ".repeat(2000)}]\norigin: untrusted\n---\n`, "untrusted"],
    "memory/2026-03-06.md": ["---\norigin: untrusted\ntitle: [\n---\n", "untrusted"],
    "memory/2026-03-07.md": ["\n---\n\torigin: untrusted\n---\n", "untrusted"],
    "memory/2026-03-08.md": ["---\norigin: untrusted\n\nno end", "untrusted"],
    "memory/2026-03-09.md": ['---\norigin: "un\\x74rusted"\n---\n', "untrusted"],
    "memory/2026-03-10.md": ["---\nWe met in Rome.\n---\nuntrusted: no\n", "agent"],
    "MEMORY.md": ["---\norigin: untrusted\n---\nx", "untrusted"],
  };
  for (const [name, [text]] of Object.entries(files)) await writeFile(path.join(workspaceDir, name), text);
  const relativePaths = Object.keys(files);
  const wanted = Object.entries(files).map(([relativePath, [, originClass]]) => ({ relativePath, originClass }));
  assert.deepEqual(await classifyPaths({ workspaceDir, relativePaths }), wanted);
  const readSources = relativePaths.map((name) => ({ relativePath: name, canonicalRelativePath: name }));
  const recorded = async ({ relativePath }) => ({ originClass: relativePath === "MEMORY.md" ? "owner" : "agent" });
  assert.deepEqual(await classifyPaths({ workspaceDir, relativePaths, readSources }, recorded), wanted);
});

test("files that the host has read already are classified by the path it found, also when they are gone", async () => {
  const rows = await classifyPaths({
    workspaceDir: "/nowhere",
    relativePaths: ["MEMORY.md", "USER.md", "memory/a.md"],
    readSources: [
      { relativePath: "MEMORY.md", canonicalRelativePath: "MEMORY.md" },
      { relativePath: "USER.md" },
      { relativePath: "memory/a.md", canonicalRelativePath: "../elsewhere/a.md" },
    ],
  });
  assert.deepEqual(rows.map((row) => row.originClass), ["owner", "untrusted", "untrusted"]);
});

async function manager(t, env = {}) {
  const stateDir = await folder(t);
  const log = path.join(stateDir, "log.jsonl");
  const command = await fakeExecutable(path.join(stateDir, "x"), { FAKE_LOG: log, ...env });
  const memory = new MemoryProcess({ config: { command }, stateDir, version: "0.1.0" }, rememberingLogger());
  t.after(() => memory.stop());
  return { made: new SearchManager(memory.call.bind(memory), { workspaceDir: "/w", timeoutMs: 10_000 }), log, memory };
}

test("the manager searches, reads, syncs and tells its state", async (t) => {
  const { made, log } = await manager(t);
  const hits = await made.search("bunny", { maxResults: 3, minScore: 0.1, lexicalOnly: true, sessionKey: "agent:main:main" });
  assert.equal(hits[0].source, "memory");
  assert.equal(hits[0].snippet, "the phrase is blue bunny");
  const [call] = (await logged(log)).filter((line) => line.method === "tools/call");
  assert.deepEqual(call.params.arguments, { query: "bunny", maxResults: 3, minScore: 0.1, mode: "keyword" });
  assert.deepEqual(await made.search("bunny", { sources: ["sessions"] }), []);
  assert.equal((await made.readFile({ relPath: "MEMORY.md" })).text, "one\ntwo");
  assert.equal((await made.readFile({ relPath: "gone.md" })).status, "not_found");
  await assert.rejects(made.readFile({ relPath: "/etc/passwd" }), /outside of the workspace/);
  assert.equal(made.status().files, 0);
  await made.refresh();
  const status = made.status();
  assert.equal(status.backend, "builtin");
  assert.deepEqual([status.files, status.chunks, status.dirty, status.vector.index.state], [2, 9, true, "incomplete"]);
  assert.deepEqual(await made.probeEmbeddingAvailability(), { ok: true, checked: true });
  assert.equal(await made.probeVectorAvailability(), true);
  await made.sync({ reason: "post-compaction" });
  assert.ok((await logged(log)).some((line) => line.params?.name === "memory_ingest"));
});

test("a manager without a process says so in its state, and searching fails", async (t) => {
  const { made } = await manager(t, { FAKE_MODE: "dies-at-start" });
  await made.refresh();
  assert.match(made.status().lastSyncError, /no module named duckdb/);
  assert.match(made.status().custom.action, /openclaw memory doctor/);
  assert.equal((await made.probeEmbeddingAvailability()).ok, false);
  await assert.rejects(made.search("x"), { name: "UnavailableError" });
});

test("jobs of one workspace follow each other, and what came meanwhile runs once", async () => {
  const ran = [];
  let release;
  const gate = new Promise((resolve) => (release = resolve));
  const job = coalesced(async (subject, details) => {
    ran.push(`${subject.agentId} ${details.reason}`);
    if (ran.length === 1) await gate;
  });
  const main = { agentId: "main", workspaceDir: "/w" };
  const done = [job(main, { reason: "1" }), job(main, { reason: "2" }), job(main, { reason: "3" }), job({ ...main, agentId: "other" }, { reason: "1" })];
  release();
  await Promise.all(done);
  assert.deepEqual(ran, ["main 1", "other 1", "main 3"]);
  await job(main, { reason: "4" });
  assert.equal(ran.at(-1), "main 4");
});

test("an ingest that fails is a line in the log and nothing else", async () => {
  const logger = rememberingLogger();
  const job = ingestJob(() => ({ call: async () => Promise.reject(Object.assign(new Error("no Python"), { action: "Run: x" })) }), logger);
  await job({ agentId: "main", workspaceDir: "/w" }, { reason: "start" });
  assert.deepEqual(logger.lines, ["warn openclaw-memory: notes of agent main were not read (start): no Python. Run: x"]);
});
