/** `/remember`, `/why` and `/forget` in a conversation: the memory answers, and no model is asked. */

import { escaped } from "./arguments.mjs";
import { childEnvironment, describe, findExecutable, run, serverArguments } from "./child.mjs";

const TIMEOUT_MS = 15_000;
const WHY_RESULTS = 6;
const SURE = "--yes";

const MOST_LINES = 20;

function listed(title, lines) {
  const shown = lines.slice(0, MOST_LINES).map((line) => `- ${line.trim().replace(/^[-*] /, "")}`);
  return [title, ...shown, ...(lines.length > MOST_LINES ? [`and ${lines.length - MOST_LINES} more`] : [])].join("\n");
}

async function remember({ call }, text) {
  const { captured = [], path, warning } = await call("memory_capture", { text });
  const said = captured.length ? listed(`Kept in ${path}:`, captured.map((each) => each.text)) : "Nothing new to keep: the memory has it.";
  return warning ? `${said}\n${warning}` : said;
}

async function why({ call }, query) {
  const { results, goodMatch, warning } = await call("graph_recall", { query, maxResults: WHY_RESULTS });
  const notes = results.map(({ date, snippet, citation }) => `${date ? `${date}: ` : ""}${snippet.trim().replace(/\s*\n\s*/g, " ")} (${citation})`);
  const title = goodMatch === false ? "The notes do not say it; what is nearest:" : "From the notes, in order of time:";
  return [notes.length ? listed(title, notes) : "The notes say nothing about it.", ...(warning ? [warning] : [])].join("\n");
}

async function forget({ cli }, given) {
  const sure = given.startsWith(`${SURE} `);
  const words = sure ? given.slice(SURE.length).trim() : given;
  const report = await cli(["forget", `--query=${words}`, sure ? SURE : "--dry-run", "--json"]);
  if (report.error) return `Nothing was forgotten: ${report.error.message ?? report.error}`;
  if (!report.texts.length) return "The memory has nothing with all of these words.";
  const texts = report.texts.map(({ text, citation }) => `${text} (${citation})`);
  const said = [listed(sure ? "Forgotten:" : "This would be forgotten, for good:", texts)];
  if (report.remains.length) said.push(listed("Your own files still have it:", report.remains));
  if (!sure) said.push(`To forget it: /forget ${SURE} ${words}`);
  return said.join("\n");
}

/** Of a client of the gateway the scope is asked, in a chat the sender must be the owner. */
const COMMANDS = {
  remember: { does: remember, scope: "operator.admin", description: "Write something into memory as you say it", wants: "what to remember" },
  why: { does: why, scope: "operator.write", description: "What the notes say about something, and how it came about", wants: "a question" },
  forget: { does: forget, scope: "operator.admin", description: "Show what memory has with all of these words, and forget it", wants: "the words" },
};

/** Register the commands. */
export function registerCommands(api, host) {
  for (const [name, { does, scope, description, wants }] of Object.entries(COMMANDS)) {
    const handler = async (ctx) => {
      const given = (ctx.args ?? "").trim();
      if (!given) return { text: `Say ${wants}: /${name} …` };
      const subject = host.subjectOf(ctx);
      if (!subject) return { text: "This agent has no memory." };
      const where = { agent: subject.agentId, workspace: subject.workspaceDir };
      const call = (tool, args) => host.memory().call(tool, args, { ...where, timeoutMs: TIMEOUT_MS });
      const cli = async (words) => {
        const { command } = await findExecutable({ command: host.config.command, stateDir: host.stateDir() });
        const env = childEnvironment(process.env, host.stateDir());
        return JSON.parse((await run(command, [...serverArguments(host.config, where), ...words], env, { capture: true })).output);
      };
      try {
        return { text: escaped(await does({ call, cli }, given)) };
      } catch (error) {
        return { text: describe(error) };
      }
    };
    api.registerCommand({ name, description, acceptsArgs: true, requiredScopes: [scope], handler });
  }
}
