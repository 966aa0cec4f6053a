import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import path from "node:path";
import { PassThrough } from "node:stream";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

import { ConnectionError, McpClient, PROTOCOL_VERSION } from "../../hooks/mcp.mjs";

const SERVER = path.join(path.dirname(fileURLToPath(import.meta.url)), "fake-server.mjs");

async function connected(t, options) {
  const child = spawn(process.execPath, [SERVER], { stdio: ["pipe", "pipe", "inherit"] });
  t.after(() => child.kill("SIGKILL"));
  const client = new McpClient(child.stdout, child.stdin, options);
  const server = await client.initialize({ name: "test", version: "1" }, 10_000);
  assert.equal(server.name, "fake");
  return client;
}

test("progress comes before the answer", async (t) => {
  const client = await connected(t);
  const seen = [];
  const result = await client.callTool("progress", {}, { onProgress: (step) => seen.push([step.progress, step.total, step.message]) });
  assert.deepEqual(result, { done: true });
  assert.deepEqual(seen, [[1, 2, "embedding"], [2, 2, "embedding"]]);
});

test("a message that comes in pieces is put together, characters too", async (t) => {
  const client = await connected(t);
  assert.deepEqual(await client.callTool("split", {}), { text: "größer 🐇" });
});

test("a failed tool is an error with the server's words", async (t) => {
  const client = await connected(t);
  await assert.rejects(client.callTool("fail", {}), { name: "ToolError", message: "the index is locked by process 42" });
  await assert.rejects(client.callTool("refuse", {}), { name: "ToolError", message: "no tool refuse" });
});

test("what waits is rejected when the process ends, and so is what comes later", async (t) => {
  const client = await connected(t);
  const waiting = client.callTool("hang", {});
  await assert.rejects(Promise.all([waiting, client.callTool("die", {})]), { name: "ConnectionError" });
  await assert.rejects(client.callTool("echo", {}), ConnectionError);
});

test("of a line without an end no more is read than the limit", async () => {
  const output = new PassThrough();
  const closed = [];
  const client = new McpClient(output, new PassThrough(), { onClosed: (error) => closed.push(error.message) });
  const waiting = client.callTool("echo", {});
  const piece = Buffer.alloc(1024 * 1024, "x");
  let pieces = 0;
  while (!output.destroyed && pieces < 100) {
    pieces += 1;
    if (!output.write(piece)) await new Promise((resolve) => output.once("drain", resolve).once("close", resolve));
  }
  await assert.rejects(waiting, { name: "ConnectionError", message: /no end/ });
  assert.ok(output.destroyed && pieces <= 66, `${pieces} MB were taken`);
  assert.equal(output.listenerCount("data"), 0);
  assert.equal(closed.length, 1);
});

test("busy is told once for calls that overlap", async (t) => {
  const told = [];
  const client = await connected(t, { onBusy: (busy) => told.push(busy) });
  told.length = 0;
  await Promise.all([client.callTool("echo", {}), client.callTool("echo", {}), client.callTool("progress", {}, { onProgress() {} })]);
  assert.deepEqual(told, [true, false]);
});

test("a request of the server is answered: ping, and no to everything else", async () => {
  const fromServer = new PassThrough();
  const toServer = new PassThrough();
  new McpClient(fromServer, toServer);
  fromServer.write('{"jsonrpc":"2.0","id":7,"method":"ping"}\n{"jsonrpc":"2.0","id":8,"method":"roots/list"}\nnull\n[]\n42\n');
  await new Promise((resolve) => setTimeout(resolve, 50));
  const sent = toServer.read().toString().trim().split("\n").map((line) => JSON.parse(line));
  assert.deepEqual(sent[0], { jsonrpc: "2.0", id: 7, result: {} });
  assert.equal(sent[1].id, 8);
  assert.equal(sent[1].error.code, -32601);
});

test("the handshake names the protocol and is confirmed", async () => {
  const fromServer = new PassThrough();
  const toServer = new PassThrough();
  const client = new McpClient(fromServer, toServer);
  const ready = client.initialize({ name: "x", version: "1" }, 5000);
  const asked = JSON.parse(toServer.read().toString());
  assert.equal(asked.params.protocolVersion, PROTOCOL_VERSION);
  fromServer.write(`${JSON.stringify({ jsonrpc: "2.0", id: asked.id, result: { serverInfo: { name: "s" } } })}\n`);
  await ready;
  assert.equal(JSON.parse(toServer.read().toString()).method, "notifications/initialized");
});
