/**
 * A client of the Model Context Protocol over the standard streams of a child process.
 *
 * One JSON-RPC message a line. Only what a tool client needs: the handshake, `tools/call` with progress,
 * deadlines and cancellation. https://modelcontextprotocol.io/specification/2025-11-25
 */

export const PROTOCOL_VERSION = "2025-11-25";

// Whoever catches one of these errors looks at its `name`: OpenClaw loads several copies of these modules into one
// process, each with classes of its own.

/** What the server says when a tool failed: the message is meant for people, `kind` tells whose fault it was. */
export class ToolError extends Error {
  name = "ToolError";
  /** @param {string} message @param {"request" | "workspace" | "failed"} [kind] */
  constructor(message, kind = "failed") {
    super(message);
    this.kind = kind;
  }
}

/** A call that was not answered by its deadline. */
export class DeadlineError extends Error {
  name = "DeadlineError";
}

/** The process behind the client has ended, or never started. */
export class ConnectionError extends Error {
  name = "ConnectionError";
}

/** A longer line ends the connection. */
const MAX_LINE_CHARS = 64 * 1024 * 1024;
const END_GRACE_MS = 500;

export class McpClient {
  #output;
  #input;
  #pending = new Map();
  #nextId = 1;
  #buffer = [];
  #buffered = 0;
  #closed = null;
  #onBusy;
  #onClosed;

