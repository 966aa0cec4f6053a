/** Which agent started a sub-agent: told once by the host, and known to every copy of these modules. */

const PARENTS = Symbol.for("openclaw-memory.parents.v1");
const MOST = 1000; // sessions that are remembered

const parents = () => (globalThis[PARENTS] ??= new Map());

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
    const known = parents();
    known.delete(child);
    known.set(child, parent);
    if (known.size > MOST) known.delete(known.keys().next().value);
  });
  api.on("subagent_ended", (event) => void parents().delete(event?.targetSessionKey));
}
