// The settings: what is read, and the connection.
// @ts-check

import { button, counted, make, note } from "../elements.js";

/** @param {View} view @param {import("../asking.js").Actions} actions */
export function settingsView(view, actions) {
  const reads = make("input", {
    type: "checkbox",
    id: "opened",
    checked: view.readsOpened,
    change: (/** @type {Event} */ event) => actions.run("read_opened", { reads: /** @type {HTMLInputElement} */ (event.target).checked }),
  });
  const waiting = view.waiting.items ? ` ${counted(view.waiting.items, "part", "parts")} that wait to be sent are deleted.` : "";
  const really = button("Disconnect", "", () => actions.run("disconnect"));
  const ask = button("Disconnect…", "quiet", () => {
    ask.replaceWith(note("warn", `The token is deleted here.${waiting} Revoke it on the keys page too. `, really));
    really.focus();
  });
  return [
    make("h1", {}, "Settings"),
    make("p", { class: "soft" }, `Connected to ${view.host}${view.email ? ` as ${view.email}` : ""}.`),
    make("label", { class: "opt", for: "opened" }, reads, make("span", {}, "Complete posts and articles when I open them on X")),
    ...view.ignored.map(({ user, name }) =>
      note("", `The X account ${name} is left out. `, button("Send it too", "slim", () => actions.run("take_user", { user })))),
    make("ul", { class: "small" },
      make("li", {}, make("a", { href: view.keysUrl }, "Devices and keys in the library")),
      make("li", {}, make("a", { href: chrome.runtime.getURL("privacy.html") }, "Privacy: what is read and sent"))),
    make("div", { class: "row low" }, button("Connect again", "", () => actions.connectAgain()), ask),
  ];
}
