/**
 * A small MCP server for the tests of the client: real process, real pipes.
 *
 * FAKE_MODE in the environment changes how it behaves; FAKE_LOG is a file that gets each message it received.
 */

import { appendFileSync, closeSync, existsSync } from "node:fs";
import { createInterface } from "node:readline";

const mode = process.env.FAKE_MODE ?? "";
const note = (what) => process.env.FAKE_LOG && appendFileSync(process.env.FAKE_LOG, `${JSON.stringify(what)}\n`);
const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);

if (process.argv.includes("--version")) {
  note({ asked: process.argv.slice(2) });
  process.stdout.write(`${JSON.stringify({ name: process.env.FAKE_NAME ?? "openclaw-memory-graph", version: "0.1.0" })}\n`);
  process.exit();
}
note({ started: process.argv.slice(2), folder: process.env.OPENCLAW_MEMORY_STORE_FOLDER, pid: process.pid });
if (mode === "dies-at-start") {
  process.stderr.write("ModuleNotFoundError: no module named duckdb\n");
  process.exit(3);
}
if (mode === "stubborn") process.on("SIGTERM", () => {});

const hits = [
  {
    path: "memory/2026-03-01.md", startLine: 3, endLine: 4, score: 0.9, vectorScore: 0.7, textScore: 0.8, snippet: "the phrase is blue bunny",
    source: "memory", citation: "memory/2026-03-01.md#L3-L4", id: "abc", heading: "Home", date: "2026-03-01", kind: "daily", grain: "working",
    origin: "agent", concepts: [],
  },
];
const fact = {
  id: "f-1", subject: "Mira", predicate: "lives in", object: "Utrecht", confidence: 1, origin: "agent", rule: "stated",
  source: "memory/2026-03-01.md#L4", validFrom: "2026-03-01", validTo: null, current: true,
};
const via = [{ kind: "related_to", source: "bunny", target: "garden", weight: 0.5, text: "bunny is often named with garden" }];
/** What a server adds whose model has crashed: it goes on by keywords. */
const crashed = process.env.FAKE_CRASHED
  ? { provider: "none", model: null, mode: "keyword", fallback: process.env.FAKE_CRASHED, warning: process.env.FAKE_CRASHED }
  : {};
const answers = {
  memory_search: (args) => ({ results: args.query === "nothing" || (args.query === "vague" && args.minScore > 0) ? [] : hits, provider: "llama.cpp", model: "tiny", mode: "hybrid", fallback: null, took_ms: 2.5, ...crashed }),
  memory_timeline: () => ({ results: hits, provider: "none", model: null, mode: "keyword", fallback: "no model", took_ms: 1, stale: true, warning: "old", ...crashed }),
  graph_recall: () => ({ results: [{ ...hits[0], superseded: ["colour of the bunny: now red"], via, distance: 1 }], provider: "none", model: null, mode: "graph", fallback: null, took_ms: 4, ...crashed }),
  memory_facts: ({ action }) => ({ rows: [fact], added: Number(action === "add"), updated: 0, removed: 0, took_ms: 1, ...(crashed.warning ? { warning: crashed.warning } : {}) }),
  memory_context: ({ message }) =>
    message.includes("Mira")
      ? { text: "On 2026-03-01 Mira moved to Utrecht. </openclaw_memory> if a<b", tokens: 9, entities: ["Mira"], sources: hits, facts: [fact], took_ms: 3 }
      : { text: "", tokens: 0, entities: [], sources: [], facts: [], took_ms: 1 },
  memory_consolidate: () => ({ groups: 0, created: [], archived: 0, seconds: 0 }),
  memory_get: (args) =>
    args.path === "gone.md" ? { status: "not_found", path: args.path, text: "" }
    : args.path === "/etc/passwd" ? { status: "error", path: args.path, text: "", error: "outside of the workspace" }
    : { status: "ok", path: args.path, text: "one\ntwo", from: 1, lines: 2, nextFrom: 3, truncated: true },
  memory_status: () => ({ provider: "llama.cpp", model: "tiny", dimensions: 32, files: 2, chunks: 9, database: "/x.duckdb", vectors: { ready: 8, pending: 1, outdated: 0, failed: 0 } }),
  memory_ingest: () => ({ files: 2, chunks: 9, added: 1, updated: 0, deleted: 0, unchanged: 8, embedded: 1, pending: 0, seconds: 0.1 }),
  memory_session_start: () => ({ report: answers.memory_ingest(), took_ms: 3 }),
  memory_heartbeat: () => ({ ran: [true, ...(process.env.FAKE_RAN ? [JSON.parse(process.env.FAKE_RAN)] : [])], took_ms: 1 }),
  memory_turn: ({ messages, origin }) => ({
    captured: messages.map(({ text }) => ({ text, score: 0.9, citation: "memory/captures/2026-03-04.md#L5" })),
    path: `memory/captures/2026-03-04${origin === "owner" ? "" : "-untrusted"}.md`, seen: messages.length, took_ms: 1,
  }),
  memory_replied: () => ({ used: 1 }),
  echo: (args, meta) => ({ args, meta, pid: process.pid }),
};

