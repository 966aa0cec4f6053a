/** What OpenClaw resolves, in one process: for each environment, a line of JSON, its configuration and workspaces. */
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

const sdk = pathToFileURL(`${process.argv[2]}/openclaw/dist/plugin-sdk/`);
const { listAgentIds, resolveAgentWorkspaceDir } = await import(new URL("agent-runtime.js", sdk));
const { readConfigFileSnapshotForWrite } = await import(new URL("config-runtime.js", sdk));

for await (const line of createInterface({ input: process.stdin })) {
  for (const name of Object.keys(process.env)) delete process.env[name];
  Object.assign(process.env, JSON.parse(line));
  const { path, config } = (await readConfigFileSnapshotForWrite()).snapshot;
  const workspaces = Object.fromEntries(listAgentIds(config).map((id) => [id, resolveAgentWorkspaceDir(config, id)]));
  process.stdout.write(`${JSON.stringify({ path, workspaces })}\n`);
}
