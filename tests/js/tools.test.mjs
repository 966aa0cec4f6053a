import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { test } from "node:test";

import { SearchManager } from "../../hooks/capability.mjs";
import { MemoryProcess } from "../../hooks/child.mjs";
import { citesSources } from "../../hooks/results.mjs";
import { searchLimits } from "../../hooks/tools.mjs";
import { fakeExecutable, folder, logged, makeTools, rememberingLogger } from "./helpers.mjs";

async function tools(t, { config = {}, cfg = {}, sessionKey = "agent:main:direct:me", executable = true, stranger } = {}) {
  const stateDir = await folder(t);
  const log = path.join(stateDir, "log.jsonl");
  const command = executable ? await fakeExecutable(path.join(stateDir, "x"), { FAKE_LOG: log }) : undefined;
  const options = { config: { command, ...config }, stateDir, version: "0.1.0", env: { PATH: stateDir } };
  const memory = new MemoryProcess(options, rememberingLogger());
  t.after(() => memory.stop());
  const call = memory.call.bind(memory);
  const made = makeTools({ call, config }, { agentId: "main", workspaceDir: "/w", sessionKey, stranger, cfg: () => cfg });
  const sent = async () => (await logged(log)).filter((line) => line.method === "tools/call").map((line) => line.params);
  return { made, sent };
}

const details = async (call) => {
  const result = await call;
  assert.deepEqual(JSON.parse(result.content[0].text), result.details);
  return result.details;
};

test("a search asks with the host's limits and answers in the host's shape", async (t) => {
  const { made, sent } = await tools(t);
  const found = await details(made.memory_search.execute("1", { query: "  bunny " }));
  const [call] = await sent();
  assert.deepEqual(call.arguments, { query: "bunny", minScore: 0.35 });
  assert.equal(call._meta["openclaw-memory/agent"], "main");
  const [hit] = found.results;
  assert.equal(hit.corpus, "memory");
  assert.equal(hit.citation, "memory/2026-03-01.md#L3-L4");
  assert.equal(hit.snippet, "the phrase is blue bunny\n\nSource: memory/2026-03-01.md#L3-L4");
  assert.deepEqual(hit.provenance, { originClass: "agent", sessionKind: "unknown", observedAt: Date.UTC(2026, 2, 1) });
  assert.equal(found.citations, "auto");
  assert.equal(found.mode, "hybrid");
  assert.equal(found.debug.backend, "openclaw-memory");
  assert.ok(!("unavailable" in found));
});

test("what a model writes in another form is read by the schema; what is blank counts as not given", async (t) => {
  const { made, sent } = await tools(t);
  await made.memory_search.execute("1", { query: "x", maxResults: "3", minScore: "0.5", since: " ", until: null });
  await made.memory_search.execute("1", { query: "x", maxResults: 1000 });
  await made.memory_timeline.execute("1");
  assert.deepEqual((await sent()).map((call) => call.arguments), [
    { query: "x", maxResults: 3, minScore: 0.5 },
    { query: "x", maxResults: 50, minScore: 0.35 },
    {},
  ]);
  const { prepareArguments } = made.memory_facts;
  for (const same of [undefined, { action: "query", history: true, another: ["x"] }]) assert.deepEqual(prepareArguments(same), same);
  assert.deepEqual(prepareArguments({ action: "query", history: "true" }), { action: "query", history: true });
  await assert.rejects(made.memory_search.execute("1", { query: "x", corpus: "internet" }), /corpus must be one of: memory, wiki/);
  assert.equal((await sent()).length, 3);
});

test("the host's most results count where neither results nor a budget were asked for", async (t) => {
  const { made, sent } = await tools(t, { cfg: { memory: { search: { query: { maxResults: 99, minScore: 0 } } } } });
  for (const own of [{}, { maxResults: 2 }, { budget: 300 }]) await made.memory_search.execute("1", { query: "x", ...own });
  await made.memory_timeline.execute("1", {});
  const rest = { query: "x", minScore: 0 };
  assert.deepEqual((await sent()).map((call) => call.arguments), [
    { ...rest, maxResults: 50 }, { ...rest, maxResults: 2 }, { ...rest, budget: 300 }, {},
  ]);
});