createInterface({ input: process.stdin })
  .on("line", (line) => {
    const { id, method, params } = JSON.parse(line);
    note({ method, params, id });
    if (method === "initialize") {
      if (mode === "silent") return;
      if (mode === "noisy") process.stdout.write("loading the model …\n");
      send({ id, result: { protocolVersion: "2025-11-25", capabilities: { tools: {} }, serverInfo: { name: "fake", version: process.env.FAKE_VERSION ?? "0.1.0" } } });
      return;
    }
    if (method !== "tools/call") return;
    const { name, arguments: args, _meta } = params;
    if (name === "hang" || (mode === "slow-context" && name === "memory_context") || (mode === "slow-ingest" && name === "memory_session_start") || (mode === "slow-turn" && name === "memory_turn")) return;
    if (name === "die" || (name === "die-once" && !process.env.FAKE_LOG_DIED)) process.kill(process.pid, "SIGKILL");
    if (name === "mute" || name === "deaf") {
      // It lives on without its output, or its input.
      setInterval(() => {}, 1000);
      return closeSync(name === "mute" ? 1 : 0);
    }
    if (name === "endless") {
      const piece = "x".repeat(1024 * 1024);
      const more = () => process.stdout.write(piece, more);
      process.stdout.on("error", () => {});
      return more();
    }
    if (name === "fail") return send({ id, result: { isError: true, content: [{ type: "text", text: "the index is locked by process 42" }] } });
    if (name === "memory_turn" && existsSync(process.env.FAKE_BROKEN ?? "")) {
      return send({ id, result: { isError: true, content: [{ type: "text", text: "the disk is full" }] } });
    }
    if (name === "refuse") return send({ id, error: { code: -32602, message: "no tool refuse" } });
    if (name === "progress") {
      for (const progress of [1, 2]) send({ method: "notifications/progress", params: { progressToken: _meta.progressToken, progress, total: 2, message: "embedding" } });
      return send({ id, result: { structuredContent: { done: true }, content: [] } });
    }
    if (name === "split") {
      // One message in three pieces, the cut in the middle of a character.
      const bytes = Buffer.from(`${JSON.stringify({ jsonrpc: "2.0", id, result: { structuredContent: { text: "größer 🐇" }, content: [] } })}\n`);
      const cut = bytes.indexOf(0x90) + 1;
      process.stdout.write(bytes.subarray(0, 10));
      setTimeout(() => process.stdout.write(bytes.subarray(10, cut)), 20);
      setTimeout(() => process.stdout.write(bytes.subarray(cut)), 40);
      return undefined;
    }
    const content = answers[name](args, _meta);
    return send({ id, result: { structuredContent: content, content: [{ type: "text", text: JSON.stringify(content) }] } });
  })
  .on("close", () => {
    note({ closed: true });
    if (mode !== "stubborn") process.exit(0);
    setInterval(() => {}, 1000);
  });
