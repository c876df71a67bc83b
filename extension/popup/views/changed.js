// X has changed its answers: what the library could not read, and that nothing is lost.
// @ts-check

import { button, counted, make, note, time } from "../elements.js";

/** @param {View} view @param {import("../asking.js").Actions} actions */
export function changedView(view, actions) {
  const { since, pages, isKept } = /** @type {Unread} */ (view.unread);
  const count = counted(pages, "page of bookmarks", "pages of bookmarks");
  return [
    make("h1", {}, "X changed something"),
    make("p", { class: "soft" }, globalThis.bowerbirdChanged(view.known?.posts ?? 0, isKept)),
    note("warn", `${count} could not be read since ${time(since)}. Nothing was marked as deleted or removed.`),
    make("div", { class: "row low" },
      button("Read them again", "main grow", () => actions.run("start", { kind: "full" }), "sync"),
      make("a", { class: "btn", href: view.libraryUrl }, "Open the library")),
  ];
}
