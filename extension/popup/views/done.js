// Up to date, or connected and not synced yet.
// @ts-check

import { ago, button, counted, icon, make, note, viewerNote } from "../elements.js";

/** @param {View} view @param {import("../asking.js").Actions} actions */
export function doneView(view, actions) {
  const posts = view.known?.posts ?? 0;
  const isFresh = !view.hasReadAll && view.sync === null;
  const title = isFresh ? "Connected" : posts ? `All ${counted(posts, "post is", "posts are")} kept`.replace("All 1 post", "One post") : "Up to date";
  const sent = view.lastSentAt ? `Last sent ${ago(view.lastSentAt)}. ` : "";
  const text = isFresh
    ? `${posts ? `Your library has ${counted(posts, "post", "posts")}. ` : ""}Read all your X bookmarks once: the bookmarks page opens and scrolls by itself. New ones follow as you save them.`
    : `${sent}New bookmarks follow as you save them.`;
  const full = () => actions.run("start", { kind: "full" });
  const open = make("a", { class: `btn ${isFresh ? "" : "main grow"}`, href: view.libraryUrl }, "Open the library");
  const again = make("button", { class: "btn", type: "button", title: "Look for missed ones", "aria-label": "Look for missed ones", click: full }, icon("sync"));
  return [
    make("h1", {}, title),
    make("p", { class: "soft" }, text),
    ...notes(view, actions),
    ...viewerNote(view),
    ...(view.latest.length && !view.known?.held && !view.refused ? [latest(view.latest)] : []),
    make("div", { class: "row low" }, ...(isFresh ? [button("Read all bookmarks", "main grow", full), open] : [open, again])),
  ];
}

/** @param {View} view @param {import("../asking.js").Actions} actions */
function notes(view, actions) {
  const found = [];
  if (view.waiting.items) found.push(note("", `${counted(view.waiting.items, "part waits", "parts wait")} to be sent.`));
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
