/** Reading what a model wrote as a tool's arguments, in the forms that models write them. */

/** An argument that cannot be read; the message is for the model. */
export class ParameterError extends Error {}

/** JSON Schema of an object that has these properties and no others. */
export const closed = (required, properties) => ({ type: "object", properties, required, additionalProperties: false });

/** Text without blanks around it; `undefined` when there is none. */
export function text(params, name, required) {
  const value = params?.[name];
  if (typeof value === "string" && value.trim()) return value.trim();
  if (value !== undefined && value !== null && typeof value !== "string") throw new ParameterError(`${name} must be text`);
  if (required) throw new ParameterError(`${name} required`);
  return undefined;
}

/** A number; models send numbers as text now and then, and the built-in tools read those too. */
export function number(params, name, { integer = false, minimum = -Infinity, maximum = Infinity } = {}) {
  const given = params?.[name];
  if (given === undefined || given === null || given === "") return undefined;
  const value = typeof given === "string" ? Number(given) : given;
  if (typeof value !== "number" || !Number.isFinite(value) || (integer && !Number.isInteger(value)) || value < minimum || value > maximum) {
    const least = minimum > -Infinity ? ` of at least ${minimum}` : "";
    const most = maximum < Infinity ? `${least ? " and" : " of"} at most ${maximum}` : "";
    throw new ParameterError(`${name} must be ${integer ? "a whole number" : "a number"}${least}${most}`);
  }
  return value;
}

/** One of the `allowed` words. */
export function choice(params, name, allowed, required) {
  const value = text(params, name, required);
  if (value === undefined || allowed.includes(value)) return value;
  throw new ParameterError(`${name} must be one of: ${allowed.join(", ")}`);
}

/** Yes or no. */
export function flag(params, name) {
  const value = params?.[name];
  if (value === undefined || value === null || value === "") return undefined;
  if (typeof value === "boolean") return value;
  if (value === "true" || value === "false") return value === "true";
  throw new ParameterError(`${name} must be true or false`);
}

/** Several names; a single one may stand without its list. */
export function names(params, name) {
  const value = params?.[name];
  if (value === undefined || value === null) return undefined;
  const list = Array.isArray(value) ? value : [value];
  if (list.some((each) => typeof each !== "string")) throw new ParameterError(`${name} must be a list of names`);
  const kept = list.map((each) => each.trim()).filter(Boolean);
  return kept.length ? kept : undefined;
}

/** The same arguments with each of these as a list, for a host that checks them against the schema first. */
export function listed(params, ...lists) {
  if (params === null || typeof params !== "object") return params;
  const single = lists.filter((name) => typeof params[name] === "string");
  return single.length ? { ...params, ...Object.fromEntries(single.map((name) => [name, [params[name]]])) } : params;
}

/** An object without what is undefined. */
export const given = (object) => Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined));

export const clamp = (value, low, high) => Math.min(high, Math.max(low, value));

const UNSEEN =
  /[\0-\x08\x0b-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\u{1bca0}-\u{1bca3}\u{1d173}-\u{1d17a}\u{e0000}-\u{e0fff}]/gu;

/** Text, or JSON that says the same, in which what a terminal obeys or hides is escaped as JSON escapes it. */
export function escaped(text) {
  const unit = (at) => `\\u${at.charCodeAt(0).toString(16).padStart(4, "0")}`;
  return text.replace(UNSEEN, (found) => found.split("").map(unit).join(""));
}
