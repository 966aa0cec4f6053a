"use strict";
/* What every view needs: the data, words and days, elements, the theme.  Text of notes is only ever a text node. */

const data = JSON.parse(document.getElementById("data").textContent);
const lines = data.lines, net = data.network, N = lines.text.length, C = net.name.length;
/** The lines but for what summaries repeat. */
const once = d3.range(N).filter((i) => !lines.repeats[i]);
const state = { view: "concepts", concept: null, query: "", words: [], days: null, concepts: null };
const views = {};

/** An element: attributes by name, listeners as `onclick`, children as elements or texts. */
function el(tag, given = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(given)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (name === "tint") made.style.setProperty("--tint", value);
    else made.setAttribute(name, value === true ? "" : value);
  }
  made.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return made;
}

const EPOCH = 719163; // the ordinal of 1970-01-01
const dateOf = (ordinal) => new Date((ordinal - EPOCH) * 864e5);
const ordinalOf = (date) => Math.floor(date.getTime() / 864e5) + EPOCH;
const written = d3.utcFormat("%-d %b %Y");
const inWords = (ordinal) => (ordinal ? written(dateOf(ordinal)) : "");
const thousands = d3.format(",");
const counted = (n, one, many = `${one}s`) => `${thousands(n)} ${n === 1 ? one : many}`;
const size = (bytes) => (bytes < 1e6 ? `${Math.max(1, Math.round(bytes / 1e3))} kB` : `${d3.format(".1f")(bytes / 1e6)} MB`);
const still = matchMedia("(prefers-reduced-motion: reduce)").matches;

/** A span of days: one day, or from a day to a day. */
function span(first, last) {
  if (!first && !last) return "";
  return first === last ? inWords(first) : `${inWords(first)} – ${inWords(last)}`;
}

/** When a fact held that holds no longer. */
const until = (fact) => (fact.from ? span(fact.from, fact.to) : `until ${inWords(fact.to)}`);

/** Whether something of these days is within the chosen ones; without a day it is not. */
const inDays = (from, to = from) => !state.days || Boolean(from && from <= state.days[1] && to >= state.days[0]);
const lineInDays = (i) => inDays(lines.day[i]);
const conceptInDays = (c) => !state.concepts || state.concepts.has(c);
const factInDays = (fact) => inDays(fact.from ?? fact.to, fact.to ?? Infinity);

const placeOf = (i) => `${lines.files[lines.file[i]]}:${lines.line[i]}`;
const byConcept = Array.from({ length: C }, () => []);
for (const i of once) for (const c of lines.concepts[i]) byConcept[c].push(i);
const neighbours = Array.from({ length: C }, () => []);
for (const [a, b, weight] of net.links) {
  neighbours[a].push([b, weight]);
  neighbours[b].push([a, weight]);
}
for (const near of neighbours) near.sort((a, b) => b[1] - a[1]);
const factsOf = new Map();
for (const fact of data.facts) if (fact.concept !== undefined) factsOf.set(fact.concept, [...(factsOf.get(fact.concept) ?? []), fact]);

/* colours */
const KIND_NAMES = { "": "name or phrase", tag: "tag", note: "note", code: "code" };
const kindName = (kind) => KIND_NAMES[kind] ?? kind;
/** Communities of the network, the largest first, by the concepts that are mentioned most in them; the last has the others. */
const COMMUNITIES = 7;
const slotOf = (c) => (net.community[c] < 0 ? COMMUNITIES : Math.min(net.community[c], COMMUNITIES));
const communities = d3.range(COMMUNITIES + 1).map((slot) => {
  const members = d3.range(C).filter((c) => slotOf(c) === slot).sort((a, b) => net.units[b] - net.units[a]);
  return { slot, members, name: slot === COMMUNITIES ? "others" : members.slice(0, 2).map((c) => net.name[c]).join(", ") };
});
const tintOf = (c) => (net.community[c] < 0 ? COMMUNITIES : net.community[c] % COMMUNITIES);
const conceptColour = (c) => `var(--c${tintOf(c)})`;
let paint = {};
function readPaint() {
  const style = getComputedStyle(document.documentElement);
  paint = Object.fromEntries(
    ["bg", "card", "ink", "soft", "faint", "line", "edge", "accent", ...d3.range(8).map((i) => `c${i}`)].map((name) => [name, style.getPropertyValue(`--${name}`).trim()]),
  );
}

const preferred = matchMedia("(prefers-color-scheme: dark)");
let chosen = null;
function applyTheme() {
  document.documentElement.dataset.theme = chosen ?? (preferred.matches ? "dark" : "light");
  readPaint();
  views[state.view]?.redraw?.();
}
function toggleTheme() {
  chosen = document.documentElement.dataset.theme === "dark" ? "light" : "dark";
  applyTheme();
}

/* words of a search */
const plain = (text) => text.normalize("NFKC").toLowerCase();
const lower = { lines: null, concepts: null, facts: null };
function lowered() {
  lower.lines ??= lines.text.map((text, i) => plain(`${text} ${lines.files[lines.file[i]]}`));
  lower.concepts ??= net.name.map((name, c) => plain([name, ...net.aliases[c]].join(" ")));
  lower.facts ??= data.facts.map((fact) => plain(`${fact.s} ${fact.p} ${fact.o}`));
  return lower;
}
const has = (text) => state.words.every((word) => text.includes(word));
/** The places of the texts that hold every word of the search. */
const found = (texts) => d3.range(texts.length).filter((i) => has(texts[i]));

/** A text with the words of the search marked. */
function marked(text) {
  const folded = plain(text);
  if (!state.words.length || folded.length !== text.length) return [text];
  const cuts = new Uint8Array(text.length);
  for (const word of state.words) for (let at = folded.indexOf(word); at >= 0; at = folded.indexOf(word, at + word.length)) cuts.fill(1, at, at + word.length);
  const out = [];
  for (let from = 0, to; from < text.length; from = to) {
    for (to = from + 1; to < text.length && cuts[to] === cuts[from]; ) to += 1;
    out.push(cuts[from] ? el("mark", {}, text.slice(from, to)) : text.slice(from, to));
  }
  return out;
}

const tip = document.getElementById("tip");
/** Show a tooltip near a place of the screen, or none. */
function showTip(x, y, ...content) {
  tip.hidden = !content.length;
  if (tip.hidden) return;
  tip.replaceChildren(...content);
  const box = tip.getBoundingClientRect();
  tip.style.left = `${Math.max(8, Math.min(x + 14, innerWidth - box.width - 8))}px`;
  tip.style.top = `${y + 18 + box.height > innerHeight ? Math.max(8, y - box.height - 12) : y + 18}px`;
}
const hideTip = () => showTip(0, 0);
function lineTip(i) {
  const text = lines.text[i];
  return [el("span", { dir: "auto" }, text.length > 200 ? `${text.slice(0, 198)} …` : text), el("small", {}, placeOf(i), lines.day[i] ? ` · ${inWords(lines.day[i])}` : "")];
}