test("where the host's least score leaves nothing, the best few are given and marked as unsure", async (t) => {
  const { made, sent } = await tools(t);
  for (const more of [{}, { budget: 300 }, { maxResults: 1 }]) {
    const found = await details(made.memory_search.execute("1", { query: "vague", ...more }));
    assert.deepEqual([found.results.length, found.goodMatch], [1, false]);
  }
  assert.deepEqual((await sent()).map((call) => call.arguments).filter((args) => !args.minScore), [
    { query: "vague", minScore: 0, maxResults: 3 }, { query: "vague", minScore: 0, maxResults: 3 }, { query: "vague", minScore: 0, maxResults: 1 },
  ]);
  assert.deepEqual((await details(made.memory_search.execute("1", { query: "vague", minScore: 0.5 }))).results, [], "the model's own least score");
  assert.ok(!("goodMatch" in (await details(made.memory_search.execute("1", { query: "x" })))));
  const search = (_tool, args) => made.memory_search.execute("1", args).then(({ details: found }) => found);
  const manager = new SearchManager(search, { workspaceDir: "/w", timeoutMs: 5000, floor: 0.35 });
  assert.equal((await manager.search("vague", { minScore: 0.35 }))[0].goodMatch, false);
  assert.deepEqual(await manager.search("vague", { minScore: 0.72 }), [], "who asks for more than the host wants nothing else");
});

test("citations follow the host's setting and the kind of chat", async (t) => {
  assert.deepEqual(citesSources({ memory: { citations: "off" } }, "agent:main:direct:x"), { mode: "off", cites: false });
  assert.deepEqual(citesSources({ memory: { citations: "on" } }, "agent:main:group:x"), { mode: "on", cites: true });
  assert.equal(citesSources({}, "agent:main:discord:channel:9").cites, false);
  assert.equal(citesSources({}, undefined).cites, true);
  const { made } = await tools(t, { sessionKey: "agent:main:telegram:group:1" });
  const [hit] = (await details(made.memory_search.execute("1", { query: "x" }))).results;
  assert.ok(!("citation" in hit));
  assert.equal(hit.snippet, "the phrase is blue bunny");
});

test("limits: an agent's own before the general ones, and none when memory is off", () => {
  const cfg = { memory: { search: { query: { maxResults: 4, minScore: 0.1 } } }, agents: { entries: { a: { memory: { search: { query: { maxResults: 9 } } } }, b: { memory: { search: { enabled: false } } } } } };
  assert.deepEqual(searchLimits(cfg, "a"), { maxResults: 9, minScore: 0.1 });
  assert.deepEqual(searchLimits(cfg, "main"), { maxResults: 4, minScore: 0.1 });
  assert.equal(searchLimits(cfg, "b"), null);
  assert.deepEqual(searchLimits(undefined, "main"), { maxResults: undefined, minScore: 0.35 });
});

test("without the Python package the answer says what to do", async (t) => {
  const { made } = await tools(t, { executable: false });
  const found = await details(made.memory_search.execute("1", { query: "x" }));
  assert.deepEqual(found.results, []);
  assert.equal(found.disabled, true);
  assert.equal(found.unavailable, true);
  assert.equal(found.action, "Run: openclaw memory setup");
  const read = await details(made.memory_get.execute("1", { path: "MEMORY.md" }));
  assert.equal(read.status, "error");
  assert.equal(read.code, "unavailable");
  assert.equal(read.action, "Run: openclaw memory setup");
});

test("reading: found, not found, refused", async (t) => {
  const { made } = await tools(t);
  assert.deepEqual(await details(made.memory_get.execute("1", { path: "MEMORY.md", from: 1, lines: 2 })), {
    status: "ok", text: "one\ntwo", path: "MEMORY.md", truncated: true, from: 1, lines: 2, nextFrom: 3,
  });
  assert.deepEqual(await details(made.memory_get.execute("1", { path: "gone.md" })), { status: "not_found", path: "gone.md", text: "" });
  const refused = await details(made.memory_get.execute("1", { path: "/etc/passwd" }));
  assert.equal(refused.status, "error");
  assert.match(refused.error, /outside of the workspace/);
});

