/* A plane of points on a canvas that is moved and magnified: by pointer, touch, wheel, buttons and keys. */

class Stage {
  /** `x`, `y` are the points' places, `near` how close in pixels a pointer must come to point `i`. */
  constructor(root, { label, x, y, radius, draw, tell, pick }) {
    Object.assign(this, { x, y, radius, paintOn: draw, tell, pick, over: -1, cursor: -1 });
    this.shown = () => true;
    this.canvas = el("canvas", { tabindex: "0", role: "application", "aria-label": label });
    this.context = this.canvas.getContext("2d");
    root.append(
      this.canvas,
      el(
        "div", { class: "zoom" },
        el("button", { type: "button", "aria-label": "Magnify", title: "Magnify (+)", onclick: () => this.scaled(1.5) }, "+"),
        el("button", { type: "button", "aria-label": "Reduce", title: "Reduce (−)", onclick: () => this.scaled(1 / 1.5) }, "−"),
        el("button", { type: "button", "aria-label": "Show all", title: "Show all (0)", onclick: () => this.fit(true) }, "⤢"),
      ),
    );
    this.place = d3.zoomIdentity;
    this.zoom = d3.zoom().on("zoom", (event) => {
      this.place = event.transform;
      hideTip();
      // While it moves less is drawn, so that it moves smoothly.
      this.moving = true;
      clearTimeout(this.ease);
      this.ease = setTimeout(() => {
        this.moving = false;
        this.redraw();
      }, 150);
      this.redraw();
    });
    d3.select(this.canvas).call(this.zoom).on("dblclick.zoom", null);
    this.tree = d3.quadtree(d3.range(x.length).filter((i) => !Number.isNaN(x[i])), (i) => this.x[i], (i) => this.y[i]);
    this.canvas.addEventListener("pointermove", (event) => this.moved(event));
    this.canvas.addEventListener("pointerleave", () => this.hover(-1));
    this.canvas.addEventListener("click", (event) => {
      const at = this.at(event);
      this.cursor = at;
      this.pick(at);
    });
    this.canvas.addEventListener("keydown", (event) => this.key(event));
    new ResizeObserver(() => this.resized()).observe(root);
    this.root = root;
  }

  resized() {
    const { width, height } = this.root.getBoundingClientRect();
    if (!width || !height || (width === this.width && height === this.height)) return;
    const first = !this.width;
    const middle = first ? null : this.place.invert([this.width / 2, this.height / 2]);
    Object.assign(this, { width, height, ratio: Math.min(devicePixelRatio || 1, 2) });
    this.canvas.width = Math.round(width * this.ratio);
    this.canvas.height = Math.round(height * this.ratio);
    if (first || this.whole) this.fit(false);
    else this.to(d3.zoomIdentity.translate(width / 2, height / 2).scale(this.place.k).translate(-middle[0], -middle[1]), false);
  }

  /** Show all points, above the legend. */
  fit(moving) {
    if (!this.width) return;
    const pad = Math.min(this.width, this.height) < 520 ? 36 : 64;
    const height = this.height - (this.root.parentNode.querySelector(".corner")?.offsetHeight ?? 0);
    const [left, right] = d3.extent(this.x), [top, bottom] = d3.extent(this.y);
    const k = Math.min((this.width - 2 * pad) / Math.max(right - left, 1), (height - 2 * pad) / Math.max(bottom - top, 1), 2.4);
    this.zoom.scaleExtent([k / 2, Math.max(k * 60, 6)]);
    this.fitted = k;
    this.to(d3.zoomIdentity.translate(this.width / 2, height / 2).scale(k).translate(-(left + right) / 2, -(top + bottom) / 2), moving);
    this.whole = true;
  }

  to(place, moving) {
    const chosen = d3.select(this.canvas);
    (moving && !still ? chosen.transition().duration(420) : chosen).call(this.zoom.transform, place);
    this.whole = false;
  }

  scaled(by) {
    const chosen = d3.select(this.canvas);
    this.whole = false;
    (still ? chosen : chosen.transition().duration(180)).call(this.zoom.scaleBy, by);
  }

  /** Bring some points into view, if they are not, or if they are small there. */
  around(some) {
    if (!this.width) return;
    const [left, right] = d3.extent(some, (i) => this.x[i]), [top, bottom] = d3.extent(some, (i) => this.y[i]);
    const pad = Math.min(this.width, this.height) * 0.2;
    const k = Math.min((this.width - 2 * pad) / Math.max(right - left, 1), (this.height - 2 * pad) / Math.max(bottom - top, 1), this.fitted * 5, 2.4);
    const [x0, y0] = this.place.apply([left, top]), [x1, y1] = this.place.apply([right, bottom]);
    if (x0 > 30 && y0 > 30 && x1 < this.width - 30 && y1 < this.height - 30 && k < this.place.k * 1.8) return;
    this.to(d3.zoomIdentity.translate(this.width / 2, this.height / 2).scale(k).translate(-(left + right) / 2, -(top + bottom) / 2), true);
  }

  /** Bring a point into the middle, at least `k` times magnified. */
  show(i, k = this.place.k) {
    if (!this.width) return;
    this.to(d3.zoomIdentity.translate(this.width / 2, this.height / 2).scale(Math.max(k, this.place.k)).translate(-this.x[i], -this.y[i]), true);
  }

