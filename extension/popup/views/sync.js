// A sync that runs, and one that waits for the person.
// @ts-check

import { button, day, make, note, number, time, troubleName, viewerNote, waits } from "../elements.js";

/**
 * Only if the length of the list is known: the first sync does not know it.
 * @param {View} view
 * @param {Sync} sync
 */
function bar(view, sync) {
  const total = view.known?.posts ?? 0;
  if (!view.hasReadAll || sync.kind !== "full" || !total) return [];
  return [make("progress", { "aria-label": "Progress of the sync", max: total, value: Math.min(sync.seen, total) })];
}

/** @param {View} view @param {Sync} sync */
function place(view, sync) {
  const back = sync.oldest ? `back to ${day(sync.oldest)}` : "at the newest";
  const waiting = view.waiting.posts ? `${number(view.waiting.posts)} waiting to be sent` : "";
  return make("p", { class: "row small soft" }, make("span", {}, back), make("span", { class: "push" }, waiting));
}

/** @param {View} view @param {import("../asking.js").Actions} actions */
export function syncingView(view, actions) {
  const sync = /** @type {Sync} */ (view.sync);
  const rate = view.perMinute ? ` About ${number(view.perMinute)} per minute.` : "";
  return [
    make("h1", { class: "sr" }, "Syncing"),
    make("p", {}, make("span", { class: "huge" }, number(sync.seen)), make("br"), make("span", { class: "soft" }, `posts seen, ${number(sync.inserted)} of them new`)),
    ...bar(view, sync),
    place(view, sync),
    ...viewerNote(view),
    make("p", { class: "soft" }, `Leave the bookmarks tab open and in front. You may switch to another window.${rate}`),
    make("div", { class: "row low" }, button("Pause", "grow", () => actions.run("pause"), "pause"), button("Stop here", "quiet", () => actions.run("stop"))),
  ];
}

/** @param {View} view @param {import("../asking.js").Actions} actions */
export function pausedView(view, actions) {
  const sync = /** @type {Sync} */ (view.sync);
  const isOver = sync.state === "gave_up";
  const title = { paused: "Paused at", interrupted: "Interrupted at", gave_up: "Stopped at" }[String(sync.state)] ?? "Paused at";
  const waiting = view.waiting.items
    ? [note("", `New bookmarks are still noted: ${waits(view.waiting).toLowerCase()} to be sent.`)]
    : [];
  const restart = () => actions.run(isOver ? "start" : "resume", isOver ? { kind: sync.kind } : {});
  const kind = /** @type {TroubleKind} */ (sync.why);
  const heading = kind in globalThis.bowerbirdTroubles ? troubleName({ kind, until: sync.until }) : `${title} ${number(sync.seen)}`;
  const second = sync.until
    ? button("Stop here", "quiet", () => actions.run("stop"))
    : make("a", { class: "btn", href: view.libraryUrl }, "Open the library");
  return [
    make("h1", {}, heading),
    make("p", { class: "soft" }, globalThis.bowerbirdWhy(sync, time(sync.changedAt), time(sync.until))),
    ...bar(view, sync),
    place(view, sync),
    ...viewerNote(view),
    ...waiting,
    make("div", { class: "row low" }, button(isOver ? "Start" : sync.until ? "Try now" : "Resume", "main grow", restart, "play"), second),
  ];
}
