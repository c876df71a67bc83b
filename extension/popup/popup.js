// The popup: shows in which state the extension is, and what the person can do.
// @ts-check

import { ask, openTab } from "./asking.js";
import { icon, make } from "./elements.js";
import { changedView } from "./views/changed.js";
import { doneView } from "./views/done.js";
import { errorView } from "./views/error.js";
import { offView } from "./views/off.js";
import { saveForm } from "./views/save.js";
import { settingsView } from "./views/settings.js";
import { pausedView, syncingView } from "./views/sync.js";

const POLL_MS = 1_000;
const REFRESH_MS = 15_000;

/**
 * @param {View} view
 * @returns {[string, string]} the colour of the state, and its name
 */
function stateOf(view) {
  const { state, problem, refused, known, waiting, isComplete, trouble } = view;
  if (state === "off") return ["", "not connected"];
  if (state === "syncing") return ["busy", "syncing"];
  if (isChanged(view)) return ["hold", "kept for later"];
  const isHelped = ["signed_out", "locked"].includes(trouble?.kind ?? "");
  if (isHelped && ["paused", "done"].includes(state)) return ["err", "needs you"];
  if (state === "paused") return ["hold", view.sync?.until ? "waiting" : "paused"];
  // What is tried again by itself needs nobody.
  const isUnanswered = problem ? !["unreachable", "busy"].includes(problem.kind) : state !== "error" && Boolean(refused || known?.held);
  if (isUnanswered) return ["err", "needs you"];
  if (state === "error" || problem) return ["hold", "waiting"];
  if (waiting.items) return ["busy", "sending"];
  return isComplete ? ["on", "up to date"] : ["", "connected"];
}

/** What the person paused comes first, and so does what needs them. @param {View} view */
function isChanged({ state, unread, sync, refused, known }) {
  return unread !== null && ["done", "paused"].includes(state) && sync?.state !== "paused" && !refused && !known?.held;
}

/** @param {string} id */
const part = (id) => /** @type {HTMLElement} */ (document.getElementById(id));

let isInSettings = false;
let isConnecting = false;
let shown = "";
let shownState = "";
let isPressed = false;

/** @type {import("./asking.js").Actions} */
const actions = {
  async run(type, fields) {
    const answer = await ask(type, fields);
    if (type === "connect" && answer?.error === "") {
      isConnecting = false;
      shown = "";
    }
    await look();
    // What was on its way when the sync paused is in the library now.
    if (type === "pause" || type === "stop") refresh();
    return answer;
  },
  connectAgain() {
    isConnecting = true;
    isInSettings = false;
    shown = "";
    look();
  },
  close: () => window.close(),
};

/** @param {View} view */
function content(view) {
  if (isConnecting || view.state === "off") return offView(view, actions, isConnecting);
  if (isInSettings) return settingsView(view, actions);
  if (view.state === "error") return errorView(view, actions);
  if (view.state === "syncing") return syncingView(view, actions);
  if (isChanged(view)) return changedView(view, actions);
  return view.state === "paused" ? pausedView(view, actions) : doneView(view, actions);
}

/** @param {View} view */
function foot(view) {
  if (isConnecting || view.state === "off") {
    const privacy = make("a", { href: chrome.runtime.getURL("privacy.html"), target: "_blank", class: "push" }, "Privacy");
    const back = make("button", { type: "button", class: "btn quiet slim", click: toggleConnecting }, "Back");
    return isConnecting && view.state !== "off" ? [back, privacy] : [privacy];
  }
  const label = isInSettings ? "Close the settings" : "Settings";
  const settings = make("button", { type: "button", class: "ib push", title: label, "aria-label": label, "aria-expanded": isInSettings, click: toggleSettings }, icon("settings"));
  return [make("span", {}, `to ${view.host}`), settings];
}

function toggleSettings() {
  isInSettings = !isInSettings;
  shown = "";
  look();
}

function toggleConnecting() {
  isConnecting = !isConnecting;
  shown = "";
  look();
}

/** @param {View} view */
function render(view) {
  const isTyping = document.activeElement instanceof HTMLInputElement;
  // The time until the next try is a part of what is shown.
  const ticks = view.problem ? Math.floor(Date.now() / 5_000) : 0;
  const key = JSON.stringify([view, isInSettings, isConnecting, ticks]);
  // New elements under the finger of the person would take the click away.
  if (key === shown || isPressed || (isTyping && shown && shownState === view.state)) return;
  [shown, shownState] = [key, view.state];
  const [kind, words] = stateOf(view);
  part("state").className = `state push ${kind}`;
  if (part("state").textContent !== words) part("state").textContent = words;
  const focused = document.activeElement?.textContent;
  part("content").replaceChildren(...content(view));
  part("foot").replaceChildren(...foot(view));
  refocus(focused);
  if (!isInSettings && !isConnecting && view.state !== "off") addSaveForm(view);
}

/** @param {string | null | undefined} text what the focused button said */
function refocus(text) {
  if (!text) return;
  const buttons = /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll("main button, main a"));
  [...buttons].find((one) => one.textContent === text)?.focus();
}

/** @type {HTMLElement | null | undefined} */
let form;

/** @param {View} view */
async function addSaveForm(view) {
  if (form === undefined) form = await saveForm(actions);
  const low = part("content").querySelector(".low");
  if (form && view.state !== "error") part("content").insertBefore(form, low);
}

async function look() {
  const view = await ask("view");
  if (view?.state) render(view);
}

document.addEventListener("pointerdown", () => { isPressed = true; });
for (const name of ["pointerup", "pointercancel"]) {
  // The click follows.
  document.addEventListener(name, () => setTimeout(() => { isPressed = false; }));
}

document.addEventListener("click", (event) => {
  const link = event.target instanceof Element ? event.target.closest("a") : null;
  if (!link) return;
  event.preventDefault();
  openTab(link.href);
});

/** Asks the library how many posts it has, and whether the token is still valid. */
async function refresh() {
  await ask("refresh");
  await look();
}

await look();
setInterval(look, POLL_MS);
setInterval(refresh, REFRESH_MS);
await refresh();