  /**
   * @param {import("node:stream").Readable} output what the server writes
   * @param {import("node:stream").Writable} input what the server reads
   * @param {{onBusy?: (busy: boolean) => void, onNoise?: (line: string) => void,
   *   onClosed?: (error: Error) => void}} [options] `onBusy` is told when the first call starts and when the last one has
   *   ended; `onNoise` gets lines that are no JSON; `onClosed` hears why no call will be answered any more
   */
  constructor(output, input, options = {}) {
    this.#output = output;
    this.#input = input;
    this.#onBusy = options.onBusy ?? (() => {});
    this.#onClosed = options.onClosed ?? (() => {});
    this.onNoise = options.onNoise ?? (() => {});
    output.setEncoding("utf8");
    output.on("data", (text) => this.#read(text));
    output.on("error", (error) => this.close(new ConnectionError(`its output broke: ${error.message}`)));
    // Whoever started the process says why it ended, a moment later.
    output.on("end", () => {
      const timer = setTimeout(() => this.close(new ConnectionError("the process ended")), END_GRACE_MS);
      if (!this.#pending.size) timer.unref();
    });
    input.on("error", (error) => this.close(new ConnectionError(`its input broke: ${error.message}`)));
  }

  /** When the server last said anything, in milliseconds since the epoch. */
  lastHeard = 0;

  /** The handshake; resolves to the server's `{name, version}`. */
  async initialize(clientInfo, timeoutMs) {
    const result = await this.request(
      "initialize",
      { protocolVersion: PROTOCOL_VERSION, capabilities: {}, clientInfo },
      { timeoutMs },
    );
    this.#send({ jsonrpc: "2.0", method: "notifications/initialized" });
    return result.serverInfo ?? {};
  }

  /**
   * Call a tool; resolves to its structured content.
   *
   * @param {string} name
   * @param {object} args
   * @param {{meta?: object, timeoutMs?: number, signal?: AbortSignal, onProgress?: (p: object) => void}} [options]
   * @throws {ToolError} the tool failed @throws {DeadlineError} no answer in time
   * @throws {ConnectionError} the process is gone
   */
  async callTool(name, args, options = {}) {
    const result = await this.request("tools/call", { name, arguments: args ?? {} }, options);
    const text = (result.content ?? [])
      .filter((part) => part.type === "text")
      .map((part) => part.text)
      .join("\n");
    if (result.isError) throw new ToolError(text || `${name} failed`, result._meta?.["openclaw-memory/error"]);
    if (result.structuredContent !== undefined) return result.structuredContent;
    return JSON.parse(text);
  }

  /** Send a request; resolves to its result. */
  request(method, params, { meta, timeoutMs, signal, onProgress } = {}) {
    if (this.#closed) return Promise.reject(this.#closed);
    if (signal?.aborted) return Promise.reject(abortReason(signal));
    const id = this.#nextId++;
    const _meta = { ...meta, ...(onProgress ? { progressToken: id } : {}) };
    return new Promise((resolve, reject) => {
      const entry = { resolve, reject, onProgress, timer: undefined, unsubscribe: undefined };
      const give_up = (error, reason) => {
        if (!this.#settle(id)) return;
        if (method !== "initialize") {
          this.#send({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: id, reason } });
        }
        reject(error);
      };
      if (timeoutMs) {
        entry.timer = setTimeout(
          () => give_up(new DeadlineError(`no answer within ${seconds(timeoutMs)}`), "deadline"),
          timeoutMs,
        );
      }
      if (signal) {
        const onAbort = () => give_up(abortReason(signal), "aborted by the host");
        signal.addEventListener("abort", onAbort, { once: true });
        entry.unsubscribe = () => signal.removeEventListener("abort", onAbort);
      }
      this.#pending.set(id, entry);
      if (this.#pending.size === 1) this.#onBusy(true);
      const withMeta = Object.keys(_meta).length ? { ...params, _meta } : params;
      this.#send({ jsonrpc: "2.0", id, method, params: withMeta });
    });
  }

  /** Stop reading and reject everything that waits; later calls are rejected with the same error. */
  close(error = new ConnectionError("closed")) {
    if (this.#closed) return;
    this.#closed = error;
    this.#output.removeAllListeners("data");
    this.#output.destroy();
    this.#buffer = [];
    for (const id of [...this.#pending.keys()]) {
      const entry = this.#pending.get(id);
      this.#settle(id);
      entry.reject(error);
    }
    this.#onClosed(error);
  }

  #settle(id) {
    const entry = this.#pending.get(id);
    if (!entry) return undefined;
    this.#pending.delete(id);
    clearTimeout(entry.timer);
    entry.unsubscribe?.();
    if (!this.#pending.size) this.#onBusy(false);
    return entry;
  }

  #send(message) {
    if (this.#closed || this.#input.destroyed || this.#input.writableEnded) return;
    this.#input.write(`${JSON.stringify(message)}\n`);
  }

  #read(text) {
    this.lastHeard = Date.now();
    let from = 0;
    for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", from)) {
      this.#buffer.push(text.slice(from, at));
      const line = this.#buffer.join("");
      this.#buffer = [];
      this.#buffered = 0;
      from = at + 1;
      if (line.trim()) this.#receive(line);
    }
    if (from < text.length) {
      this.#buffer.push(text.slice(from));
      this.#buffered += text.length - from;
      if (this.#buffered > MAX_LINE_CHARS) this.close(new ConnectionError("a line of its output has no end"));
    }
  }

  #receive(line) {
    let message;
    try {
      message = JSON.parse(line);
    } catch {
      harmlessly(() => this.onNoise(line));
      return;
    }
    if (message === null || typeof message !== "object") return;
    if (message.method === undefined) this.#answered(message);
    else if (message.method === "notifications/progress") {
      harmlessly(() => this.#pending.get(message.params?.progressToken)?.onProgress?.(message.params));
    } else if (message.id !== undefined) {
      // A request of the server: only a ping is known.
      const known = message.method === "ping";
      this.#send({
        jsonrpc: "2.0",
        id: message.id,
        ...(known ? { result: {} } : { error: { code: -32601, message: `no method ${message.method}` } }),
      });
    }
  }

  #answered(message) {
    const entry = this.#settle(message.id);
    if (!entry) return; // answered after its deadline
    if (message.error) entry.reject(new ToolError(message.error.message ?? "the server refused the call"));
    else entry.resolve(message.result ?? {});
  }
}

/** What a caller does with news must not end the reading of them. */
function harmlessly(tell) {
  try {
    tell();
  } catch {
    // it was told
  }
}

export function abortReason(signal) {
  return signal.reason instanceof Error ? signal.reason : new DOMException("The call was aborted", "AbortError");
}

/** `1500` as `1.5 s`. */
export function seconds(ms) {
  return `${Math.round(ms / 100) / 10} s`;
}
