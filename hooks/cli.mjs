/** `openclaw memory …`: our command line inside OpenClaw's, run for the agents that OpenClaw knows. */

import { spawn } from "node:child_process";
import { existsSync } from "node:fs";

import { escaped } from "./arguments.mjs";
import { childEnvironment, findExecutable, serverArguments, SETUP_COMMAND, UnavailableError } from "./child.mjs";
import { setUp } from "./provision.mjs";

const NO_HITS = { results: [], provider: "none", model: null, mode: "none", fallback: null };
/** What the commands for one agent print of one that has no notes. */
const EMPTY = {
  search: NO_HITS,
  timeline: NO_HITS,
  forget: { units: 0, facts: 0, files: 0, texts: [], remains: [] },
  doctor: { checks: [] },
};

/** Run the Python command; resolves to its exit code and, when captured, to what it printed. */
function run(command, args, env, { capture = false } = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { stdio: ["inherit", capture ? "pipe" : "inherit", "inherit"], env });
    let output = "";
    child.stdout?.setEncoding("utf8").on("data", (text) => {
      output += text;
    });
    child.once("error", reject);
    child.once("close", (code) => resolve({ code: code ?? 1, output }));
  });
}

const DESCRIPTION = "Set up, search, index and inspect the agent's long-term memory";
const COMMANDS = {
  status: "Show what the memory holds: files, units, model, vectors",
  index: "Read what changed in the notes and embed it",
  search: "Search the notes",
  timeline: "What was noted in a span of days",
  consolidate: "Turn old notes into short summaries; notes stay as they are",
  forget: "Take something out of memory for good",
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

/** Add `memory` with its commands to OpenClaw's program (a Commander object). */
export function registerMemoryCli(program, host) {
  registerMemoryCommands(program.command("memory").description(DESCRIPTION), host);
}

function registerMemoryCommands(memory, host) {
  const env = () => childEnvironment(process.env, host.stateDir());

  /** Run the command for these agents, one after the other; the exit code is the worst one. */
  const forAgents = async (agents, args, { json = false, several = false } = {}) => {
    let found;
    try {
      found = await findExecutable({ command: host.config.command, stateDir: host.stateDir() });
    } catch (error) {
      return fail(error, json);
    }
    const documents = [];
    const left = (agent, why) => {
      if (!json) process.stdout.write(`agent ${agent}: ${why}\n`);
      else documents.push({ agentId: agent, ok: true, ...(several ? {} : { ...EMPTY[args[0]], warning: why }), skipped: why });
    };
    for (const agent of agents) {
      if (!host.remembers(agent)) {
        left(agent, "memory search is off for it");
        continue;
      }
      const workspace = host.workspaceOf(agent);
      if (!existsSync(workspace)) {
        left(agent, `no notes yet, ${workspace} is not there`);
        continue;
      }
      if (!json && agents.length > 1) process.stdout.write(`agent ${agent}\n`);
      const options = serverArguments(host.config, { agent, workspace });
      let done;
      try {
        done = await run(found.command, [...options, ...args], env(), { capture: json });
      } catch (error) {
        return fail(
          new UnavailableError(`${found.command} cannot be started (${error.code ?? error.message}); is its Python gone?`, `Run: ${SETUP_COMMAND} --force`),
          json,
        );
      }
      process.exitCode = Math.max(Number(process.exitCode ?? 0), done.code);
      if (!json) continue;
      try {
        documents.push({ ...(several ? { agentId: agent } : {}), ...JSON.parse(done.output) });
      } catch {
        documents.push({ agentId: agent, ok: false, error: `exit code ${done.code}` });
      }
    }
    if (json) process.stdout.write(`${escaped(JSON.stringify(several ? documents : documents[0], null, 2))}\n`);
    return undefined;
  };
  /** The agent that was named, as OpenClaw writes it, else these; `null` for one that there is not. */
  const chosen = ({ agent, json }, otherwise) => {
    if (!agent) return otherwise;
    const known = host.agents().find((each) => each === agent.trim().toLowerCase());
    if (known) return [known];
    fail(new Error(`there is no agent ${agent}; there are ${host.agents().join(", ")}`), json, 2);
    return null;
  };
  const all = async (options, args) => {
    const agents = chosen(options, host.agents());
    if (agents) await forAgents(agents, args, { json: options.json, several: true });
  };
  const one = async (options, args) => {
    const agents = chosen(options, [host.defaultAgent()]);
    if (agents) await forAgents(agents, args, { json: options.json });
  };
  const flags = (options, names) =>
    names.flatMap((name) => {
      const value = options[name];
      const flag = `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
      if (value === undefined || value === false) return [];
      return value === true ? [flag] : [flag, String(value)];
    });

  memory
    .command("status")
    .description(COMMANDS.status)
    .option("--agent <id>", "Agent id (default: all configured agents)")
    .option("--json", "Print JSON")
    .action(async (options) => await all(options, ["status", ...flags(options, ["json"])]));

  memory
    .command("index")
    .description(COMMANDS.index)
    .option("--agent <id>", "Agent id (default: all configured agents)")
    .option("--lazy", "Do not embed now: searchable by keywords at once")
    .option("--json", "Print JSON")
    .action(async (options) => await all(options, ["ingest", ...flags(options, ["lazy", "json"])]));

  memory
    .command("search")
    .description(COMMANDS.search)
    .argument("[query]", "What to look for")
    .option("--query <text>", "The same, as an option")
    .option("--agent <id>", "Agent id (default: the default agent)")
    .option("--max-results <n>", "Number of hits")
    .option("--min-score <n>", "Leave out hits below this score")
    .option("--json", "Print JSON")
    .action(async (argument, options) => {
      const query = options.query ?? argument;
      if (!query?.trim()) return fail(new Error("nothing to search for; give a query"), options.json, 2);
      // The query comes last and after --, as it may start with a dash.
      return await one(options, ["search", ...flags(options, ["maxResults", "minScore", "json"]), "--", query]);
    });

  memory
    .command("timeline")
    .description(COMMANDS.timeline)
    .argument("[query]", "What to look for; without it everything in the span")
    .option("--agent <id>", "Agent id (default: the default agent)")
    .option("--since <day>", "First day, YYYY-MM-DD")
    .option("--until <day>", "Last day, YYYY-MM-DD")
    .option("--max-results <n>", "Number of hits")
    .option("--json", "Print JSON")
    .action(async (query, options) => {
      const args = flags(options, ["since", "until", "maxResults", "json"]);
      await one(options, ["timeline", ...args, ...(query?.trim() ? ["--", query] : [])]);
    });

  memory
    .command("consolidate")
    .description(COMMANDS.consolidate)
    .option("--agent <id>", "Agent id (default: all configured agents)")
    .option("--dry-run", "Only show what would be done")
    .option("--enable", "Let the heartbeat do it from now on")
    .option("--disable", "Let the heartbeat only report")
    .option("--json", "Print JSON")
    .action(async (options) => await all(options, ["consolidate", ...flags(options, ["dryRun", "enable", "disable", "json"])]));

  memory
    .command("forget")
    .description(COMMANDS.forget)
    .option("--agent <id>", "Agent id (default: the default agent)")
    .option("--path <path>", "A file, a folder, or lines such as memory/a.md#L3-L9")
    .option("--query <words>", "What holds all of these words")
    .option("--concept <name>", "What mentions this")
    .option("--fact <id>", "A fact, and what it was found in")
    .option("--since <day>", "With --until: what was noted in these days")
    .option("--until <day>", "With --since: what was noted in these days")
    .option("--dry-run", "Only show what would go")
    .option("--yes", "Do not ask")
    .option("--json", "Print JSON")
    .action(async (options) => {
      const names = ["path", "query", "concept", "fact", "since", "until", "dryRun", "yes", "json"];
      await one(options, ["forget", ...flags(options, names)]);
    });

  memory
    .command("doctor")
    .description(COMMANDS.doctor)
    .option("--agent <id>", "Agent id (default: the default agent)")
    .option("--json", "Print JSON")
    .action(async (options) => await one(options, ["doctor", ...flags(options, ["json"])]));

  memory
    .command("setup")
    .description(COMMANDS.setup)
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

function fail(error, json, code = 1) {
  const message = error.action ? `${error.message}. ${error.action}` : error.message;
  if (json) process.stdout.write(`${escaped(JSON.stringify({ ok: false, error: { type: "cli_error", message } }))}\n`);
  process.stderr.write(`error: ${escaped(message)}\n`);
  process.exitCode = code;
}
