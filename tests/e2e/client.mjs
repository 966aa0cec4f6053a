/** A client of the gateway as OpenClaw's commands have one: for each line of JSON on its input a call, and a line with the answer. */
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

const sdk = pathToFileURL(`${process.argv[2]}/openclaw/dist/plugin-sdk/`);
const { callGatewayFromCli } = await import(new URL("gateway-runtime.js", sdk));

for await (const line of createInterface({ input: process.stdin })) {
  const { method, params, ...extra } = JSON.parse(line);
  const answer = await callGatewayFromCli(method, { timeout: "300000", json: true }, params, extra).then(
    (result) => ({ result }),
    (error) => ({ error: String(error) }),
  );
  process.stdout.write(`${JSON.stringify(answer)}\n`);
}