test("what was said in conversations is not shown to others, in groups, or against the host's setting", async (t) => {
  const elsewhere = [{ stranger: true }, { sessionKey: "agent:main:chat:group:7" }, { cfg: { tools: { sessions: { visibility: "self" } } } }];
  for (const turn of elsewhere) {
    const { made, sent } = await tools(t, turn);
    const found = await details(made.memory_search.execute("1", { query: "x", corpus: "sessions" }));
    assert.equal(found.unavailable, true);
    assert.equal((await details(made.memory_get.execute("1", { path: "@sessions/2026-03-01-abc.md" }))).status, "not_found");
    await made.memory_search.execute("1", { query: "x", corpus: "all" });
    assert.deepEqual((await sent()).map((call) => call.arguments.corpus), [undefined]);
  }
  const { made, sent } = await tools(t);
  for (const corpus of ["sessions", "all", "memory"]) await made.memory_search.execute("1", { query: "x", corpus });
  assert.deepEqual((await sent()).map((call) => call.arguments.corpus), ["sessions", "all", undefined]);
});

test("a corpus that is not ours is unavailable, with the way on", async (t) => {
  const { made, sent } = await tools(t);
  const found = await details(made.memory_search.execute("1", { query: "x", corpus: "wiki" }));
  assert.equal(found.unavailable, true);
  assert.match(found.action, /corpus=memory/);
  assert.deepEqual(await details(made.memory_get.execute("1", { path: "x", corpus: "wiki" })), { status: "not_found", path: "x", text: "" });
  assert.deepEqual(await sent(), []);
  const all = await details(made.memory_search.execute("1", { query: "x", corpus: "all" }));
  assert.equal(all.results.length, 1);
});

test("the timeline needs no question and hands its range on", async (t) => {
  const { made, sent } = await tools(t);
  const found = await details(made.memory_timeline.execute("1", { since: "2026-03-01", budget: 500 }));
  assert.deepEqual((await sent())[0].arguments, { since: "2026-03-01", budget: 500 });
  assert.equal(found.stale, true);
  assert.equal(found.warning, "old");
  assert.equal(found.action, "Run: openclaw memory index");
});

test("a search waits for notes that are being read, but not for ever", async () => {
  const order = [];
  const call = async () => {
    order.push("search");
    return { results: [] };
  };
  let read;
  const reading = new Promise((resolve) => (read = resolve));
  const turn = { agentId: "main", workspaceDir: "/w", cfg: () => ({}), reading: () => reading };
  const answer = makeTools({ call, config: {} }, turn).memory_search.execute("1", { query: "x" });
  setTimeout(() => {
    order.push("read");
    read();
  }, 50);
  await answer;
  assert.deepEqual(order.slice(0, 2), ["read", "search"]);
  const never = { ...turn, reading: () => new Promise(() => {}) };
  await makeTools({ call, config: { searchTimeoutMs: 300 } }, never).memory_search.execute("1", { query: "x" });
  assert.equal(order.at(-1), "search");
});

test("a search that is too slow is unavailable with timedOut", async (t) => {
  const call = async () => {
    const { DeadlineError } = await import("../../hooks/mcp.mjs");
    throw new DeadlineError("no answer within 0.2 s");
  };
  const { memory_search } = makeTools({ call, config: {} }, { agentId: "main", workspaceDir: "/w", cfg: () => ({}) });
  const found = await details(memory_search.execute("1", { query: "x" }));
  assert.equal(found.timedOut, true);
  assert.equal(found.unavailable, true);
});

test("an aborted call is the host's, not a result", async (t) => {
  const { made } = await tools(t);
  const signal = AbortSignal.abort(new Error("stopped"));
  await assert.rejects(made.memory_search.execute("1", { query: "x" }, signal), /stopped/);
});

test("a thread tells how its notes hang together and what is out of date", async (t) => {
  const { made, sent } = await tools(t);
  const found = await details(made.graph_recall.execute("1", { query: "why blue?", hops: 9, maxResults: 100, since: "2026-01-01" }));
  assert.deepEqual((await sent())[0].arguments, { query: "why blue?", hops: 4, maxResults: 20, since: "2026-01-01" });
  const [hit] = found.results;
  assert.deepEqual([hit.distance, hit.via[0].text, hit.superseded], [1, "bunny is often named with garden", ["colour of the bunny: now red"]]);
  assert.equal(hit.provenance.originClass, "agent");
  assert.equal(found.mode, "graph");
});

