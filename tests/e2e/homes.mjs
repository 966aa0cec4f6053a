/** What OpenClaw resolves, in one process: for each environment and profile, a line of JSON, its configuration and workspaces. */
import { readdirSync } from "node:fs";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

const sdk = pathToFileURL(`${process.argv[2]}/openclaw/dist/plugin-sdk/`);
const { listAgentIds, resolveAgentWorkspaceDir } = await import(new URL("agent-runtime.js", sdk));
const { readConfigFileSnapshotForWrite } = await import(new URL("config-runtime.js", sdk));
// What `--profile` does before anything else; no part of the SDK.
const dist = new URL("..", sdk);
const modules = readdirSync(dist).filter((name) => /^profile-.*\.mjs$/.test(name));
const applied = (await Promise.all(modules.map((name) => import(new URL(name, dist))))).flatMap(Object.values);
const applyProfile = applied.find(({ name }) => name === "applyCliProfileEnv");

for await (const line of createInterface({ input: process.stdin })) {
  for (const name of Object.keys(process.env)) delete process.env[name];
  const { environ, profile } = JSON.parse(line);
  Object.assign(process.env, environ);
  if (profile) applyProfile({ profile });
  const { path, config } = (await readConfigFileSnapshotForWrite()).snapshot;
  const workspaces = Object.fromEntries(listAgentIds(config).map((id) => [id, resolveAgentWorkspaceDir(config, id)]));
  process.stdout.write(`${JSON.stringify({ path, workspaces })}\n`);
}
