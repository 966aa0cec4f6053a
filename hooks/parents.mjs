/** Which agent started a sub-agent: told once by the host, and known to every copy of these modules. */

import { remember, shared } from "./shared.mjs";

const MOST = 1000; // sessions that are remembered

const parents = () => shared("parents");

/** The agent that a session key such as `agent:main:direct:…` names. */
export function agentOf(sessionKey) {
  return /^agent:([^:]+):/.exec(sessionKey ?? "")?.[1];
}

/** The agent that started the session, if another one did and the host said so. */
export function parentOf(sessionKey) {
  return parents().get(sessionKey);
}

/** Remember who starts whom. */
export function registerParents(api) {
  api.on("subagent_spawned", (event, ctx) => {
    const child = event?.childSessionKey ?? ctx?.childSessionKey;
    const parent = agentOf(ctx?.requesterSessionKey);
    if (!child || !parent || parent === (event?.agentId ?? agentOf(child))) return; // its own memory is the parent's
    remember(parents(), child, parent, MOST);
  });
  api.on("subagent_ended", (event) => void parents().delete(event?.targetSessionKey));
}