  at(event) {
    const box = this.canvas.getBoundingClientRect();
    const [x, y] = this.place.invert([event.clientX - box.left, event.clientY - box.top]);
    let best = -1, least = Infinity;
    const most = (event.pointerType === "touch" ? 26 : 12) / this.place.k + this.most();
    this.tree.visit((node, x0, y0, x1, y1) => {
      if (!node.length) {
        do {
          const i = node.data, away = Math.hypot(this.x[i] - x, this.y[i] - y) - this.radius(i) / this.place.k;
          if (away < least && away < (event.pointerType === "touch" ? 20 : 6) / this.place.k && this.shown(i)) [best, least] = [i, away];
        } while ((node = node.next));
      }
      return x0 > x + most || x1 < x - most || y0 > y + most || y1 < y - most;
    });
    return best;
  }

  most() {
    return 40 / this.place.k;
  }

  moved(event) {
    if (event.buttons) return;
    const at = this.at(event);
    this.hover(at);
    if (at >= 0) showTip(event.clientX, event.clientY, ...this.tell(at));
  }

  hover(at) {
    if (at < 0) hideTip();
    if (at === this.over) return;
    this.over = at;
    this.canvas.classList.toggle("over", at >= 0);
    this.redraw();
  }

  key(event) {
    const way = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
    if (way) this.step(...way);
    else if (event.key === "+" || event.key === "=") this.scaled(1.5);
    else if (event.key === "-") this.scaled(1 / 1.5);
    else if (event.key === "0") this.fit(true);
    else if (event.key === "Enter" && this.cursor >= 0) this.pick(this.cursor);
    else return;
    event.preventDefault();
  }

  /** Move the keyboard's cursor to the nearest point that way. */
  step(dx, dy) {
    let best = -1, least = Infinity;
    if (this.cursor < 0) best = d3.range(this.x.length).find((i) => this.shown(i)) ?? -1;
    else
      for (let i = 0; i < this.x.length; i++) {
        const along = (this.x[i] - this.x[this.cursor]) * dx + (this.y[i] - this.y[this.cursor]) * dy;
        const aside = Math.abs((this.x[i] - this.x[this.cursor]) * dy) + Math.abs((this.y[i] - this.y[this.cursor]) * dx);
        if (along > 0 && along >= aside && along + 2 * aside < least && this.shown(i)) [best, least] = [i, along + 2 * aside];
      }
    if (best < 0) return;
    this.cursor = this.over = best;
    const [x, y] = this.place.apply([this.x[best], this.y[best]]);
    if (x < 40 || y < 40 || x > this.width - 40 || y > this.height - 40) this.show(best);
    this.redraw();
    const box = this.canvas.getBoundingClientRect();
    showTip(box.left + x, box.top + y, ...this.tell(best));
  }

  redraw() {
    if (this.waiting || !this.width) return;
    this.waiting = requestAnimationFrame(() => {
      this.waiting = 0;
      const { context: c, ratio, place } = this;
      c.setTransform(ratio, 0, 0, ratio, 0, 0);
      c.clearRect(0, 0, this.width, this.height);
      this.paintOn(c, place, this.width, this.height);
    });
  }
}

const widths = new Map();
/**
 * Labels that cover neither one another nor `circles`, the first ones first: `[text, x, y, pixels, bold, alpha, r]`.
 *
 * One stands below, above, right or left of its place, `r` away from it; a bold one is always drawn.
 */
function drawLabels(c, labels, width, height, most = 140, circles = []) {
  const taken = [];
  c.textAlign = "center";
  c.textBaseline = "middle";
  c.lineJoin = "round";
  let drawn = 0;
  for (const [text, cx, cy, pixels, bold, alpha, r = 0] of labels) {
    const font = `${bold ? 600 : 500} ${pixels}px system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif`;
    const key = `${font}|${text}`;
    if (!widths.has(key)) {
      c.font = font;
      widths.set(key, c.measureText(text).width);
    }
    const half = widths.get(key) / 2 + 3, tall = pixels / 2 + 2;
    const down = r + tall + 1, aside = r + half + 1;
    const alone = ([x, y]) =>
      x > half && x < width - half && y > tall && y < height - tall && !taken.some((box) => Math.abs(box[0] - x) < box[2] + half && Math.abs(box[1] - y) < box[3] + tall);
    const free = ([x, y]) =>
      alone([x, y]) &&
      !circles.some(([ox, oy, or]) => (ox !== cx || oy !== cy) && Math.hypot(Math.max(0, Math.abs(ox - x) - half + 3), Math.max(0, Math.abs(oy - y) - tall + 3)) < or);
    const spots = r ? [[cx, cy + down], [cx, cy - down], [cx + aside, cy], [cx - aside, cy]] : [[cx, cy]];
    const spot = spots.find(free) ?? (drawn < 14 ? spots.find(alone) : null) ?? (bold ? spots[0] : null);
    if (!spot) continue;
    const [x, y] = spot;
    taken.push([x, y, half, tall]);
    c.font = font;
    c.globalAlpha = alpha;
    c.lineWidth = 3.5;
    c.strokeStyle = paint.bg;
    c.strokeText(text, x, y);
    c.fillStyle = paint.ink;
    c.fillText(text, x, y);
    if (++drawn >= most) break;
  }
  c.globalAlpha = 1;
}
const short = (text, most = 28) => (text.length > most ? `${text.slice(0, most - 1).trimEnd()}…` : text);

/** Choices of which one is pressed. */
function segmented(label, options, current, choose) {
  const group = el("div", { class: "segmented", role: "group", "aria-label": label });
  group.append(
    ...options.map(([value, text]) =>
      el("button", { type: "button", "aria-pressed": String(value === current), onclick: (event) => {
        for (const each of group.children) each.setAttribute("aria-pressed", String(each === event.currentTarget));
        choose(value);
      } }, text)),
  );
  return group;
}
function emptyView(root, title, text, command) {
  root.append(el("div", { class: "empty" }, el("h2", {}, title), el("p", {}, text), command && el("code", {}, command)));
}
