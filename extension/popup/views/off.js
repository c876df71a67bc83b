// Not connected: takes a connect string, or opens the library's page that makes one.
// @ts-check

import { parse } from "../../background/addresses.js";
import { openTab } from "../asking.js";
import { make } from "../elements.js";

/**
 * @param {View} view
 * @param {import("../asking.js").Actions} actions
 * @param {boolean} isAgain
 */
export function offView(view, actions, isAgain) {
  const error = make("p", { class: "error", id: "error", role: "alert" });
  const input = /** @type {HTMLInputElement} */ (
    make("input", { class: "in", id: "line", autocomplete: "off", spellcheck: "false", placeholder: "https://library.example/#K7QM-2XRD", "aria-describedby": "error" })
  );
  const submit = /** @type {HTMLButtonElement} */ (make("button", { class: "btn main wide", type: "submit" }, "Connect"));

  /** @param {Event} event */
  const connect = async (event) => {
    event.preventDefault();
    const text = input.value.trim();
    let given;
    try {
      given = parse(text);
    } catch (problem) {
      show(error, input, text ? /** @type {Error} */ (problem).message : "Paste the connection link, or type the address of your library.");
      return;
    }
    if (!given.code) {
      await openTab(`${given.address}/connect`);
      return;
    }
    const { protocol, hostname } = new URL(given.address);
    // Asked for, but not waited for: the library answers any origin, and the question closes the
    // popup in some browsers.
    chrome.permissions.request({ origins: [`${protocol}//${hostname}/*`] }).catch(() => {});
    submit.disabled = true;
    submit.textContent = "Connecting…";
    const answer = await actions.run("connect", { text });
    submit.disabled = false;
    submit.textContent = "Connect";
    if (answer?.error) show(error, input, answer.error);
  };

  const field = make("div", { class: "field" }, make("label", { for: "line" }, "Connection link, or address"), input, error);
  const form = make("form", { submit: connect, class: "mid-form" }, field, submit);
  return [
    make("h1", {}, isAgain ? "Connect again" : "Connect your library"),
    make("p", { class: "soft" }, "Open /connect in your library, create a connection link, and paste it here."),
    form,
    make("p", { class: "small soft" }, "If you enter only the address, the page that creates the link opens. You can create an account there."),
    make("p", { class: "small soft" }, waits(view) || "It reads what X shows you about bookmarks and opened posts, and nothing else: no password, no cookie, no message."),
  ];
}

/** @param {View} view */
const waits = (view) => (view.waiting.items ? `What waits here is kept, and sent to the library that you connect.` : "");

/** @param {HTMLElement} error @param {HTMLInputElement} input @param {string} sentence */
function show(error, input, sentence) {
  error.textContent = sentence;
  input.setAttribute("aria-invalid", "true");
  input.focus();
}
