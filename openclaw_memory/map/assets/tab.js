/** The Memory tab: its frame takes the theme of the Control UI around it, and Enter searches; forms are not allowed in it. */
"use strict";

const TOKENS = { surface: "bg", card: "card", text: "ink", muted: "soft", border: "line", accent: "accent", "font-body": "font" };
addEventListener("message", ({ source, data }) => {
  if (source !== parent || data?.type !== "openclaw:widget-theme") return;
  const style = document.documentElement.style;
  style.colorScheme = data.mode === "light" ? "light" : "dark";
  for (const [token, name] of Object.entries(TOKENS)) {
    if (typeof data.tokens?.[token] === "string") style.setProperty(`--${name}`, data.tokens[token]);
  }
});

const ask = document.getElementById("ask");
ask.addEventListener("keydown", ({ key, isComposing }) => {
  if (key !== "Enter" || isComposing || !ask.value.trim()) return;
  location.search = new URLSearchParams({ view: "search", agent: ask.dataset.agent, q: ask.value.trim() });
});
addEventListener("keydown", (event) => {
  if (event.key !== "/" || event.target === ask) return;
  event.preventDefault();
  ask.select();
});
