import assert from "node:assert/strict";
import { chmod, mkdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { test } from "node:test";

import { registerCli, registerMemoryCli } from "../../hooks/cli.mjs";
import { folder } from "./helpers.mjs";

const CHAINED = ["description", "argument", "option", "helpOption", "enablePositionalOptions", "passThroughOptions", "allowUnknownOption"];

/** As much of Commander as the commands use: `commands` has the action of each by name. */
function program() {
  const commands = {};
  const at = (name) => {
    const chain = { command: (inner) => at(inner), help: () => process.stdout.write("usage") };
    for (const method of CHAINED) chain[method] = () => chain;
    chain.action = (action) => {
      commands[name] = action;
      return chain;
    };
    return chain;
  };
  return { ...at("openclaw"), commands };
}

/** Run one of the commands, or `memory` itself; resolves to what it printed, what it complained of, and its exit code. */
async function ran(host, name, ...args) {
  const made = program();
  registerMemoryCli(made, host);
  const printed = { stdout: "", stderr: "" };
  const before = Object.fromEntries(Object.keys(printed).map((stream) => [stream, process[stream].write]));
  for (const stream of Object.keys(printed)) process[stream].write = (text) => ((printed[stream] += text), true);
  process.exitCode = undefined;
  try {
    const json = args[0] === "--json"; // all that Commander itself reads
    await made.commands[name](args.slice(Number(json)), { json });
    return { ...printed, code: process.exitCode ?? 0 };
  } finally {
    for (const stream of Object.keys(printed)) process[stream].write = before[stream];
    process.exitCode = undefined;
  }
}

async function hostOf(t, body) {
  const state = await folder(t);
  const command = path.join(state, "openclaw-memory");
  await writeFile(command, `#!/bin/sh\n${body}\n`);
  await chmod(command, 0o755);
  await mkdir(path.join(state, "main"));
  return {
    config: { command },
    stateDir: () => state,
    agents: () => ["main", "idle", "off"],
    defaultAgent: () => "main",
    remembers: (agent) => agent !== "off",
    workspaceOf: (agent) => path.join(state, agent),
  };
}

const asked = { search: ["x", "--json"], timeline: ["--json"], forget: ["--query", "x", "--json"], doctor: ["--json"] };

test("of an agent without notes each command prints a document that says so", async (t) => {
  const host = await hostOf(t, 'echo "it was started" >&2; exit 9');
  for (const [agent, why] of [["idle", /no notes yet, .*idle is not there/], ["off", /memory search is off for it/]]) {
    for (const [name, given] of Object.entries(asked)) {
      const { stdout, code } = await ran(host, name, ...given, "--agent", agent);
      const said = JSON.parse(stdout);
      assert.deepEqual([said.agentId, said.ok, code], [agent, true, 0], name);
      assert.match(said.warning, why);
      assert.equal(said.skipped, said.warning);
      if (name === "search" || name === "timeline") assert.deepEqual(said.results, []);
      if (name === "doctor") assert.deepEqual(said.checks, []);
      if (name === "forget") assert.equal(said.units, 0);
    }
    const [said] = JSON.parse((await ran(host, "status", `--agent=${agent}`, "--json")).stdout);
    assert.match(said.skipped, why);
  }
});

test("what the command prints is printed as it is, and when it prints nothing that is said", async (t) => {
  const good = await hostOf(t, `echo '{"results":[{"path":"a.md"}]}'`);
  assert.deepEqual(JSON.parse((await ran(good, "search", "x", "--json")).stdout), { results: [{ path: "a.md" }] });
  const bad = await hostOf(t, "exit 3");
  for (const [name, given] of Object.entries(asked)) {
    const { stdout, code } = await ran(bad, name, ...given);
    assert.deepEqual(JSON.parse(stdout), { agentId: "main", ok: false, error: "exit code 3" }, name);
    assert.equal(code, 3);
  }
});

test("each command is registered for its place below memory too, under its own name", () => {
  const registered = [];
  registerCli({ registerCli: (register, options) => registered.push({ register, options }) }, {});
  const [group, commands] = registered;
  assert.deepEqual(group.options.descriptors.map(({ name }) => name), ["memory"]);
  assert.deepEqual(commands.options.parentPath, ["memory"]);
  const made = program();
  commands.register({ program: made });
  assert.deepEqual(commands.options.descriptors.map(({ name }) => name), ["status", "index", "search", "timeline", "consolidate", "forget", "map", "doctor", "setup"]);
  assert.deepEqual(Object.keys(made.commands), commands.options.descriptors.map(({ name }) => name));
});

test("what notes hold does not move the terminal, and JSON says it all the same", async (t) => {
  const nasty = "a\u009b31m\u202e\u200b\u{e0041}b";
  const host = await hostOf(t, `printf '%s' '{"results":["${nasty}"]}'`);
  const { stdout } = await ran(host, "search", "x", "--json");
  assert.doesNotMatch(stdout, /[\u009b\u202e\u200b\u{e0041}]/u);
  assert.deepEqual(JSON.parse(stdout).results, [nasty]);
  const { stderr } = await ran(host, "search", "x", "--agent", "\u001b[2J\u202e");
  assert.match(stderr, /there is no agent \\u001b\[2J\\u202e;/);
});

test("whatever else is asked reaches our command line as it is, for one agent, with its exit code", async (t) => {
  const host = await hostOf(t, 'echo "$#: $*" > "$(dirname "$0")/asked"; exit 4');
  const words = async (...given) => {
    const { stdout, code } = await ran(host, ...given);
    assert.deepEqual([stdout, code], ["", 4]);
    const [, after] = (await readFile(path.join(host.stateDir(), "asked"), "utf8")).trim().split("/main ");
    return after;
  };
  assert.equal(await words("memory", "facts", "add", "a b", "--json", "--", "--agent", "x"), "facts add a b --json -- --agent x");
  assert.equal(await words("memory", "sql", "select 1", "--agent", "MAIN"), "sql select 1");
  assert.equal(await words("memory", "--json", "nonsense"), "--json nonsense");
  assert.equal(await words("search", "--query", "-x", "--max-results", "3"), "search --max-results 3 -- -x");
  assert.equal(await words("index", "--help"), "ingest --help");
  assert.equal((await ran(host, "memory")).stdout, "usage");
  assert.match((await ran(host, "memory", "facts", "--agent", "off")).stderr, /agent off: memory search is off for it/);
});

test("what OpenClaw prescribes for its own memory is taken, or told in a line with what to run here", async (t) => {
  const host = await hostOf(t, 'echo "$OPENCLAW_MEMORY_COMMAND: $*" >> "$0.words"');
  const given = [["status", "--deep"], ["status", "--fix", "--json"], ["status", "--index"], ["index", "--force", "--verbose"], ["forget", "--query", "x", "--yes"]];
  for (const words of given) assert.equal((await ran(host, ...words, "--agent", "main")).code, 0, words.join(" "));
  const called = (await readFile(`${host.config.command}.words`, "utf8")).trim().split("\n");
  assert.deepEqual(called.map((line) => line.replace(/--agent main --workspace \S+(?: à soi \S+)?\/main /, "")), [
    "status", "status --json", "ingest", "status", "ingest", "forget --query x --yes",
  ].map((words) => `openclaw memory: ${words}`));
  const others = [
    ["promote", "--apply"], ["promote-explain", "x"], ["rem-harness", "--json"], ["rem-backfill", "--path", "x"], ["session-backfill"], ["reset", "--yes"],
  ];
  for (const words of [...others.map((each) => ["memory", ...each]), ["forget", "--session", "s1", "--dry-run"], ["forget", "--hook-source=gmail"], ["forget", "--participant", "p"]]) {
    const { stdout, stderr, code } = await ran(host, ...words);
    assert.equal(code, 1);
    assert.match(stderr, /^error: [^\n]+ is of OpenClaw's built-in memory, which is not in use; run here: openclaw memory [^\n]+\n$/, words.join(" "));
    if (words.includes("--json")) assert.equal(JSON.parse(stdout).ok, false);
  }
  assert.equal((await readFile(`${host.config.command}.words`, "utf8")).trim().split("\n").length, called.length, "nothing of ours was run");
});

test("why a concept or a fact is there is asked for like any other option", async (t) => {
  const host = await hostOf(t, 'echo "$@" > "$0.words"');
  for (const words of [["concepts", "list", "--explain"], ["concepts", "search", "tank", "--explain"], ["facts", "query", "Mira", "--explain"]]) {
    assert.equal((await ran(host, "memory", ...words)).code, 0);
    assert.ok((await readFile(`${host.config.command}.words`, "utf8")).trim().endsWith(words.join(" ")));
  }
});
