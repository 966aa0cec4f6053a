/* Lines by meaning: each beside those whose vectors are closest to its own. */

const SPACE = 1000;
views.space = {
  title: "Meaning",
  by: "kind",
  build(root) {
    this.some = once.filter((i) => lines.x[i] >= 0);
    if (!this.some.length) return emptyView(root, "No space of meaning", data.space.why ?? "No line has a vector yet.", "openclaw-memory model list");
    this.x = Float64Array.from(this.some, (i) => (lines.x[i] / 4000) * SPACE * 1.35);
    this.y = Float64Array.from(this.some, (i) => (1 - lines.y[i] / 4000) * SPACE);
    this.marks = this.landmarks();
    const holder = el("div", { class: "stage" });
    root.append(holder);
    this.stage = new Stage(holder, {
      label: "Lines by meaning. Arrow keys go from line to line, Enter shows one.",
      x: this.x, y: this.y, radius: () => this.size(), draw: (...on) => this.draw(...on), tell: (at) => lineTip(this.some[at]), pick: (at) => this.show(at),
    });
    root.append(
      el("div", { class: "over-left" }, el("span", {}, "Colour"), segmented("Colour", [["kind", "Kind"], ["language", "Language"], ["time", "Time"]], this.by, (by) => {
        this.by = by;
        this.legend();
        this.redraw();
      })),
      (this.corner = el("div", { class: "corner" })),
    );
    this.legend();
  },
  /** Names of concepts whose lines lie together, where these lie. */
  landmarks() {
    const at = new Map(this.some.map((i, place) => [i, place]));
    const out = [];
    for (let c = 0; c < Math.min(C, 700); c++) {
      const own = byConcept[c].map((i) => at.get(i)).filter((place) => place !== undefined);
      if (own.length < 4) continue;
      const x = d3.median(own, (place) => this.x[place]), y = d3.median(own, (place) => this.y[place]);
      const wide = d3.median(own, (place) => Math.hypot(this.x[place] - x, this.y[place] - y));
      out.push([c, x, y, own.length ** 0.5 / (wide + 60)]);
    }
    return out.sort((a, b) => b[3] - a[3]).slice(0, 60);
  },
  /** The slot of a line and the colour of a slot; made again for another choice or theme. */
  colours() {
    const key = `${this.by}|${paint.bg}`;
    if (this.coloured !== key) [this.coloured, this.made] = [key, this.colouring()];
    return this.made;
  },
  colouring() {
    if (this.by === "time") {
      const days = this.some.map((i) => lines.day[i]).filter(Boolean), [first, last] = d3.extent(days);
      const tints = d3.quantize(d3.interpolateRgb(paint.c0, paint.accent), 8);
      return { of: (i) => (lines.day[i] ? Math.min(7, Math.floor(((lines.day[i] - first) / (last - first + 1)) * 8)) : 8), tint: (slot) => tints[slot] ?? paint.faint };
    }
    if (this.by === "language") return { of: (i) => Math.min(lines.language[i], 7), tint: (slot) => paint[`c${slot}`] };
    return { of: (i) => (lines.grain[i] ? 3 : lines.kind[i]), tint: (slot) => paint[["c2", "c0", "c1", "c3"][slot]] };
  },
  legend() {
    const key = (tint, text, note) => el("span", { class: "key", tint }, el("i"), text, note !== undefined && el("b", {}, note));
    let keys;
    if (this.by === "time") {
      const days = d3.extent(this.some.map((i) => lines.day[i]).filter(Boolean));
      const ramp = el("span", { class: "ramp" });
      ramp.style.background = "linear-gradient(90deg, var(--c0), var(--accent))";
      keys = days[0] ? [el("span", { class: "key" }, inWords(days[0]), ramp, inWords(days[1])), key("var(--faint)", "no day")] : [key("var(--faint)", "no line states a day")];
    } else if (this.by === "language") {
      const shares = d3.rollup(this.some, (held) => held.length, (i) => lines.language[i]);
      keys = lines.languages.slice(0, 8).map((name, at) => key(`var(--c${at})`, at === 7 && lines.languages.length > 8 ? "others" : name[0].toUpperCase() + name.slice(1), thousands(shares.get(at) ?? 0)));
    } else {
      keys = [...LINE_KINDS.map((name, at) => [name, ["c2", "c0", "c1"][at]]), ["summaries", "c3"]]
        .map(([name, colour], at) => [name, colour, this.some.filter((i) => (lines.grain[i] ? 3 : lines.kind[i]) === at).length])
        .filter(([, , n]) => n).map(([name, colour, n]) => key(`var(--${colour})`, name, thousands(n)));
    }
    this.corner.replaceChildren(...keys);
  },
  size() {
    const k = this.stage?.place.k ?? 1, base = this.some.length > 8000 ? 1.5 : this.some.length > 4000 ? 1.9 : this.some.length > 800 ? 2.8 : 4;
    return Math.min(9, base * Math.max(0.8, (k / (this.stage?.fitted ?? 1)) ** 0.45));
  },
  draw(c, place, width, height) {
    const r = this.size(), { of, tint } = this.colours();
    const wanted = state.concept !== null ? new Set(byConcept[state.concept]) : state.words.length ? this.matches() : null;
    const paths = new Map();
    for (let at = 0; at < this.some.length; at++) {
      const px = place.applyX(this.x[at]), py = place.applyY(this.y[at]);
      if (px < -10 || py < -10 || px > width + 10 || py > height + 10) continue;
      const i = this.some[at], key = of(i) * 2 + ((wanted && !wanted.has(i)) || !lineInDays(i) ? 1 : 0);
      if (!paths.has(key)) paths.set(key, []);
      paths.get(key).push(px, py);
    }
    for (const [key, spots] of [...paths].sort((a, b) => (b[0] % 2) - (a[0] % 2))) {
      c.globalAlpha = key % 2 ? 0.1 : wanted || state.days ? 0.95 : this.some.length > 8000 ? 0.42 : this.some.length > 3000 ? 0.62 : 0.78;
      c.fillStyle = tint(key >> 1);
      c.beginPath();
      for (let at = 0; at < spots.length; at += 2) {
        if (r < 2.1) c.rect(spots[at] - r, spots[at + 1] - r, 2 * r, 2 * r);
        else {
          c.moveTo(spots[at] + r, spots[at + 1]);
          c.arc(spots[at], spots[at + 1], r, 0, 6.2832);
        }
      }
      c.fill();
    }
    c.globalAlpha = 1;
    for (const at of new Set([this.stage.over, this.stage.cursor]))
      if (at >= 0) {
        c.beginPath();
        c.arc(place.applyX(this.x[at]), place.applyY(this.y[at]), r + 3.5, 0, 6.2832);
        c.strokeStyle = paint.accent;
        c.lineWidth = 2;
        c.stroke();
      }
    const marks = this.marks.map(([i, x, y]) => [short(net.name[i], 22), place.applyX(x), place.applyY(y), 13, i === state.concept, wanted && i !== state.concept ? 0.35 : 0.92]);
    drawLabels(c, marks, width, height, width < 520 ? 10 : 26);
  },
  matches() {
    if (this.asked !== state.query) [this.asked, this.held] = [state.query, new Set(found(lowered().lines))];
    return this.held;
  },
  show(at) {
    if (at < 0) return closePanel();
    const i = this.some[at];
    const near = d3.range(this.some.length).map((other) => [Math.hypot(this.x[other] - this.x[at], this.y[other] - this.y[at]), other]).sort((a, b) => a[0] - b[0]).slice(1, 9);
    openPanel(
      { title: inWords(lines.day[i]) || "No day", kicker: lines.grain[i] ? "Summary" : LINE_KINDS[lines.kind[i]], meta: `in ${lines.languages[lines.language[i]]}` },
      el("div", {}, lineItem(i)),
      lines.concepts[i].length ? [heading("Mentions"), el("div", { class: "chips" }, lines.concepts[i].map(chip))] : [],
      [heading("Near it on this map"), ...near.map(([, other]) => lineItem(this.some[other]))],
    );
    this.redraw();
  },
  rest() {
    if (!this.some?.length) return null;
    const part = once.length < data.totals.lines ? `${thousands(this.some.length)} of ${thousands(data.totals.lines)} lines` : counted(this.some.length, "line");
    return [
      { title: "What is near in meaning", meta: `${part}; each beside those that vectors of ${data.space.model} are closest to. Distances between far groups mean nothing.` },
      el("p", { class: "hint" }, "Names stand where most lines about them lie. Point at a line to read it, click it to see its neighbours."),
      ...(this.marks.length ? [heading("Names"), ...pieces(this.marks.map(([c]) => c).filter(conceptInDays), rankItem, 14)] : []),
    ];
  },
  focus() {
    this.stage?.canvas.focus({ preventScroll: true });
  },
  redraw() {
    this.stage?.redraw();
  },
};
