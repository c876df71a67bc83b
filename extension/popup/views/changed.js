// X has changed its answers: what the library could not read, and that nothing is lost.
// @ts-check

import { button, counted, make, note, time } from "../elements.js";

/** @param {View} view @param {import("../asking.js").Actions} actions */
export function changedView(view, actions) {
  const { since, pages, isKept } = /** @type {Unread} */ (view.unread);
  const count = counted(pages, "page of bookmarks", "pages of bookmarks");
  const kept = isKept
    ? "What X sent is kept in your library for a week, and can be read after its next update."
    : "Your library could not keep all of them. Read your bookmarks again after its next update.";
  const has = view.known?.posts ? ` ${counted(view.known.posts, "post is", "posts are")} safe in your library.` : "";
  return [
    make("h1", {}, "X has changed its pages"),
    make("p", { class: "soft" }, `${count} could not be read. ${kept}`),
    note("warn", `Since ${time(since)}.${has} Nothing was marked as deleted or removed.`),
    make("div", { class: "row low" },
      button("Read them again", "main grow", () => actions.run("start", { kind: "full" }), "sync"),
      make("a", { class: "btn", href: view.libraryUrl }, "Open the library")),
  ];
}
