/* When it was noted: lines by day, decisions, what a summary stands for, summaries of each grain, facts. */

views.timeline = {
  title: "Timeline",
  build(root) {
    const own = data.days.day, sums = data.summaries;
    const days = [...own, ...sums.flatMap((one) => [one[1], one[2]]), ...data.retired.map(([day]) => day).filter(Boolean)];
    if (!days.length) return emptyView(root, "No line says when it was noted", "A day comes from a file's name, such as memory/2026-02-16.md, from a heading, or from front matter.");
    this.from = d3.min(days) - 1;
    this.to = d3.max(days) + 2;
    const holder = el("div", { class: "timeline" });
    root.append(holder);
    this.svg = d3.select(holder).append("svg").attr("tabindex", 0).attr("role", "img").attr("aria-label", "Timeline. Arrow keys move it, plus and minus magnify it.");
    this.inputs = [0, 1].map(() => el("input", { type: "date", onchange: () => {
      const [from, to] = this.inputs.map((input) => input.valueAsDate && ordinalOf(input.valueAsDate));
      from || to ? choose(from || this.from, to || this.to) : choose();
    } }));
    root.append(el("div", { class: "corner" }, el("div", { class: "days" }, ["from", "to"].map((name, end) => el("label", { class: "key" }, name, this.inputs[end]))), data.kinds.map((kind, at) => d3.sum(data.days.kinds[at]) > 0 && el("span", { class: "key", tint: LINE_COLOURS[at] }, el("i"), LINE_KINDS[at]))));
    this.zoom = d3.zoom().scaleExtent([1, Math.max(2, (this.to - this.from) / 6)]).on("zoom", (event) => {
      this.place = event.transform;
      this.redraw();
    });
    this.place = d3.zoomIdentity;
    this.svg.call(this.zoom).on("dblclick.zoom", null);
    this.svg.node().addEventListener("keydown", (event) => {
      const move = { ArrowLeft: 120, ArrowRight: -120 }[event.key];
      if (move) this.svg.call(this.zoom.translateBy, move / this.place.k, 0);
      else if ("+=".includes(event.key)) this.svg.call(this.zoom.scaleBy, 1.5);
      else if (event.key === "-") this.svg.call(this.zoom.scaleBy, 1 / 1.5);
      else if (event.key === "0") this.svg.call(this.zoom.transform, d3.zoomIdentity);
      else return;
      event.preventDefault();
    });
    this.root = holder;
    new ResizeObserver(() => {
      if (this.framed === undefined) this.frame();
      this.redraw();
    }).observe(holder);
  },
  /** Begin with the days of which there are lines: a summary's period may reach far beyond them. */
  frame() {
    const { width } = this.root.getBoundingClientRect();
    if (!width || !data.days.day.length) return;
    this.framed = true;
    const left = width < 560 ? 86 : 128, right = width - 24;
    const x = d3.scaleLinear([this.from, this.to], [left, right]);
    const [first, last] = d3.extent(data.days.day), room = Math.max(2, (last - first) * 0.04, (15 - last + first) / 2);
    const from = Math.max(this.from, first - room), to = Math.min(this.to, last + 1 + room), k = (this.to - this.from) / (to - from);
    this.zoom.extent([[left, 0], [right, 1]]).translateExtent([[left, 0], [right, 1]]);
    this.svg.call(this.zoom.transform, d3.zoomIdentity.translate(left, 0).scale(k).translate(-x(from), 0));
  },
  redraw() {
    if (!this.svg || this.waiting) return;
    this.waiting = requestAnimationFrame(() => {
      this.waiting = 0;
      this.draw();
    });
  },
  draw() {
    const { width, height } = this.root.getBoundingClientRect();
    if (!width || !height) return;
    const left = width < 560 ? 86 : 128, right = width - 24, svg = this.svg;
    this.zoom.extent([[left, 0], [right, 1]]).translateExtent([[left, 0], [right, 1]]);
    const x = this.place.rescaleX(d3.scaleUtc([dateOf(this.from), dateOf(this.to)], [left, right]));
    svg.attr("viewBox", `0 0 ${width} ${height}`).selectAll("*").remove();
    svg.append("clipPath").attr("id", "inside").append("rect").attr("x", left).attr("width", right - left).attr("height", height);
    const lanes = ["Decisions", data.retired.length ? "Archived, retired" : "Archived", "Facts begin", ...data.grains.slice(1).map((grain) => `${grain[0].toUpperCase()}${grain.slice(1)}`)];
    const foot = 96, axis = height - foot, laneHeight = Math.max(19, Math.min(34, (axis - 150) / (lanes.length + 1)));
    const base = axis - 14 - lanes.length * laneHeight - 10, top = Math.min(48, base / 4);
    const pixels = (right - left) / Math.max(1, (x.domain()[1] - x.domain()[0]) / 864e5);
    const [unit, unitName] = [[d3.utcDay, "day"], [d3.utcMonday, "week"], [d3.utcMonth, "month"], [d3.utcYear, "year"]].find(([, name]) => pixels * { day: 1, week: 7, month: 30, year: 365 }[name] >= 7) ?? [d3.utcYear, "year"];
    const rules = svg.append("g"), inside = svg.append("g").attr("clip-path", "url(#inside)");

    // lines, stacked by kind
    const bins = new Map();
    const bin = (day) => {
      const start = ordinalOf(unit.floor(dateOf(day)));
      if (!bins.has(start)) bins.set(start, { start, end: ordinalOf(unit.offset(unit.floor(dateOf(day)), 1)), kinds: data.kinds.map(() => 0), decided: 0, archived: 0, retired: 0, facts: 0, total: 0 });
      return bins.get(start);
    };
    data.days.day.forEach((day, at) => {
      const one = bin(day);
      data.days.kinds.forEach((count, kind) => {
        one.kinds[kind] += count[at];
        one.total += count[at];
      });
      one.decided += data.days.decided[at];
      one.archived += data.days.archived[at];
    });
    for (const [day] of data.retired) if (day) bin(day).retired += 1;
    for (const fact of data.facts) if (fact.from && fact.from >= this.from && fact.from <= this.to) bin(fact.from).facts += 1;
    const [first, last] = x.domain().map(ordinalOf);
    const seen = [...bins.values()].filter((one) => one.end >= first && one.start <= last);
    const y = d3.scaleLinear([0, d3.max(seen, (one) => one.total) || 1], [base, top]).nice(4);
    for (const tick of y.ticks(4).filter(Number.isInteger)) {
      rules.append("line").attr("class", "rule").attr("x1", left).attr("x2", right).attr("y1", y(tick)).attr("y2", y(tick));
      if (tick) svg.append("text").attr("x", left - 10).attr("y", y(tick)).attr("dy", ".32em").attr("text-anchor", "end").text(thousands(tick));
    }
    svg.append("text").attr("class", "lane").attr("x", 20).attr("y", top - 20).text(`Lines a ${unitName}`);
    for (const one of seen) {
      const x0 = x(dateOf(one.start)), wide = Math.max(1, Math.min(x(dateOf(one.end)) - x0 - 1.5, 46)), at = x0 + (x(dateOf(one.end)) - x0 - wide) / 2;
      let up = 0;
      one.kinds.forEach((count, kind) => {
        if (!count) return;
        inside.append("rect").attr("x", at).attr("width", wide).attr("y", y(up + count)).attr("height", Math.max(0.5, y(up) - y(up + count))).style("fill", LINE_COLOURS[kind]);
        up += count;
      });
      const told = [["line", one.total], ["decision", one.decided], ["archived line", one.archived], ["retired note", one.retired], ["beginning fact", one.facts]].filter(([, n]) => n).map(([word, n]) => counted(n, word));
      inside.append("rect").attr("class", "hit").attr("x", x0).attr("width", Math.max(2, x(dateOf(one.end)) - x0)).attr("y", top).attr("height", base - top + 3 * laneHeight + 10)
        .on("pointermove", (event) => showTip(event.clientX, event.clientY, el("b", {}, span(one.start, one.end - 1)), el("small", {}, told.join(" · "))))
        .on("pointerleave", hideTip).on("click", () => this.showDays(one.start, one.end - 1, one));
    }

    lanes.forEach((name, lane) => {
      const middle = base + 10 + (lane + 0.5) * laneHeight;
      svg.append("text").attr("class", "lane").attr("x", 20).attr("y", middle).attr("dy", ".35em").text(name);
      rules.append("line").attr("class", "rule").attr("x1", left).attr("x2", right).attr("y1", middle + laneHeight / 2).attr("y2", middle + laneHeight / 2);
      if (lane < 3) this.blobs(inside, seen, [(one) => one.decided, (one) => one.archived + one.retired, (one) => one.facts][lane], x, middle, laneHeight, [paint.accent, paint.faint, paint.c2][lane]);
      else this.bands(inside, svg, lane - 2, x, middle, laneHeight, left, [first, last]);
    });
    svg.append("g").attr("transform", `translate(0 ${axis - 10})`).call(d3.axisBottom(x).ticks(Math.max(2, (right - left) / 110)).tickSizeOuter(0));
    const brush = d3.brushX().extent([[left, axis - 10], [right, axis + 18]]).on("end", ({ sourceEvent, selection }) => {
      if (sourceEvent) choose(...(selection ?? []).map((at, end) => ordinalOf(x.invert(at - end))));
    });
    const strip = svg.append("g").call(brush).on("mousedown touchstart", (event) => event.stopPropagation()); // it moves nothing
    const chosen = (state.days ?? []).map((day, end) => Math.max(left, Math.min(right, x(dateOf(day + end)))));
    if (chosen.length) rules.append("rect").attr("class", "chosen").attr("x", chosen[0]).attr("width", chosen[1] - chosen[0]).attr("y", top).attr("height", axis - 10 - top);
    if (chosen[1] > chosen[0]) strip.call(brush.move, chosen);
    this.inputs.forEach((input, end) => {
      if (input !== document.activeElement) input.valueAsDate = state.days && dateOf(state.days[end]); // somebody types in it
    });
  },
  blobs(inside, seen, count, x, middle, tall, colour) {
    const most = d3.max(seen, count) || 1;
    for (const one of seen)
      if (count(one))
        inside.append("circle").attr("pointer-events", "none").attr("cx", (x(dateOf(one.start)) + x(dateOf(one.end))) / 2).attr("cy", middle).attr("r", 2 + Math.min(6, tall / 2 - 5) * Math.sqrt(count(one) / most)).style("fill", colour).style("opacity", 0.85);
  },
  bands(inside, svg, grain, x, middle, tall, left, [first, last]) {
    const own = data.summaries.filter((one) => one[0] === grain);
    if (!own.length) {
      svg.append("text").attr("class", "none").attr("x", left + 8).attr("y", middle).attr("dy", ".35em").text(grain === 1 ? "no summaries yet: openclaw-memory consolidate" : "–");
      return;
    }
    let end = -Infinity;
    for (const one of own) {
      if (one[2] < first || one[1] > last) continue;
      const x0 = x(dateOf(one[1])), x1 = x(dateOf(one[2] + 1));
      if (x1 < end + 1.5) continue; // several in one place: one stands for them
      end = Math.max(x1, x0 + 2);
      inside.append("rect").attr("class", "sum").attr("x", x0 + 0.75).attr("width", Math.max(1.5, x1 - x0 - 1.5)).attr("y", middle - tall / 2 + 5).attr("height", tall - 10).attr("rx", Math.min(3, (x1 - x0) / 3))
        .on("pointermove", (event) => showTip(event.clientX, event.clientY, el("b", {}, span(one[1], one[2])), el("small", {}, `${one[3]} · ${counted(one[4], "sentence")}`)))
        .on("pointerleave", hideTip).on("click", () => this.showSummary(one));
      const period = one[3].split("/").at(-1).replace(/\.md$/, ""), from = Math.max(x0, left);
      if (x1 - from > period.length * 7.5 + 10) inside.append("text").attr("class", "period").attr("x", from + 8).attr("y", middle).attr("dy", ".35em").text(period);
    }
  },
  showDays(from, to, one) {
    const some = once.filter((i) => lines.grain[i] === 0 && lines.day[i] >= from && lines.day[i] <= to);
    const facts = data.facts.filter((fact) => fact.from >= from && fact.from <= to);
    const gone = data.retired.filter(([day]) => day >= from && day <= to);
    openPanel(
      { title: span(from, to), kicker: "Noted then", meta: [counted(one.total, "line"), one.decided ? counted(one.decided, "decision") : "", one.archived ? `${thousands(one.archived)} archived` : ""].filter(Boolean).join(" · ") },
      facts.length ? [heading("Facts that begin", thousands(facts.length)), ...pieces(facts, factItem, 6)] : [],
      gone.length ? [heading("Retired notes", thousands(gone.length)), ...pieces(gone, ([, path]) => el("p", { class: "where" }, path), 6)] : [],
      lineList(some, one.total),
    );
  },
  showSummary([grain, from, to, path, sentences]) {
    const some = d3.range(N).filter((i) => lines.files[lines.file[i]] === path);
    openPanel(
      { title: span(from, to), kicker: `${data.grains[grain][0].toUpperCase()}${data.grains[grain].slice(1)} summary`, meta: path },
      some.length ? lineList(some, sentences) : [el("p", { class: "hint" }, "This page holds none of its sentences; they are in its file.")],
    );
  },
  rest() {
    if (!this.svg) return null;
    const undated = d3.sum(data.days.undated);
    const dated = d3.sum(data.days.kinds, (kind) => d3.sum(kind));
    return [
      { title: "When it was noted", meta: `${counted(dated, "dated line")} from ${span(d3.min(data.days.day) ?? 0, d3.max(data.days.day) ?? 0)}${undated ? `, ${thousands(undated)} without a day` : ""}.` },
      el("p", { class: "hint" }, "Click a bar to read its days, a band to read a summary. Draw along the axis, or type days below, to keep every view to them. Wheel or pinch magnifies."),
      ...lineList(once.filter((i) => lines.decided[i] && lineInDays(i))).map((part, at) => (at ? part : heading("Latest decisions"))),
    ];
  },
  focus() {
    this.svg?.node().focus({ preventScroll: true });
  },
};
const LINE_KINDS = data.kinds.map((kind) => ({ curated: "curated files", daily: "daily notes", note: "other notes" })[kind] ?? kind);
const LINE_COLOURS = ["var(--c2)", "var(--c0)", "var(--c1)"];
