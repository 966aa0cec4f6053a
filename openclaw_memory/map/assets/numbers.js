/* How large it is, how it grew, and what was done with it. */

views.numbers = {
  title: "Numbers",
  build(root) {
    root.classList.add("page");
    const n = data.numbers, percent = d3.format(".0%");
    const parts = el("div", { class: "numbers" });
    const part = (title, wide, ...content) => parts.append(el("section", { class: wide ? "wide" : "" }, el("h3", {}, title), ...content.flat().filter(Boolean)));
    const figure = (value, name) => el("div", {}, el("dt", {}, name), el("dd", {}, value));
    root.append(el("div", { class: "page-head" }, el("div", {}, el("h2", {}, "In numbers"), el("p", {}, `${data.made.workspace}, agent ${data.made.agent}`))), parts);
    part("What is here", true, el("dl", { class: "figures" }, figure(thousands(data.totals.lines), "lines"), figure(thousands(n.files), n.files === 1 ? "file" : "files"), figure(thousands(data.totals.concepts), "concepts"), figure(thousands(data.totals.facts), "facts"), figure(thousands(d3.sum(data.days.decided)), "decisions"), figure(size(n.bytes), "index")));
    if (data.days.day.length > 1) part("Growth", true, this.growth());
    if (n.grains.length) part("Notes and summaries", true, el("table", {}, el("thead", {}, el("tr", {}, ["Grain", "Files", "Units", "Archived", "Repeated", "Size", "From", "To"].map((name, at) => el("th", { class: at && at < 6 ? "num" : "" }, name)))), el("tbody", {}, n.grains.map((one) => el("tr", {}, el("td", {}, one.grain === "working" ? "notes" : one.grain), [one.files, one.units, one.archived, one.hidden].map((value) => el("td", { class: "num" }, thousands(value))), el("td", { class: "num" }, size(one.bytes)), el("td", {}, inWords(one.first) || "–"), el("td", {}, inWords(one.last) || "–"))))), el("p", { class: "hint" }, `Consolidation: ${n.consolidation}`));
    const languages = Object.entries(n.languages);
    if (languages.length) part("Languages", false, this.bars(languages.map(([name, share]) => [name[0].toUpperCase() + name.slice(1), share, percent(share)])), Object.entries(n.knows).some(([, known]) => known < 0.5) && el("p", { class: "hint" }, `${n.model} does not know ${Object.entries(n.knows).filter(([, known]) => known < 0.5).map(([name]) => name[0].toUpperCase() + name.slice(1)).join(", ")}; those lines are found by their words.`));
    const states = Object.entries(n.vectors).filter(([, count]) => count), all = d3.sum(states, ([, count]) => count);
    const words = { ready: "ready", pending: "not yet", failed: "failed", outdated: "of another model" };
    part("Vectors", false, all && n.model ? this.bars(states.map(([name, count]) => [words[name] ?? name, count / all, thousands(count)])) : [el("p", { class: "hint" }, data.space.why ?? "None.")], n.model && el("p", { class: "hint" }, n.model));
    const secrets = Object.entries(n.redacted);
    part("Redacted", false, secrets.length ? this.bars(secrets.slice(0, 8).map(([kind, count]) => [kind, count / secrets[0][1], thousands(count)])) : [el("p", { class: "hint" }, "No secret was found in the lines of this page.")], n.private > 0 && el("p", { class: "hint" }, `${counted(n.private, "private line")} kept out.`));
    const at = new Map(lines.id.map((id, i) => [id, i]));
    part("Used most", true, n.used.length ? el("table", {}, el("tbody", {}, n.used.map(([id, path, uses, shown]) => el("tr", {}, el("td", { class: "text", dir: "auto" }, at.has(id) ? lines.text[at.get(id)] : el("span", { class: "where" }, path)), el("td", { class: "num" }, counted(uses, "use")), el("td", { class: "num" }, `shown ${thousands(shown)}×`))))) : el("p", { class: "hint" }, "Nothing was opened, quoted or judged yet. Use is counted as agents search."));
  },
  bars(rows) {
    return el("div", { class: "bars" }, rows.flatMap(([name, share, text]) => {
      const fill = el("i");
      fill.style.width = `${Math.max(1, share * 100)}%`;
      return [el("span", {}, name), el("div", { class: "bar" }, fill), el("span", { class: "n" }, text)];
    }));
  },
  growth() {
    const width = Math.min(1000, Math.max(300, innerWidth - 32)), height = 190, left = 52, bottom = 26;
    const total = d3.cumsum(data.days.day, (_, at) => d3.sum(data.days.kinds, (kind) => kind[at]));
    const points = data.days.day.map((day, at) => [dateOf(day), total[at]]);
    points.push([dateOf(data.days.day.at(-1) + 1), total.at(-1)]);
    const x = d3.scaleUtc([points[0][0], dateOf(data.days.day.at(-1) + 1)], [left, width - 24]), y = d3.scaleLinear([0, d3.max(total)], [height - bottom, 12]).nice(4);
    const holder = el("figure", {}), svg = d3.select(holder).append("svg").attr("viewBox", `0 0 ${width} ${height}`).attr("role", "img").attr("aria-label", `Dated lines grew to ${thousands(d3.max(total))}`);
    for (const tick of y.ticks(4)) {
      svg.append("line").attr("class", "rule").attr("x1", left).attr("x2", width).attr("y1", y(tick)).attr("y2", y(tick));
      svg.append("text").attr("x", left - 10).attr("y", y(tick)).attr("dy", ".32em").attr("text-anchor", "end").text(thousands(tick));
    }
    const shape = [(one) => x(one[0]), (one) => y(one[1])];
    svg.append("path").attr("d", d3.area(shape[0], y(0), shape[1]).curve(d3.curveStepAfter)(points)).style("fill", "var(--c0)").style("opacity", 0.16);
    svg.append("path").attr("d", d3.line(...shape).curve(d3.curveStepAfter)(points)).style("fill", "none").style("stroke", "var(--c0)").style("stroke-width", 2);
    svg.append("g").attr("transform", `translate(0 ${height - bottom})`).call(d3.axisBottom(x).ticks(width / 125).tickSizeOuter(0));
    const undated = d3.sum(data.days.undated);
    return [holder, undated ? el("p", { class: "hint" }, `Dated lines; ${thousands(undated)} more state no day.`) : null];
  },
  rest: () => null,
};
