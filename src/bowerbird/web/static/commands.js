// The palette of commands, and the sheet of keys. Both are fetched when they are first opened.
// @ts-check

const MOST_SHOWN = 8;
const OFF = "keys-off";
/** @typedef {{ group: string, text: string, note?: string, colour?: string, keys?: string, run: () => void }} Command */

const help = document.querySelector("a[data-help]");
// Popovers, because a modal dialog makes the browser style the whole page again.
/** @type {HTMLElement | null} */
let sheet = null;
/** @type {HTMLElement | null} */
let palette = null;
/** @type {Command[]} */
let places = [];
/** @type {Command[]} */
let shown = [];
let chosen = 0;

/** @type {[string, string][]} key and text of what can be done with a post */
const ON_POST = [
  ["o", "Open"], ["r", "Mark read or unread"], ["e", "Archive"], ["l", "Label…"], ["b", "Favourite"], ["#", "Move to the trash"],
  ["s", "Similar posts"], ["v", "Open the original"], ["x", "Select"],
];
/** @type {[string, string][]} */
const ANYWHERE = [
  ["z", "Undo the last change"], ["*", "Select all that match"], ["/", "Search"], ["f", "Add a filter"],
  ["a", "Save a link"], ["?", "Keyboard"],
];

/**
 * Case and accents do not matter.
 * @param {string} text
 */
function fold(text) {
  return text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase().trim();
}

/**
 * @param {string} name
 * @param {string} wanted folded
 */
function matches(name, wanted) {
  const folded = fold(name);
  return folded.startsWith(wanted) || folded.split(/[^\p{L}\p{N}]+/u).some((word) => word.startsWith(wanted));
}

/**
 * @template {keyof HTMLElementTagNameMap} K
 * @param {K} name
 * @param {Record<string, string>} attributes
 * @param {...(Node | string)} children
 * @returns {HTMLElementTagNameMap[K]}
 */
