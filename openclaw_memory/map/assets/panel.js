/* The panel beside a view: what was clicked or found, line by line. */

const panel = document.getElementById("panel");

function openPanel({ title, kicker, meta, close = true, intro = false }, ...body) {
  const shut = close && el("button", { type: "button", class: "icon", "aria-label": "Close", title: "Close (Esc)", onclick: closePanel }, "✕");
  panel.className = intro ? "intro" : "";
  panel.replaceChildren(
    el("div", { class: "head" }, el("div", {}, kicker && el("p", { class: "kicker" }, kicker), el("h2", { dir: "auto", tabindex: "-1" }, title)), shut),
    ...[meta && el("p", { class: "meta" }, meta), ...body.flat()].filter(Boolean),
  );
  panel.scrollTop = 0;
  document.getElementById("said").textContent = intro ? "" : [title, meta].filter(Boolean).join(". ");
}

function closePanel() {
  const search = document.getElementById("search");
  search.value = state.query = "";
  state.words = [];
  select(null);
  views[state.view].focus?.();
}

/** What the panel shows when nothing is chosen: what a view has to say of itself. */
function restPanel() {
  const rest = views[state.view].rest?.();
  if (rest) openPanel({ close: false, intro: true, ...rest[0] }, ...rest.slice(1));
  else panel.replaceChildren();
}

/** The first items of a list, and a button for more of them. */
function pieces(items, draw, step = 40) {
  const list = el("div");
  let shown = 0;
  const button = el("button", { type: "button", class: "more", onclick: () => more(5 * step) });
  const more = (count) => {
    list.append(...items.slice(shown, shown + count).map(draw));
    shown += count;
    button.textContent = `${thousands(items.length - shown)} more`;
    button.hidden = shown >= items.length;
  };
  more(step);
  return items.length > step ? [list, button] : [list];
}

function lineItem(i) {
  return el(
    "article", { class: "line" },
    el("p", { dir: "auto" }, marked(lines.text[i])),
    el(
      "div", { class: "under" }, citation(i), lines.day[i] ? el("time", {}, inWords(lines.day[i])) : null,
      lines.decided[i] ? el("span", { class: "tag" }, "decision") : null, lines.archived[i] ? el("span", {}, "archived") : null,
    ),
  );
}

/** A concept and its mentions; a click chooses it. */
function rankItem(c) {
  return el("button", { type: "button", class: "rank", tint: conceptColour(c), onclick: () => select(c) }, el("i", { class: "dot" }), el("span", { class: "name", dir: "auto" }, net.name[c]), el("span", { class: "n" }, thousands(net.units[c])));
}

/** Where a line is; a click copies it. */
function citation(i) {
  const place = placeOf(i);
  const copy = async () => {
    await navigator.clipboard?.writeText(place);
    document.getElementById("said").textContent = `Copied ${place}`;
  };
  return el("button", { type: "button", class: "where", title: "Copy", onclick: () => copy().catch(() => {}) }, place);
}

const newest = (some) => [...some].sort((a, b) => lines.day[b] - lines.day[a] || a - b);

function heading(text, note) {
  return el("h3", {}, text, note === undefined ? null : el("span", {}, note));
}

function lineList(some, total = some.length) {
  if (!some.length) return [];
  const note = total > some.length ? `${thousands(some.length)} of ${thousands(total)} are in this page` : thousands(total);
  return [heading("Lines", note), ...pieces(newest(some), lineItem)];
}

function chip(c) {
  return el("button", { type: "button", class: "chip", tint: conceptColour(c), onclick: () => select(c) }, el("i", { class: "dot" }), el("span", { dir: "auto" }, net.name[c]));
}

function factItem(fact) {
  const when = fact.from || fact.to ? (fact.to ? until(fact) : `since ${inWords(fact.from)}`) : "";
  return el(
    "article", { class: "line" },
    el("p", { dir: "auto" }, el("span", { class: "hint" }, marked(fact.s), ` ${fact.p} `), fact.now ? marked(fact.o) : el("s", {}, marked(fact.o))),
    el("div", { class: "under" }, when && el("span", {}, when), fact.source && el("span", { class: "where" }, fact.source.replace("#L", ":"))),
  );
}

function showConcept(c) {
  const related = neighbours[c].map(([other]) => other);
  const facts = (factsOf.get(c) ?? []).filter(factInDays), some = byConcept[c].filter(lineInDays);
  const days = span(net.first[c], net.last[c]);
  openPanel(
    {
      title: net.name[c],
      kicker: [el("i", { class: "dot", tint: conceptColour(c) }), kindName(net.kind[c]), net.curated[c] ? " · curated" : ""],
      meta: [counted(net.units[c], "mention"), days, net.aliases[c].length ? `also ${net.aliases[c].join(", ")}` : ""].filter(Boolean).join(" · "),
    },
    related.length ? [heading("Related"), el("div", { class: "chips" }, related.slice(0, 14).map(chip))] : [],
    facts.length ? [heading("Facts", thousands(facts.length)), ...pieces([...facts].sort((a, b) => (b.now ?? 0) - (a.now ?? 0)), factItem, 8)] : [],
    lineList(some, state.days ? some.length : net.units[c]),
  );
}

function showFound() {
  const all = lowered();
  const concepts = found(all.concepts).filter(conceptInDays), facts = found(all.facts).filter((at) => factInDays(data.facts[at]));
  const some = found(all.lines).filter((i) => !lines.repeats[i] && lineInDays(i));
  const nothing = !concepts.length && !facts.length && !some.length;
  const part = once.length < data.totals.lines ? ` This page holds ${thousands(once.length)} of ${thousands(data.totals.lines)} lines; openclaw-memory search looks at all of them.` : "";
  openPanel(
    { title: `“${state.query}”`, kicker: "Search", meta: nothing ? `Nothing here has all of these words.${part}` : `${counted(some.length, "line")}, ${counted(concepts.length, "concept")}, ${counted(facts.length, "fact")}.${part}` },
    concepts.length ? [heading("Concepts", thousands(concepts.length)), el("div", { class: "chips" }, concepts.slice(0, 16).map(chip))] : [],
    facts.length ? [heading("Facts", thousands(facts.length)), ...pieces(facts.map((at) => data.facts[at]), factItem, 5)] : [],
    lineList(some),
  );
}

/** Show the panel that the state asks for. */
function refreshPanel() {
  if (state.concept !== null) showConcept(state.concept);
  else if (state.words.length) showFound();
  else restPanel();
}
