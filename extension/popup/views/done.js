// Connected, and no sync runs: what is in the library, and what is not known to be there.
// @ts-check

import { ago, button, counted, icon, make, note, time, troubleName, viewerNote, waits } from "../elements.js";

/** @param {View} view @param {import("../asking.js").Actions} actions */
export function doneView(view, actions) {
  const open = make("a", { class: `btn ${view.isComplete ? "main grow" : ""}`, href: view.libraryUrl }, "Open the library");
  return [
    make("h1", {}, title(view)),
    make("p", { class: "soft" }, text(view)),
    ...notes(view, actions),
    ...viewerNote(view),
    ...(view.latest.length && !view.known?.held && !view.refused ? [latest(view.latest)] : []),
    make("div", { class: "row low" }, ...(view.isComplete ? [open, again(actions)] : [read(view, actions), open])),
  ];
}

/** @param {View} view */
function title({ isComplete, waiting, list, known, unread, trouble }) {
  if (trouble) return troubleName(trouble);
  if (unread) return "X changed something";
  if (isComplete) return known ? inLibrary(known) : "Up to date";
  if (waiting.items) return `${waits(waiting)} to be sent`;
  if (!list) return "Nothing read yet";
  return list.isProved ? "Connected" : "The list was not read to its end";
}

/** @param {View} view */
function text({ isComplete, waiting, list, known, lastSentAt, trouble }) {
  const sent = lastSentAt ? `Last sent ${ago(lastSentAt)}. ` : "";
  if (trouble) return globalThis.bowerbirdWhy({ why: trouble.kind }, time(trouble.at), time(trouble.until));
  if (isComplete && list?.posts === 0 && !known?.posts) return globalThis.bowerbirdEmpty;
  if (isComplete) return `${sent}New bookmarks follow as you save them.`;
  const has = known?.posts ? `${inLibrary(known)}. ` : "";
  if (waiting.items) return `${sent}${has}`;
  if (list) return `${counted(list.posts, "bookmark", "bookmarks")} sent. ${has}`;
  return `${has}Read all your X bookmarks once: the bookmarks page opens and scrolls by itself. New ones follow as you save them.`;
}

/** @param {Known} known */
const inLibrary = ({ posts }) => `${counted(posts, "post", "posts")} in your library`;

/** @param {View} view @param {import("../asking.js").Actions} actions */
function read({ hasReadAll }, actions) {
  return hasReadAll
    ? button("Read new bookmarks", "main grow", () => actions.run("start"))
    : button("Read all bookmarks", "main grow", () => actions.run("start", { kind: "full" }));
}

/** @param {import("../asking.js").Actions} actions */
function again(actions) {
  const full = () => actions.run("start", { kind: "full" });
  return make("button", { class: "btn", type: "button", title: "Look for missed ones", "aria-label": "Look for missed ones", click: full }, icon("sync"));
}

/** @param {View} view @param {import("../asking.js").Actions} actions */
function notes(view, actions) {
  const found = [];
  if (view.known?.held) {
    const missing = counted(view.known.held, "post of your library is", "posts of your library are");
    const confirm = button("They were removed", "slim", () => actions.run("confirm_removals"));
    const look = make("a", { href: view.libraryUrl }, "Look in the library");
    found.push(note("warn", `${missing} not in your X bookmarks any more. That is a lot, so nothing was changed. `, make("p", { class: "row" }, look, confirm)));
  }
  if (view.refused) {
    const dismiss = button("Close", "quiet slim", () => actions.run("dismiss"));
    found.push(note("warn", `Something was not saved ${ago(view.refused.at)}. ${view.refused.sentence} `, dismiss));
  }
  return found;
}

/** @param {Post[]} posts */
function latest(posts) {
  const rows = posts.map(({ text, author }) =>
    make("li", {}, make("span", { class: "t", dir: "auto" }, text), make("small", {}, make("bdi", {}, author))),
  );
  return make("ul", { class: "mini", "aria-label": "Latest bookmarks" }, ...rows);
}
