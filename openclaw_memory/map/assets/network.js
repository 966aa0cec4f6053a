/* Concepts and what joins them: sized by mentions, coloured by community. */

views.concepts = {
  title: "Concepts",
  build(root) {
    if (!C) return emptyView(root, "No concepts yet", "A concept is a name, a tag or a term that notes mention more than once. They come with the notes.", "openclaw-memory concepts add NAME");
    const most = d3.max(net.units) || 1;
    const radius = Float64Array.from(net.units, (units) => 4 + 20 * Math.sqrt(units / most) * Math.min(1, 0.5 + most / 80));
    // Python says what is near what; here they get the room that they need, and none covers another.
    this.drawn = d3.range(C).filter((c) => net.x[c] >= 0);
    const tree = d3.quadtree(this.drawn, (c) => net.x[c], (c) => net.y[c]), gaps = [], every = Math.ceil(this.drawn.length / 400);
    for (const c of this.drawn.filter((_, at) => at % every === 0)) {
      tree.remove(c);
      const other = tree.find(net.x[c], net.y[c]);
      if (other !== undefined) gaps.push(Math.hypot(net.x[c] - net.x[other], net.y[c] - net.y[other]));
      tree.add(c);
    }
    const least = Math.sqrt(d3.sum(this.drawn, (c) => (radius[c] + 17) ** 2)) * 1.5, widest = least * 2.6;
    const side = Math.min(widest, Math.max(least, (4000 * (2 * d3.mean(radius) + 16)) / Math.max(d3.median(gaps) ?? 1, 1)));
    const nodes = this.drawn.map((c) => ({ c, x: (net.x[c] / 4000) * side, y: (net.y[c] / 4000) * side }));
    d3.forceSimulation(nodes).force("apart", d3.forceCollide((node) => radius[node.c] + 4).iterations(2)).stop().tick(nodes.length > 2500 ? 12 : 40);
    this.x = new Float64Array(C).fill(NaN);
    this.y = new Float64Array(C).fill(NaN);
    for (const { c, x, y } of nodes) [this.x[c], this.y[c]] = [x, y];
    this.radius = radius;
    this.hidden = new Set();
    this.least = 1;
    this.order = d3.range(C).sort((a, b) => net.units[b] - net.units[a]);
    this.links = [...net.links].sort((a, b) => b[2] - a[2]);
    const holder = el("div", { class: "stage" });
    root.append(holder);
    this.stage = new Stage(holder, {
      label: "Network of concepts. Arrow keys go from concept to concept, Enter shows one.",
      x: this.x, y: this.y, radius: (c) => this.radius[c] * this.grown(this.stage.place.k),
      draw: (...on) => this.draw(...on),
      tell: (c) => [el("b", { dir: "auto" }, net.name[c]), el("small", {}, `${kindName(net.kind[c])} · ${counted(net.units[c], "mention")}${net.first[c] ? ` · ${span(net.first[c], net.last[c])}` : ""}`)],
      pick: (c) => {
        this.picking = true;
        select(c < 0 ? null : c);
        this.picking = false;
      },
    });
    this.stage.shown = (c) => this.isDrawn(c);
    this.stage.most = () => (30 * this.grown(this.stage.place.k) + 26) / this.stage.place.k;
    const shown = communities.filter(({ members }) => members.length > 1);
    root.append(el("div", { class: "corner" }, shown.map((one) => this.legend(one)), most > 2 && this.slider(most)));
  },
  legend({ slot, name, members }) {
    const key = el("button", { type: "button", class: "key", "aria-pressed": "true", tint: `var(--c${slot})`, title: "Show or hide", onclick: () => {
      this.hidden.has(slot) ? this.hidden.delete(slot) : this.hidden.add(slot);
      key.setAttribute("aria-pressed", String(!this.hidden.has(slot)));
      this.redraw();
    } }, el("i"), el("span", { dir: "auto" }, short(name, 28)), el("b", {}, thousands(members.length)));
    return key;
  },
  /** How often a concept must be mentioned to be drawn. */
  slider(most) {
    const text = el("b", {}, "1");
    const input = el("input", { type: "range", min: "0", max: "100", value: "0", oninput: () => {
      this.least = Math.round(most ** (input.value / 100));
      text.textContent = thousands(this.least);
      this.redraw();
    } });
    return el("label", { class: "key" }, "mentions ≥", text, input);
  },
  isDrawn(c) {
    return net.x[c] >= 0 && net.units[c] >= this.least && !this.hidden.has(slotOf(c)) && conceptInDays(c);
  },
  /** Circles grow more slowly than the plane, so that magnifying pulls them apart. */
  grown: (k) => Math.max(k ** 0.62, 0.16),
  draw(c, place, width, height) {
    const { x, y, radius } = this;
    const k = place.k, grown = this.grown(k), focus = state.concept ?? (this.stage.over >= 0 ? this.stage.over : null);
    const near = focus === null ? null : new Set([focus, ...neighbours[focus].map(([other]) => other)]);
    const hit = state.words.length && state.concept === null ? this.matches() : null;
    const alphaOf = (i) => (near ? (near.has(i) ? 1 : 0.16) : hit ? (hit.has(i) ? 1 : 0.12) : 1);
    const visible = (i) => {
      const px = place.applyX(x[i]), py = place.applyY(y[i]);
      return this.isDrawn(i) && px > -40 && py > -40 && px < width + 40 && py < height + 40;
    };
    const seen = new Uint8Array(C);
    for (let i = 0; i < C; i++) seen[i] = visible(i) ? 1 : 0;

    // The closest links; what is drawn in a frame is bounded.
    const groups = [[], [], []], strong = [], mostLinks = this.stage.moving ? 1200 : 4000;
    let drawn = 0;
    for (const [a, b, weight] of this.links) {
      if (!this.isDrawn(a) || !this.isDrawn(b) || !(seen[a] || seen[b])) continue;
      if (near && (a === focus || b === focus)) strong.push([a, b]);
      else if (drawn++ < mostLinks) groups[weight > 0.6 ? 2 : weight > 0.3 ? 1 : 0].push([a, b]);
    }
    const stroke = (pairs, colour, alpha, wide) => {
      if (!pairs.length) return;
      c.beginPath();
      for (const [a, b] of pairs) {
        c.moveTo(place.applyX(x[a]), place.applyY(y[a]));
        c.lineTo(place.applyX(x[b]), place.applyY(y[b]));
      }
      c.strokeStyle = colour;
      c.globalAlpha = alpha;
      c.lineWidth = wide;
      c.stroke();
    };
    const dim = near || hit ? 0.35 : 1, many = C > 1500 ? 0.4 : C > 400 ? 0.55 : C > 120 ? 1 : 1.5;
    groups.forEach((pairs, at) => stroke(pairs, paint.edge, [0.26, 0.36, 0.5][at] * dim * many, 1));
    stroke(strong, paint.accent, 0.6, 1.4);

    // Circles by colour and faintness, a path each.
    const paths = new Map();
    for (const i of this.order) {
      if (!seen[i]) continue;
      const alpha = alphaOf(i), slot = tintOf(i), key = `${slot}|${alpha}`;
      if (!paths.has(key)) paths.set(key, [slot, alpha, []]);
      paths.get(key)[2].push(i);
    }
    for (const [slot, alpha, some] of paths.values()) {
      c.globalAlpha = alpha;
      c.fillStyle = paint[`c${slot}`];
      c.beginPath();
      for (const i of some) {
        const px = place.applyX(x[i]), py = place.applyY(y[i]), r = Math.max(radius[i] * grown, 1.1);
        if (r < 1.6) c.rect(px - r, py - r, 2 * r, 2 * r);
        else {
          c.moveTo(px + r, py);
          c.arc(px, py, r, 0, 6.2832);
        }
      }
      c.fill();
    }
    c.globalAlpha = 1;
    for (const i of new Set([state.concept, this.stage.over, this.stage.cursor]))
      if (i !== null && i >= 0 && seen[i]) {
        c.beginPath();
        c.arc(place.applyX(x[i]), place.applyY(y[i]), radius[i] * grown + 3.5, 0, 6.2832);
        c.strokeStyle = paint.accent;
        c.lineWidth = 2;
        c.stroke();
      }

    const labels = [];
    const label = (i, bold, alpha) => {
      const r = radius[i] * grown, pixels = Math.round(Math.min(17, Math.max(11.5, 9.5 + r * 0.28)));
      labels.push([short(net.name[i]), place.applyX(x[i]), place.applyY(y[i]), pixels, bold, alpha, r]);
    };
    if (focus !== null && seen[focus]) label(focus, true, 1);
    for (const i of near ?? hit ?? []) if (seen[i] && i !== focus) label(i, false, 1);
    const room = width < 520 ? 26 : 90;
    const others = near || hit ? 12 : 420;
    for (const i of this.order.slice(0, near || hit ? 24 : C)) if (seen[i] && labels.length < others && !(near ?? hit)?.has(i)) label(i, false, near || hit ? 0.3 : 1);
    const circles = this.order.filter((i) => seen[i]).slice(0, 260).map((i) => [place.applyX(x[i]), place.applyY(y[i]), radius[i] * grown]);
    drawLabels(c, labels, width, height, near || hit ? room + 30 : room, circles);
  },
  matches() {
    if (this.asked !== state.query) [this.asked, this.held] = [state.query, new Set(found(lowered().concepts))];
    return this.held;
  },
  rest() {
    const part = C < data.totals.concepts ? `The ${thousands(C)} that matter most of ${thousands(data.totals.concepts)}` : counted(C, "concept");
    return [{ title: "What hangs together", meta: `${part}, ${counted(net.links.length, "link")}. Size: mentions. Colour: what is closely linked. A link: in the same sections more often than by chance.${C > (this.drawn?.length ?? C) ? ` ${thousands(C - this.drawn.length)} without a link are in the list alone.` : ""}` }, heading("Most mentioned"), ...pieces((this.order ?? []).filter(conceptInDays), rankItem, 14)];
  },
  chosen(c) {
    if (!this.stage || c === null || this.picking) return;
    if (net.x[c] < 0) return;
    this.stage.cursor = c;
    this.stage.around([c, ...neighbours[c].slice(0, 12).map(([other]) => other)]);
  },
  focus() {
    this.stage?.canvas.focus({ preventScroll: true });
  },
  redraw() {
    this.stage?.redraw();
  },
};
