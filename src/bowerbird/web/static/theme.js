// Light, dark, or as the system: remembered in the cookie `theme`, which the server reads too.
// @ts-check
"use strict";

const NAMES = { "": "system", light: "light", dark: "dark" };

/** @returns {"" | "light" | "dark"} */
function chosen() {
  const value = /(?:^|; )theme=(light|dark)(?:;|$)/.exec(document.cookie)?.[1];
  return value === "light" || value === "dark" ? value : "";
}

function show() {
  const theme = chosen();
  if (theme) document.documentElement.dataset.theme = theme;
  else delete document.documentElement.dataset.theme;
  for (const button of document.querySelectorAll("[data-theme-switch]")) {
    const label = button.querySelector("span");
    if (label) label.textContent = `Colours: ${NAMES[theme]}`;
    button.removeAttribute("hidden");
  }
}

function switchToNext() {
  const next = chosen() === "" ? "light" : chosen() === "light" ? "dark" : "";
  const age = next ? 365 * 24 * 3600 : 0;
  document.cookie = `theme=${next}; path=/; max-age=${age}; samesite=lax`;
  show();
}

show();
document.addEventListener("DOMContentLoaded", () => {
  show();
  for (const button of document.querySelectorAll("[data-theme-switch]")) {
    button.addEventListener("click", switchToNext);
  }
});