test("facts: every action reaches the memory with its arguments", async (t) => {
  const { made, sent } = await tools(t);
  const calls = [
    { action: "query", subject: "Mira", history: true, asOf: "2026-02-01" },
    { action: "add", subject: "Mira", predicate: "lives in", object: "Utrecht", since: "2026-05-01" },
    { action: "update", id: "f-2", object: "Delft" },
  ];
  const found = [];
  for (const params of calls) found.push(await details(made.memory_facts.execute("1", params)));
  assert.deepEqual((await sent()).map((call) => call.arguments), calls);
  const [row] = found[0].rows;
  assert.deepEqual([row.object, row.provenance, row.source], ["Utrecht", { originClass: "agent" }, "memory/2026-03-01.md#L4"]);
  assert.deepEqual([found[1].added, found[0].debug.hits], [1, 1]);
});

test("any other tool gives its report as it is, with hits and facts in the host's shape", async (t) => {
  const { made, sent } = await tools(t, { sessionKey: "agent:main:telegram:group:1" });
  const { text, sources, facts } = await details(made.memory_context.execute("1", { message: "How is Mira?", budget: "50" }));
  assert.match(text, /Utrecht/);
  assert.deepEqual([sources[0].provenance.originClass, "citation" in sources[0], "source" in facts[0]], ["agent", false, false]);
  assert.deepEqual((await sent())[0].arguments, { message: "How is Mira?", budget: 50 });
});

test("somebody else than the owner may ask, not change anything; a group sees no sources", async (t) => {
  const { made, sent } = await tools(t, { stranger: true, sessionKey: "agent:main:telegram:group:1" });
  const { rows } = await details(made.memory_facts.execute("1", { action: "query" }));
  assert.ok(!("source" in rows[0]));
  const add = { action: "add", subject: "Mira", predicate: "password", object: "x" };
  const changing = { memory_facts: add, memory_capture: { text: "x" }, memory_feedback: { id: "x", verdict: "useful" } };
  for (const [name, params] of Object.entries(changing)) await assert.rejects(made[name].execute("1", params), /commands\.ownerAllowFrom/, name);
  assert.deepEqual((await sent()).map(({ name }) => name), ["memory_facts"]);
});

test("facts without the Python package: what to do, and no half change", async (t) => {
  const { made } = await tools(t, { executable: false });
  const found = await details(made.memory_facts.execute("1", { action: "query" }));
  assert.deepEqual([found.rows, found.unavailable, found.action], [[], true, "Run: openclaw memory setup"]);
  const again = [];
  const call = async (_tool, _args, options) => again.push(options.again) && { rows: [] };
  const { memory_facts } = makeTools({ call, config: {} }, { agentId: "main", workspaceDir: "/w", cfg: () => ({}) });
  await memory_facts.execute("1", { action: "query" });
  await memory_facts.execute("1", { action: "remove", id: "f-1" });
  assert.deepEqual(again, [true, false]);
});

test("the manifest has the versions and settings of the package", async () => {
  const root = new URL("../../", import.meta.url);
  const manifest = JSON.parse(await readFile(new URL("openclaw.plugin.json", root), "utf8"));
  const packaged = JSON.parse(await readFile(new URL("package.json", root), "utf8"));
  assert.equal(manifest.version, packaged.version);
  const environments = ["venv", `venv-${packaged.version}`, `venv-${packaged.version}-2`];
  assert.deepEqual(manifest.backupResources.map((one) => one.relativePath), environments.map((name) => `openclaw-memory/${name}`));
  const python = await readFile(new URL("openclaw_memory/version.py", root), "utf8");
  assert.ok(python.includes(`"${packaged.version}"`), "plugin and Python package have one version");
  const settings = Object.keys(manifest.configSchema.properties);
  for (const name of settings) assert.ok(manifest.uiHints[name]?.label, `${name} has a hint`);
  const { memory_search, memory_capture } = makeTools({ call: () => {}, config: {} }, { agentId: "main", workspaceDir: "/w", cfg: () => ({}) });
  assert.deepEqual([memory_search.catalogMode, "catalogMode" in memory_capture], ["direct-only", false]);
  assert.deepEqual(manifest.configGroups.flatMap((group) => group.properties).sort(), settings.sort());
});