function make(name, attributes, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

/** @param {string} url */
const goTo = (url) => () => location.assign(url);

/** @param {string} key */
const doKey = (key) => () => {
  document.dispatchEvent(new CustomEvent(key === "?" ? "library:help" : "library:do", { detail: { key } }));
};

/** @returns {Command[]} the pages in the sidebar */
function pages() {
  return [...document.querySelectorAll("nav.side :is(li a[href], h2 a[href]:not(.ib))")]
    .filter((link) => link.querySelector(".dot") === null)
    .map((link) => ({ group: "Go to", text: (link.querySelector(".t") ?? link).textContent ?? "", run: goTo(link.getAttribute("href") ?? "") }));
}

async function fetchPlaces() {
  if (!(help instanceof HTMLAnchorElement) || places.length) return;
  const response = await fetch(help.dataset.places ?? "", { headers: { Accept: "application/json" } });
  if (!response.ok) return;
  const base = help.dataset.base ?? "";
  const answer = await response.json();
  const known = new Set(pages().map((page) => page.text));
  for (const page of answer.pages) places.push({ group: "Go to", text: page.name, run: goTo(base + page.url) });
  for (const view of answer.views) {
    if (!known.has(view.name)) places.push({ group: "Go to", text: view.name, note: "Smart View", run: goTo(base + view.url) });
  }
  for (const label of answer.labels) {
    const note = `label, ${label.count.toLocaleString("en")} post${label.count === 1 ? "" : "s"}`;
    places.push({ group: "Go to", text: label.name, note, colour: label.colour, run: goTo(base + label.url) });
  }
}

/** @returns {boolean} */
function hasPost() {
  return document.querySelector(".posts:not(.trash) .post, .read-top") !== null;
}

/**
 * @param {string} text as it was typed
 * @returns {Command[]}
 */
function found(text) {
  const wanted = fold(text);
  const acts = hasPost() ? ON_POST : [];
  const inLibrary = document.getElementById("change") ? ANYWHERE : ANYWHERE.slice(-2);
  const groups = [
    acts.map(([key, name]) => ({ group: "This post", text: name, keys: key, run: doKey(key) })),
    [...pages(), ...places],
    inLibrary.map(([key, name]) => ({ group: "Do", text: name, keys: key, run: doKey(key) })),
  ];
  const commands = groups.flatMap((group) => group.filter((each) => matches(each.text, wanted)).slice(0, MOST_SHOWN));
  const library = help instanceof HTMLAnchorElement ? `${help.dataset.base}/library` : "/library";
  if (!wanted) return commands;
  const search = (/** @type {string} */ by) => goTo(`${library}?${new URLSearchParams({ is_unread_only: "false", search: text, by })}`);
  return [
    ...commands,
    { group: "Search", text: `Posts with the word “${text}”`, run: search("words") },
    { group: "Search", text: `Posts that mean “${text}”`, run: search("meaning") },
  ];
}

/**
 * @param {Command} command
 * @param {number} index
 * @param {string} typed
 */
function option(command, index, typed) {
  const at = typed ? command.text.toLowerCase().indexOf(typed.toLowerCase()) : -1;
  const name = make("bdi", {});
  if (at < 0) name.append(command.text);
  else {
    const end = at + typed.length;
    name.append(command.text.slice(0, at), make("mark", {}, command.text.slice(at, end)), command.text.slice(end));
  }
  const text = make("span", {}, name);
  if (command.note) text.append(make("i", { class: "soft" }, ` ${command.note}`));
  const made = make("div", { role: "option", id: `command-${index}`, "aria-selected": "false" });
  if (command.colour) made.append(make("span", { class: `dot ${command.colour}` }));
  made.append(text);
  if (command.keys) made.append(make("kbd", {}, command.keys));
  made.addEventListener("pointermove", () => choose(index));
  made.addEventListener("click", () => run(index));
  return made;
}

/** @param {number} index */
function choose(index) {
  palette?.querySelector("[aria-selected=true]")?.setAttribute("aria-selected", "false");
  chosen = index;
  const selected = palette?.querySelector(`#command-${index}`);
  const box = palette?.querySelector("input");
  if (!selected) return box?.removeAttribute("aria-activedescendant");
  selected.setAttribute("aria-selected", "true");
  box?.setAttribute("aria-activedescendant", selected.id);
  if (isOpen(palette)) selected.scrollIntoView({ block: "nearest" });
}

/** @param {number} index */
function run(index) {
  const command = shown[index];
  if (!command) return;
  palette?.hidePopover();
  // The hidden field keeps the focus for a moment if nothing had it before.
  palette?.querySelector("input")?.blur();
  command.run();
}

function fill() {
  const typed = palette?.querySelector("input")?.value.trim() ?? "";
  const options = palette?.querySelector("[role=listbox]");
  if (!options) return;
  shown = found(typed);
  options.replaceChildren();
  /** @type {HTMLElement | null} */
  let group = null;
  shown.forEach((command, index) => {
    if (command.group !== shown[index - 1]?.group || !group) {
      const id = `commands-${index}`;
      group = make("div", { role: "group", "aria-labelledby": id }, make("p", { class: "over", id }, command.group));
      options.append(group);
    }
    group.append(option(command, index, typed));
  });
  // "tra" means the page "Trash" rather than "Move to the trash", which is listed before it.
  const wanted = fold(typed);
  choose(Math.max(0, shown.findIndex((command) => fold(command.text).startsWith(wanted))));
}

/** @param {KeyboardEvent} event */
function move(event) {
  if (event.key === "Enter") {
    event.preventDefault();
    run(chosen);
  } else if (event.key === "ArrowDown" || event.key === "ArrowUp") {
    event.preventDefault();
    const step = event.key === "ArrowDown" ? 1 : -1;
    if (shown.length) choose((chosen + step + shown.length) % shown.length);
  } else if (event.key === "Tab") {
    event.preventDefault();
  }
}

function makePalette() {
  const box = make("input", {
    type: "text", id: "command", role: "combobox", "aria-expanded": "true", "aria-controls": "commands",
    "aria-autocomplete": "list", autofocus: "", autocomplete: "off", spellcheck: "false", placeholder: "Search, or say what to do",
  });
  box.addEventListener("input", fill);
  box.addEventListener("keydown", move);
  const label = make("label", { class: "sr", for: "command" }, "Command or search");
  const hints = make("p", { class: "keys small soft" });
  for (const [keys, text] of [["↑ ↓", "move"], ["↵", "do it"], ["Esc", "close"]]) {
    hints.append(make("span", {}, make("kbd", {}, keys ?? ""), ` ${text}`));
  }
  const made = make("div", { class: "palette opts", popover: "auto", role: "dialog", "aria-modal": "true", "aria-label": "Commands" },
    make("div", { class: "search" }, label, box),
    make("div", { id: "commands", role: "listbox", "aria-label": "Commands" }), hints);
  document.body.append(made);
  return made;
}

/** @param {HTMLElement | null} popover */
function isOpen(popover) {
  return popover?.matches(":popover-open") ?? false;
}

async function openPalette() {
  palette ??= makePalette();
  if (isOpen(palette)) return palette.hidePopover();
  const box = palette.querySelector("input");
  if (box) box.value = "";
  fill();
  palette.showPopover();
  const known = places.length;
  await fetchPlaces().catch(() => undefined);
  if (isOpen(palette) && places.length !== known) fill();
}

/** @param {ParentNode} place with the switch of single keys */
function connectSwitch(place) {
  const box = place.querySelector("[data-keys]");
  if (!(box instanceof HTMLInputElement)) return;
  box.closest("[hidden]")?.removeAttribute("hidden");
  try { box.checked = localStorage.getItem(OFF) !== "yes"; } catch { /* Private windows refuse it. */ }
  box.addEventListener("change", () => {
    document.dispatchEvent(new CustomEvent("library:keys", { detail: { isOff: !box.checked } }));
  });
}

/** @param {string} url */
function fetchPage(url) {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open("GET", url);
    request.responseType = "document";
    request.onload = () => resolve(request.response);
    request.onerror = reject;
    request.send();
  });
}

async function openSheet() {
  if (!(help instanceof HTMLAnchorElement)) return;
  if (!sheet) {
    const page = await fetchPage(help.href).catch(() => null);
    const keys = page instanceof Document ? page.querySelector("[data-sheet]") : null;
    if (!keys) return location.assign(help.href);
    const close = make("button", { class: "btn slim", type: "button", autofocus: "" }, "Close");
    const heading = make("h2", { id: "keys-title" }, "Keyboard");
    sheet = make("div", { class: "help", popover: "auto", role: "dialog", "aria-labelledby": "keys-title" },
      make("div", { class: "row" }, heading, make("span", { class: "push" }, close)), document.adoptNode(keys));
    close.addEventListener("click", () => sheet?.hidePopover());
    connectSwitch(sheet);
    document.body.append(sheet);
  }
  if (!isOpen(sheet)) sheet.showPopover();
}

document.addEventListener("library:palette", openPalette);
document.addEventListener("library:help", openSheet);
connectSwitch(document);
