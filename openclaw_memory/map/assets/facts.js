/* Facts and their history: what held when, what took its place, and the line that says so. */

views.facts = {
  title: "Facts",
  past: true,
  build(root) {
    root.classList.add("page");
    if (!data.facts.length) return emptyView(root, "No facts yet", "A fact is a statement such as “JR lives in Utrecht”. They are found in notes by rules, and stated by agents and people.", "openclaw-memory facts add SUBJECT PREDICATE OBJECT");
    this.count = el("p");
    this.list = el("div", { class: "facts" });
    const conflicts = data.conflicts.length ? el("button", { type: "button", class: "more", onclick: () => this.contradictions() }, counted(data.conflicts.length, "contradiction")) : null;
    root.append(
      el(
        "div", { class: "page-head" }, el("div", {}, el("h2", {}, "What is known"), this.count, conflicts),
        segmented("Which facts", [[false, "Holds now"], [true, "With history"]], this.past, (past) => {
          this.past = past;
          this.redraw();
        }),
      ),
      this.list,
    );
    const days = data.facts.flatMap((fact) => [fact.from, fact.to]).filter(Boolean);
    this.from = d3.min(days) ?? data.made.day - 1;
    this.to = Math.max(d3.max(days) ?? 0, Math.min(data.made.day, (d3.max(data.days.day) ?? 0) + 1), this.from + 1);
    this.redraw();
  },
  redraw() {
    if (!this.list) return;
    const all = lowered().facts;
    const some = data.facts.filter((fact, at) => (this.past || fact.now) && factInDays(fact) && (state.concept !== null ? fact.concept === state.concept : has(all[at])));
    const now = data.facts.filter((fact) => fact.now).length;
    this.count.textContent = `${counted(now, "fact holds", "facts hold")} now, ${thousands(data.facts.length - now)} did before.`;
    const subjects = [...d3.group(some, (fact) => fact.s)].sort((a, b) => b[1].length - a[1].length || d3.ascending(a[0], b[0]));
    if (!subjects.length) {
      const clear = state.concept !== null || state.words.length || state.days;
      this.list.replaceChildren(el("div", { class: "empty" }, el("h2", {}, "No fact matches"), el("p", {}, clear ? "None is about what you chose or searched for, of the chosen days." : "None holds now; look at the history."), clear && el("button", { type: "button", class: "more", onclick: () => (choose(), closePanel()) }, "Show all")));
      return;
    }
    this.list.replaceChildren(...pieces(subjects, ([name, own]) => this.subject(name, own), 40));
  },
  subject(name, own) {
    const relations = [...d3.group(own, (fact) => fact.p)];
    const title = own[0].concept === undefined ? el("span", { dir: "auto" }, marked(name)) : el("button", { type: "button", dir: "auto", onclick: () => select(own[0].concept) }, marked(name));
    return el("article", { class: "subject" }, el("h3", {}, title), el("div", {}, relations.map(([predicate, held]) => this.relation(predicate, held))));
  },
  relation(predicate, held) {
    const values = [...held].sort((a, b) => (b.now ?? 0) - (a.now ?? 0) || (b.from ?? 0) - (a.from ?? 0));
    const several = values.some((fact) => !fact.now);
    return el("div", { class: "relation" }, el("p", { class: "predicate" }, marked(predicate)), ...pieces(values, (fact) => this.value(fact, several), 6));
  },
  value(fact, tracked) {
    const when = fact.to ? until(fact) : fact.from ? `since ${inWords(fact.from)}` : "";
    const told = [fact.source?.replace("#L", ":"), fact.sure !== undefined && fact.sure < 1 ? `${d3.format(".0%")(fact.sure)} sure` : null, fact.newer ? "a newer value differs" : null].filter(Boolean).join(" · ");
    let track = null;
    if (tracked && fact.from) {
      const at = (day) => ((day - this.from) / (this.to - this.from)) * 100;
      const bar = el("i");
      bar.style.left = `${Math.min(99, at(fact.from))}%`;
      bar.style.width = `${Math.max(0.6, at(fact.to ?? this.to) - at(fact.from))}%`;
      track = el("div", { class: "span", "aria-hidden": "true" }, bar);
    }
    return el("div", { class: `value ${fact.now ? "now" : "past"}`, title: fact.why }, el("span", { class: "object", dir: "auto" }, marked(fact.o)), el("span", { class: "when" }, when), track, told && el("span", { class: "where" }, told));
  },
  /** The statements that both claim to hold, and the command that settles which does. */
  contradictions() {
    const pair = ({ id, values }) => [
      heading(`${values[0].s} · ${values[0].p}`),
      ...values.map(factItem),
      el("p", { class: "hint" }, "Keep one: ", el("code", {}, `openclaw-memory conflicts settle ${id} --keep 1`), " (or 2)"),
    ];
    openPanel({ title: "Contradictions", kicker: "Facts", meta: `${counted(data.conflicts.length, "pair")} of statements that both claim to hold` }, ...pieces(data.conflicts, (each) => el("div", { class: "conflict" }, pair(each))));
  },
  rest: () => null,
};
