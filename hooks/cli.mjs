/** `openclaw memory …`: our command line inside OpenClaw's, run for the agents that OpenClaw knows. */

import { existsSync } from "node:fs";

import { escaped, inertJson } from "./arguments.mjs";
import { childEnvironment, describe, findExecutable, run, serverArguments, SETUP_COMMAND, UnavailableError } from "./child.mjs";
import { setUp } from "./provision.mjs";

const NO_HITS = { results: [], goodMatch: false, provider: "none", model: null, mode: "none", fallback: null };
/** What the commands for one agent print of one that has no notes. */
const EMPTY = {
  search: NO_HITS,
  timeline: NO_HITS,
  forget: { units: 0, facts: 0, files: 0, texts: [], remains: [] },
  doctor: { checks: [] },
};

/** The commands that are about every agent unless one is named; with --json they print a list. */
const OF_ALL = ["status", "index", "consolidate"];
const DESCRIPTION = "Set up, search, index and inspect the agent's long-term memory";
const COMMANDS = {
  status: "Show what the memory holds: files, units, model, vectors",
  index: "Read what changed in the notes and embed it",
  search: "Search the notes",
  timeline: "What was noted in a span of days",
  consolidate: "Turn old notes into short summaries; notes stay as they are",
  forget: "Take something out of memory for good",
  map: "Draw the memory as a page, and open it",
  doctor: "Look for what is wrong with the memory and say how to mend it",
  setup: "Install the Python part into an environment of its own, then configure OpenClaw and read the notes",
};

/**
 * Register `memory` with its commands, and the commands once more by themselves.
 *
 * Until setup has turned OpenClaw's dreaming off for us, OpenClaw loads its built-in memory beside this one for `memory status`
 * and `memory search`; the group is that memory's then, and what is registered for a place in it replaces its commands.
 */
export function registerCli(api, host) {
  api.registerCli(({ program }) => registerMemoryCli(program, host), {
    descriptors: [{ name: "memory", description: DESCRIPTION, hasSubcommands: true }],
  });
  api.registerCli(({ program }) => registerMemoryCommands(program, host), {
    parentPath: ["memory"],
    descriptors: Object.entries(COMMANDS).map(([name, description]) => ({ name, description, hasSubcommands: false })),
  });
}

/** What OpenClaw's own memory does and this one does otherwise, with what to run here. */
const ELSEWHERE = {
  ...Object.fromEntries(
    ["promote", "promote-explain", "rem-harness", "rem-backfill", "session-backfill"].map((name) => [name, "openclaw memory consolidate --dry-run"]),
  ),
  reset: "openclaw memory index, as this index follows the notes; to start anew, delete the file that openclaw memory status names first",
};
/** Options of OpenClaw's own memory that ask for what is done anyway, and those of `forget` that choose by session. */
const NEEDLESS = { status: ["--deep", "--fix", "--index"], index: ["--force", "--verbose"] };
const BY_SESSION = ["--session", "--hook-source", "--participant"];

/** Why OpenClaw's own memory is the one that was meant, and what to run here. */
function meantForAnother(name, words) {
  const options = name === "forget" ? words.filter((word) => BY_SESSION.includes(word.split("=")[0])) : [];
  const here = Object.hasOwn(ELSEWHERE, name) ? ELSEWHERE[name] : options.length && "openclaw memory forget --query WORDS (or --path, --since with --until), as notes are not kept by session";
  if (!here) return undefined;
  return `${[name, ...options.map((word) => word.split("=")[0])].join(" ")} is of OpenClaw's built-in memory, which is not in use; run here: ${here}`;
}

/** Add `memory` with its commands to OpenClaw's program (a Commander object); any other word is our command line's, too. */
export function registerMemoryCli(program, host) {
  const memory = program.command("memory").description(`${DESCRIPTION}. All other commands of openclaw-memory work here, too.`);
  handsOn(memory, (words) => (words.length ? passOn(host, words) : memory.help({ error: true })));
  registerMemoryCommands(memory, host);
}

function registerMemoryCommands(memory, host) {
  memory.enablePositionalOptions();
  for (const [name, description] of Object.entries(COMMANDS)) {
    const command = memory.command(name).description(description);
    if (name !== "setup") handsOn(command.helpOption(false), (words) => passOn(host, [name, ...words]));
    else
      command
        .option("--python <path>", "Python 3.11 or newer to use (default: found)")
        .option("--force", "Install again although it is there")
        .option("--yes", "Change the configuration without asking")
        .action(async (options) => {
          try {
            process.exitCode = await setUp(host, options);
          } catch (error) {
            fail(error, false);
          }
        });
  }
}

