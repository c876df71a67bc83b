// Saves the post of the tab behind the popup, with labels.
// @ts-check

import { postAt } from "../../background/links.js";
import { ask } from "../asking.js";
import { make } from "../elements.js";

/**
 * @param {import("../asking.js").Actions} actions
 * @returns {Promise<HTMLElement | null>} null if the tab does not show a single post
 */
export async function saveForm(actions) {
  const [tab] = await chrome.tabs.query({ active: true, currentWindow: true });
  const post = postAt(tab?.url);
  if (!post) return null;
  const input = /** @type {HTMLInputElement} */ (
    make("input", { class: "in", id: "labels", list: "known", autocomplete: "off", placeholder: "birds, to read" })
  );
  const known = make("datalist", { id: "known" });
  const said = make("p", { class: "small soft", role: "status" });
  const submit = /** @type {HTMLButtonElement} */ (make("button", { class: "btn slim", type: "submit" }, "Save this post"));

  /** @param {Event} event */
  const save = async (event) => {
    event.preventDefault();
    submit.disabled = true;
    said.textContent = "Saving…";
    const labels = input.value.split(",").map((name) => name.trim()).filter(Boolean);
    const outcome = await actions.run("save", { link: post.link, labels, tab: tab?.id });
    said.textContent = outcome?.sentence || globalThis.bowerbirdSaid[outcome?.state] || "Not saved. Try again.";
    submit.disabled = outcome?.state === "sent" || outcome?.state === "waiting";
  };

  ask("labels").then((found) => {
    if (Array.isArray(found)) known.append(...found.map(({ name }) => make("option", { value: name })));
  });
  const row = make("div", { class: "row" }, submit, said);
  return make("form", { submit: save, class: "field", "aria-label": "Save this post" },
    make("label", { for: "labels" }, `This post on ${post.network}: labels, separated by commas`), input, known, row);
}
