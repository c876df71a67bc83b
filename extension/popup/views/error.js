// Nothing can be sent, or a question is open: says what happened, what is safe, and what to do.
// @ts-check

import { button, make, note, time, until, waits } from "../elements.js";

/** @typedef {import("../asking.js").Actions} Actions */

/** @param {View} view @param {Actions} actions */
export function errorView(view, actions) {
  const kind = view.problem?.kind;
  if (kind === "revoked") return revoked(view, actions);
  if (kind === "other_user") return otherUser(view, actions);
  return kind ? unreachable(view, actions) : full(view, actions);
}

/** @param {View} view */
function kept({ waiting }) {
  if (!waiting.items) return "Nothing waits to be sent.";
  return `${waits(waiting)} here; ${waiting.posts ? "none" : "nothing"} is lost.`;
}

/** @param {View} view */
function details(view) {
  return make("details", { class: "more small soft" }, make("summary", {}, "What happened"), make("p", {}, view.problem?.sentence || "No details."));
}

/** @param {View} view @param {Actions} actions */
function unreachable(view, actions) {
  const since = view.problem ? ` since ${time(view.problem.since)}` : "";
  const isBusy = view.problem?.kind === "busy";
  const title = isBusy ? "Your library asks to wait" : "Your library does not answer";
  const said = isBusy ? `${view.host} does not take posts${since}.` : `${view.host} could not be reached${since}.`;
  const next = view.retryAt > Date.now() ? `It tries again by itself, in ${until(view.retryAt)}.` : "It is trying again now.";
  return [
    make("h1", {}, title),
    make("p", { class: "soft" }, `${said} ${kept(view)}`),
    note("warn", `${next} If the address has changed, connect again.`),
    ...(view.isFull ? [note("warn", FULL)] : []),
    details(view),
    make("div", { class: "row low" }, button("Try now", "main grow", () => actions.run("retry"), "sync"), button("Connect again", "", () => actions.connectAgain())),
  ];
}

/** @param {View} view @param {Actions} actions */
function revoked(view, actions) {
  return [
    make("h1", {}, "This browser was disconnected"),
    make("p", { class: "soft" }, `${view.host} does not accept the token of this browser any more. It was revoked on the keys page, or the account is gone. ${kept(view)}`),
    note("bad", view.waiting.items ? "Connect again to send them and keep syncing." : "Connect again to keep syncing."),
    make("div", { class: "row low" }, button("Connect again", "main grow", () => actions.connectAgain()), make("a", { class: "btn", href: view.keysUrl }, "Keys page")),
  ];
}

/** @param {View} view @param {Actions} actions */
function otherUser(view, actions) {
  const user = view.userName || view.problem?.user || "";
  return [
    make("h1", {}, "Another X account"),
    make("p", { class: "soft" }, `X is signed in to the account ${user}. Until now this browser has sent the bookmarks of another one. ${kept(view)}`),
    note("warn", "Both would be in the same library. Nothing of this account is sent until you decide."),
    make("div", { class: "row low" }, button("Send them too", "main grow", () => actions.run("confirm_user")), button("Leave them out", "", () => actions.run("ignore_user"))),
  ];
}

const FULL = "The queue is full, so reading is paused. Bookmarks that you save now still fit.";

/** @param {View} view @param {Actions} actions */
function full(view, actions) {
  return [
    make("h1", {}, "The queue is full"),
    make("p", { class: "soft" }, kept(view)),
    note("warn", FULL),
    make("div", { class: "row low" }, button("Send now", "main grow", () => actions.run("retry"), "sync")),
  ];
}
