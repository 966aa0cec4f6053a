/* The frame: views, search, theme, keys, and where one is as the page's address says it. */

const NAMES = Object.keys(views);
const tabs = document.getElementById("tabs"), search = document.getElementById("search"), stageOf = {};

for (const name of NAMES)
  tabs.append(el("button", { type: "button", role: "tab", id: `tab-${name}`, "aria-controls": `view-${name}`, onclick: () => show(name) }, views[name].title));

function show(name, keepPanel = false) {
  state.view = name;
  hideTip();
  for (const tab of tabs.children) {
    const own = tab.id === `tab-${name}`;
    tab.setAttribute("aria-selected", String(own));
    tab.tabIndex = own ? 0 : -1;
    if (own) tab.scrollIntoView({ block: "nearest", inline: "nearest" });
  }
  for (const other of Object.values(stageOf)) other.hidden = true;
  if (!stageOf[name]) {
    stageOf[name] = el("div", { class: "view", role: "tabpanel", id: `view-${name}`, "aria-labelledby": `tab-${name}` });
    document.getElementById("main").append(stageOf[name]);
    views[name].build(stageOf[name]);
  }
  stageOf[name].hidden = false;
  if (!keepPanel) refreshPanel();
  views[name].redraw?.();
  remember();
}

function select(concept) {
  state.concept = concept;
  hideTip();
  refreshPanel();
  views[state.view].chosen?.(concept);
  views[state.view].redraw?.();
  remember();
}

/** Keep every view to the days from `from` to `to`, or to none. */
function choose(from, to) {
  state.days = from && to ? [from, to].sort((a, b) => a - b) : null;
  state.concepts = state.days && new Set(once.filter(lineInDays).flatMap((i) => lines.concepts[i]));
  const chip = document.getElementById("days");
  chip.hidden = !state.days;
  chip.firstElementChild.textContent = state.days ? span(...state.days) : "";
  refreshPanel();
  document.getElementById("said").textContent = state.days ? `Only ${span(...state.days)}` : "All days";
  views[state.view].redraw?.();
}
document.getElementById("days").addEventListener("click", () => {
  choose();
  document.getElementById(`tab-${state.view}`).focus();
});

function remember() {
  const concept = state.concept === null ? "" : `/${encodeURIComponent(net.slug[state.concept])}`;
  try {
    history.replaceState(null, "", `#${state.view}${concept}`);
  } catch {
    /* an address that cannot be changed is no loss */
  }
}

function recall() {
  const [view, slug] = location.hash.slice(1).split("/");
  let wanted = -1;
  try {
    wanted = slug ? net.slug.indexOf(decodeURIComponent(slug)) : -1;
  } catch {
    /* not an address of ours */
  }
  state.concept = wanted >= 0 ? wanted : null;
  show(NAMES.includes(view) ? view : NAMES[0]);
}

let due = 0;
search.addEventListener("input", () => {
  clearTimeout(due);
  due = setTimeout(() => {
    state.query = search.value.trim();
    state.words = [...new Set(plain(state.query).split(/\s+/u).filter(Boolean))];
    state.concept = null;
    refreshPanel();
    views[state.view].redraw?.();
    remember();
  }, 110);
});
document.getElementById("theme").addEventListener("click", toggleTheme);
preferred.addEventListener("change", applyTheme);

tabs.addEventListener("keydown", (event) => {
  const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  if (!step) return;
  const next = NAMES[(NAMES.indexOf(state.view) + step + NAMES.length) % NAMES.length];
  show(next);
  document.getElementById(`tab-${next}`).focus();
  event.preventDefault();
});
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const typing = event.target.matches("input, select, textarea");
  if (event.key === "Escape") {
    closePanel();
    hideTip();
  } else if (typing) return;
  else if (event.key === "/") {
    search.focus();
    search.select();
    event.preventDefault();
  } else if (/^[1-9]$/.test(event.key) && NAMES[event.key - 1]) show(NAMES[event.key - 1]);
});

// In the frame of an MCP client: greet it, take its theme, and ask for room where it leaves that to the page.
if (parent !== window) {
  const tell = (message) => parent.postMessage({ jsonrpc: "2.0", ...message }, "*");
  addEventListener("message", ({ source, data: answer }) => {
    if (source !== parent || answer?.id !== "map" || !answer.result) return;
    const host = answer.result.hostContext ?? {};
    chosen = host.theme ?? null;
    applyTheme();
    tell({ method: "ui/notifications/initialized", params: {} });
    if (!host.containerDimensions?.height) tell({ method: "ui/notifications/size-changed", params: { height: Math.min(720, host.containerDimensions?.maxHeight ?? 720) } });
  });
  tell({ id: "map", method: "ui/initialize", params: { protocolVersion: "2026-01-26", appInfo: { name: "openclaw-memory", version: data.made.version }, appCapabilities: { availableDisplayModes: ["inline", "fullscreen"] } } });
}

const made = data.made;
document.getElementById("whose").textContent = [made.workspace, made.agent === "main" ? "" : made.agent].filter(Boolean).join(" · ");
document.getElementById("privacy").textContent = `This file holds private notes of ${made.workspace}: look before you share it. It needs no network and sends nothing. Made ${made.at.slice(0, 16).replace("T", " ")} by openclaw-memory ${made.version}.`;
document.title = `Memory map · ${made.workspace}`;
applyTheme();
recall();
document.documentElement.dataset.ready = "true";
