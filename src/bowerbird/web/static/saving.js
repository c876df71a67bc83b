// The form that saves a link: as a dialog on every page, with what is known about the link while it
// is typed. Without this script, /save is a page.
// @ts-check

const WAIT_MILLISECONDS = 250;
const help = document.querySelector("a[data-help]");
const base = help instanceof HTMLElement ? help.dataset.base ?? "" : "";
const SAVE = `${base}/save`;
/** @type {HTMLElement | null} */
let dialog = null;
/** @type {AbortController | null} */
let asking = null;

/**
 * A part of the page that saves.
 * @param {string} url
 * @param {AbortSignal} [signal]
 * @returns {Promise<HTMLFormElement | null>}
 */
function fetchForm(url, signal) {
  // Not by fetch: the policy allows no text to become markup.
  return new Promise((resolve) => {
    const request = new XMLHttpRequest();
    request.open("GET", url);
    request.responseType = "document";
    request.onload = () => resolve(request.response?.querySelector("form[data-saver]") ?? null);
    request.onerror = () => resolve(null);
    signal?.addEventListener("abort", () => request.abort());
    request.send();
  });
}

/**
 * Shows the text that the network publishes. The post can be saved without it.
 * @param {HTMLFormElement} form
 */
async function preview(form) {
  const place = form.querySelector("[data-preview]");
  if (!(place instanceof HTMLElement)) return;
  const answer = await fetch(place.dataset.preview ?? "", { cache: "no-store" }).catch(() => null);
  const { text, labels = [] } = answer?.ok ? await answer.json() : { text: "" };
  place.textContent = text;
  place.hidden = !text;
  if (labels.length > 0) form.querySelector("[data-fitting]")?.replaceChildren(...labels.map(offer));
}

/**
 * Shows what is known about the link.
 * @param {HTMLFormElement} form
 */
async function look(form) {
  const link = form.elements.namedItem("link");
  if (!(link instanceof HTMLInputElement)) return;
  asking?.abort();
  asking = new AbortController();
  const found = await fetchForm(`${SAVE}?${new URLSearchParams({ url: link.value.trim() })}`, asking.signal);
  if (!found) return;
  for (const part of ["[data-found]", "[data-fitting]", "[data-buttons]"]) {
    const shown = form.querySelector(part);
    const next = found.querySelector(part);
    if (shown && next) shown.replaceChildren(...[...next.childNodes].map((node) => document.adoptNode(node)));
  }
  const note = form.querySelector("[data-note]");
  if (note instanceof HTMLElement) note.hidden = found.querySelector("[data-note][hidden]") !== null;
  void preview(form);
}

/**
 * A list of suggestions belongs to the whole field: it begins with the labels before the last comma.
 * @param {HTMLInputElement} field
 * @param {string[]} names
 */
function suggest(field, names) {
  const comma = field.value.lastIndexOf(",");
  const before = comma < 0 ? "" : `${field.value.slice(0, comma)}, `;
  const taken = new Set(before.split(",").map((name) => name.trim().toLowerCase()));
  const free = names.filter((name) => !taken.has(name.toLowerCase()));
  field.list?.replaceChildren(...free.map((name) => new Option("", before + name)));
}

/** @param {{ name: string, colour: string, reason: string }} label that fits the post */
function offer(label) {
  const button = document.createElement("button");
  const dot = document.createElement("span");
  const name = document.createElement("bdi");
  button.type = "button";
  button.className = "sug";
  button.title = label.reason;
  button.value = label.name;
  button.setAttribute("aria-label", `Add ${label.name}`);
  dot.className = `dot ${label.colour}`;
  name.textContent = label.name;
  button.append(dot, name);
  return button;
}

/**
 * @param {HTMLInputElement} field
 * @param {HTMLButtonElement} button with a label that fits
 */
function take(field, button) {
  const names = field.value.split(",").map((name) => name.trim()).filter(Boolean);
  if (!names.some((name) => name.toLowerCase() === button.value.toLowerCase())) names.push(button.value);
  field.value = names.join(", ");
  button.remove();
  field.focus();
}

/** @param {HTMLFormElement} form */
function connect(form) {
  let timer = 0;
  void preview(form);
  const link = form.elements.namedItem("link");
  if (link instanceof HTMLInputElement) link.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(() => void look(form), WAIT_MILLISECONDS);
  });
  const labels = form.elements.namedItem("labels");
  if (labels instanceof HTMLInputElement) {
    const names = [...(labels.list?.options ?? [])].map((option) => option.value);
    labels.addEventListener("input", () => suggest(labels, names));
  }
  form.addEventListener("click", (event) => {
    const offered = event.target instanceof Element ? event.target.closest("[data-fitting] button") : null;
    if (offered instanceof HTMLButtonElement && labels instanceof HTMLInputElement) take(labels, offered);
    if (!dialog || !(event.target instanceof Element) || !event.target.closest("[data-cancel]")) return;
    event.preventDefault();
    dialog.hidePopover();
  });
}

/** @param {HTMLFormElement} form */
function makeDialog(form) {
  const made = document.createElement("div");
  made.className = "save-dialog";
  made.popover = "auto";
  made.setAttribute("role", "dialog");
  made.setAttribute("aria-labelledby", "save-title");
  const heading = document.createElement("h2");
  heading.id = "save-title";
  heading.textContent = "Save a link";
  made.append(heading, document.adoptNode(form));
  const back = form.elements.namedItem("back");
  if (back instanceof HTMLInputElement) back.value = location.pathname.slice(base.length) + location.search;
  document.body.append(made);
  connect(form);
  return made;
}

async function open() {
  const side = document.getElementById("side");
  if (side?.matches(":popover-open")) side.hidePopover();
  const field = document.querySelector("main form[data-saver] [name=link]");
  if (field instanceof HTMLElement) return field.focus();
  if (!dialog) {
    const form = await fetchForm(SAVE);
    if (!form) return location.assign(SAVE);
    dialog ??= makeDialog(form);
  }
  if (!dialog.matches(":popover-open")) dialog.showPopover();
}

document.addEventListener("library:save", () => void open());
const own = document.querySelector("main form[data-saver]");
if (own instanceof HTMLFormElement) connect(own);
if (matchMedia("(min-width: 52em) and (hover: hover)").matches) document.querySelector("[data-keyed]")?.removeAttribute("hidden");
