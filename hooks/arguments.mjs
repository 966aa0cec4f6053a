/** Reading what a model wrote as a tool's arguments, in the forms that models write them. */

/** An argument that cannot be read; the message is for the model. */
export class ParameterError extends Error {}

/**
 * Arguments in the types of their schema, where it is plain what was meant: a host checks them against it next.
 *
 * What is blank counts as not given, and more than the most of something is the most.
 */
export function prepared({ properties }, params) {
  if (params === null || typeof params !== "object") return params;
  const meant = Object.entries(params).map(([name, value]) => [name, meantBy(properties[name] ?? {}, value)]);
  return Object.fromEntries(meant.filter(([, value]) => value !== undefined && value !== null && value !== ""));
}

function meantBy({ type, maximum }, value) {
  if (typeof value === "string") value = value.trim();
  if (value === "") return undefined;
  if (type === "boolean" && (value === "true" || value === "false")) return value === "true";
  if ((type === "integer" || type === "number") && typeof value === "string" && !Number.isNaN(Number(value))) value = Number(value);
  return type === "integer" && value > maximum ? maximum : value;
}

/** An object without what is undefined. */
export const given = (object) => Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined));

export const clamp = (value, low, high) => Math.min(high, Math.max(low, value));

const UNSEEN =
  /[\0-\x08\x0b-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\u{1bca0}-\u{1bca3}\u{1d173}-\u{1d17a}\u{e0000}-\u{e0fff}]/gu;

/** What may begin a turn in a chat's template; the box of a task, `[x]`, does not. */
const TURN = /<(?=[/|\uff5c\w])|\[(?=\/?[A-Z_]{3,}\])/g;

const unit = (at) => `\\u${at.charCodeAt(0).toString(16).padStart(4, "0")}`;

/** A value as JSON in which nothing acts: no terminal obeys it, and no model takes it for a turn. */
export const inertJson = (value, indent) => escaped(JSON.stringify(value, null, indent)).replace(TURN, unit);

/** Text in which what a terminal obeys or hides is escaped as JSON escapes it. */
export function escaped(text) {
  return text.replace(UNSEEN, (found) => found.split("").map(unit).join(""));
}
