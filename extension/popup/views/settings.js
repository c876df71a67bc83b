// The settings: what is read, and the connection.
// @ts-check

import { button, counted, make, note } from "../elements.js";

/** Firefox asks the person before the extension may send which posts were opened. */
async function mayReadOpened() {
  if (!chrome.runtime.getURL("").startsWith("moz-extension:")) return true;
  return chrome.permissions.request({ data_collection: ["browsingActivity"] }).catch(() => false);
}

/** @param {View} view @param {import("../asking.js").Actions} actions */
export function settingsView(view, actions) {
  const reads = /** @type {HTMLInputElement} */ (make("input", {
    type: "checkbox",
    id: "opened",
    checked: view.readsOpened,
    change: async () => {
      reads.checked &&= await mayReadOpened();
      await actions.run("read_opened", { reads: reads.checked });
    },
  }));
  const waiting = view.waiting.items ? ` ${view.waiting.posts ? counted(view.waiting.posts, "post that waits", "posts that wait") : "What waits"} to be sent will be deleted.` : "";
  const really = button("Disconnect", "", () => actions.run("disconnect"));
  const ask = button("Disconnect…", "quiet", () => {
    ask.replaceWith(note("warn", `The token is deleted here.${waiting} Revoke it on the keys page too. `, really));
    really.focus();
  });
  return [
    make("h1", {}, "Settings"),
    make("p", { class: "soft" }, `${view.problem?.kind === "revoked" ? "Was connected" : "Connected"} to ${view.host}${view.email ? ` as ${view.email}` : ""}.`),
    make("label", { class: "opt", for: "opened" }, reads, make("span", {}, "Also complete posts that I open on X and that are not my bookmarks there")),
    ...view.ignored.map(({ user, name }) =>
      note("", `The X account ${name} is left out. `, button("Send it too", "slim", () => actions.run("take_user", { user })))),
    make("ul", { class: "small" },
      make("li", {}, make("a", { href: view.keysUrl }, "Devices and keys in the library")),
      make("li", {}, make("a", { href: chrome.runtime.getURL("privacy.html") }, "Privacy: what is read and sent"))),
    make("div", { class: "row low" }, button("Connect again", "", () => actions.connectAgain()), ask),
  ];
}
