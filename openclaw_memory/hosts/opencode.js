/** openclaw-memory in opencode: the memory's tools, its brief and context beside messages, and what it captures. */

import { spawn } from "node:child_process";

const HOOK = [];
const SERVER = [];
const MOST_MS = 10_000;

/** What the memory adds at an event; "" whatever goes wrong. */
function ask(event, sessionID, fields = {}) {
  return new Promise((resolve) => {
    let out = "";
    const child = spawn(HOOK[0], HOOK.slice(1), { stdio: ["pipe", "pipe", "ignore"], timeout: MOST_MS });
    child.on("error", () => resolve(""));
    child.stdin.on("error", () => {});
    child.stdout.setEncoding("utf8").on("data", (chunk) => { out += chunk; });
    child.on("close", () => {
      try {
        resolve(JSON.parse(out).additional_context);
      } catch {
        resolve("");
      }
    });
    child.stdin.end(JSON.stringify({ hook_event_name: event, session_id: sessionID, ...fields }));
  }).catch(() => "");
}

const textOf = (parts) => parts.filter((part) => part.type === "text" && !part.synthetic).map((part) => part.text).join("\n");

export const OpenclawMemory = async ({ client }) => {
  const begun = new Set(); // sessions whose model has seen the brief

  return {
    config: async (config) => {
      config.mcp = { "openclaw-memory": { type: "local", command: SERVER }, ...config.mcp };
    },

    "chat.message": async ({ sessionID }, { message, parts }) => {
      const prompt = textOf(parts);
      const brief = begun.has(sessionID) ? "" : await ask("session.created", sessionID);
      begun.add(sessionID);
      const texts = [brief, prompt && (await ask("chat.message", sessionID, { prompt }))].filter(Boolean);
      const id = () => `prt_${Date.now().toString(16).padStart(12, "0")}${Math.random().toString(36).slice(2, 16).padEnd(14, "0")}`;
      for (const text of texts) parts.push({ id: id(), sessionID, messageID: message.id, type: "text", text, synthetic: true });
    },

    event: async ({ event }) => {
      const { sessionID } = event.properties ?? {};
      if (event.type === "session.compacted") begun.delete(sessionID);
      if (event.type !== "session.idle") return;
      const found = await client.session.messages({ path: { id: sessionID } }).catch(() => undefined);
      const reply = found?.data?.findLast(({ info }) => info.role === "assistant");
      await ask("session.idle", sessionID, { text: textOf(reply?.parts ?? []) });
    },

    "experimental.session.compacting": async ({ sessionID }) => {
      await ask("experimental.session.compacting", sessionID);
    },
  };
};
