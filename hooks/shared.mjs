/** What all copies of these modules know: OpenClaw loads several into one process, each with variables of its own. */

const STATE = Symbol.for("openclaw-memory.state.v1");
const MOST = 500;

/** The state of this name, for every copy the same; whoever asks first makes it. */
export function shared(name, make = () => new Map()) {
  const states = (globalThis[STATE] ??= new Map());
  if (!states.has(name)) states.set(name, make());
  return states.get(name);
}

/** Set a key of a map that keeps the newest `most`. */
export function remember(map, key, value, most = MOST) {
  map.delete(key);
  map.set(key, value);
  if (map.size > most) map.delete(map.keys().next().value);
}