/** Have a command hand on the words that follow it, whatever they are; by --json OpenClaw knows to print nothing of its own. */
function handsOn(command, action) {
  command.argument("[words...]").passThroughOptions().allowUnknownOption().option("--json", "Print JSON");
  command.action(async (words, { json }) => await action(json ? ["--json", ...words] : words));
}

/** An option's value, and the words without it; words after `--` are no options. */
function taken(words, option) {
  const end = words.includes("--") ? words.indexOf("--") : words.length;
  const at = words.slice(0, end).findIndex((word) => word === option || word.startsWith(`${option}=`));
  if (at < 0) return [undefined, words];
  const alone = words[at] === option;
  return [alone ? (words[at + 1] ?? "") : words[at].slice(option.length + 1), words.toSpliced(at, alone ? 2 : 1)];
}

/**
 * Run a command of ours for the agents that it is about, one after the other; the exit code is the worst one.
 *
 * What it reads and prints is left alone, but where OpenClaw's own command prints one JSON document for agents of which
 * some may have no notes.
 */
async function passOn(host, [name, ...given]) {
  const [agent, told] = taken(given, "--agent");
  const another = meantForAnother(name, told);
  if (another) return fail(new Error(another), told.includes("--json"));
  const words = told.filter((word) => !NEEDLESS[name]?.includes(word));
  const rereads = name === "status" && told.includes("--index");
  const [query, rest] = name === "search" ? taken(words, "--query") : [undefined, words];
  // A query comes last and after --, as it may start with a dash.
  const args = [name === "index" ? "ingest" : name, ...rest, ...(query === undefined ? [] : ["--", query])];
  const says = (option) => taken(rest, option)[0] !== undefined;
  const several = OF_ALL.includes(name) && !says("--help") && !says("-h");
  const hosts = several || name in EMPTY;
  const json = hosts && says("--json");

  const known = host.agents();
  const named = known.find((each) => each === agent?.trim().toLowerCase());
  if (agent !== undefined && !named) return fail(new Error(`there is no agent ${agent}; there are ${known.join(", ")}`), json, 2);
  const agents = named ? [named] : several ? known : [host.defaultAgent()];
  let found;
  try {
    found = await findExecutable({ command: host.config.command, stateDir: host.stateDir() });
  } catch (error) {
    return fail(error, json);
  }
  const documents = [];
  for (const agentId of agents) {
    const workspace = host.workspaceOf(agentId);
    const missing = hosts && !existsSync(workspace) && `no notes yet, ${workspace} is not there`;
    const why = host.remembers(agentId) ? missing : "memory search is off for it";
    if (why && !hosts) return fail(new Error(`agent ${agentId}: ${why}`), json);
    if (why) {
      if (!json) process.stdout.write(`agent ${agentId}: ${why}\n`);
      documents.push({ agentId, ok: true, ...(several ? {} : { ...EMPTY[name], warning: why }), skipped: why });
      continue;
    }
    if (!json && agents.length > 1) process.stdout.write(`agent ${agentId}\n`);
    const command = [...serverArguments(host.config, { agent: agentId, workspace }), ...args];
    let done;
    try {
      if (rereads) await run(found.command, [...command.slice(0, -args.length), "ingest"], childEnvironment(process.env, host.stateDir()), { capture: true });
      done = await run(found.command, command, childEnvironment(process.env, host.stateDir()), { capture: json });
    } catch (error) {
      const reason = `${found.command} cannot be started (${error.code ?? error.message}); is its Python gone?`;
      return fail(new UnavailableError(reason, `Run: ${SETUP_COMMAND} --force`), json);
    }
    process.exitCode = Math.max(Number(process.exitCode ?? 0), done.code);
    if (!json) continue;
    try {
      const document = JSON.parse(done.output);
      documents.push({ ...(several ? { agentId } : {}), ...(document.error ? { ok: false } : {}), ...document });
    } catch {
      documents.push({ agentId, ok: false, error: `exit code ${done.code}` });
    }
  }
  if (json) process.stdout.write(`${inertJson(several ? documents : documents[0], 2)}\n`);
  return undefined;
}

function fail(error, json, code = 1) {
  const message = describe(error);
  if (json) process.stdout.write(`${inertJson({ ok: false, error: { type: "cli_error", message } })}\n`);
  process.stderr.write(`error: ${escaped(message)}\n`);
  process.exitCode = code;
}
