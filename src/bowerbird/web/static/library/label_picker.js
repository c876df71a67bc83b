// Opens the label picker at one post or at the selected posts. What it shows is in
// label_choices.js, which is loaded when somebody first needs it; keys that are typed meanwhile go
// into its field. Without this script, the Label button leads to the form of the post.
// @ts-check

const GAP = 6;
/** Heights in pixels: with a few labels, and with as many as it shows. */
const LEAST = 220;
const MOST = 420;
const WIDE = "(min-width: 52rem)";
const ROW = ".posts:not(.trash) li[id^='p-']";
const script = document.querySelector("script[data-label-parts]");
const parts = (script instanceof HTMLElement ? script.dataset.labelParts ?? "" : "").split(" ");

/** @type {HTMLElement | null} */
let opener = null;
/** @type {HTMLElement[]} */
let marked = [];
/** Keeps it at its post while the page scrolls. */
let follow = () => {};

const picker = document.createElement("div");
picker.className = "picker";
picker.popover = "auto";
picker.setAttribute("role", "dialog");
picker.setAttribute("aria-label", "Labels");
const search = document.createElement("div");
search.className = "search";
const input = document.createElement("input");
input.type = "text";
input.dir = "auto";
input.autocomplete = "off";
input.spellcheck = false;
input.placeholder = "Label";
const list = document.createElement("div");
list.id = "picker-list";
list.setAttribute("role", "listbox");
list.setAttribute("aria-label", "Labels");
list.setAttribute("aria-multiselectable", "true");
for (const [name, value] of Object.entries({
  role: "combobox", "aria-label": "Find or make a label", "aria-expanded": "false",
  "aria-controls": list.id, "aria-autocomplete": "list",
})) input.setAttribute(name, value);
const note = document.createElement("p");
note.setAttribute("role", "status");
search.append(input);
picker.append(search, list, note);
document.body.append(picker);

/** @returns {HTMLElement[]} the rows that are selected */
function pickedRows() {
  const boxes = [...document.querySelectorAll(`${ROW} .pick input:checked`)];
  return /** @type {HTMLElement[]} */ (boxes.map((box) => box.closest(ROW)));
}

/**
 * @param {EventTarget | null} target a row, or the document
 * @returns {HTMLElement[]}
 */
function chosenBy(target) {
  const picked = pickedRows();
  const row = target instanceof Element ? target.closest(ROW) : null;
  if (row instanceof HTMLElement && !picked.includes(row)) return [row];
  if (picked.length > 0) return picked;
  const focused = document.activeElement?.closest(ROW);
  if (focused instanceof HTMLElement) return [focused];
  const own = document.querySelector("#labels[data-post]");
  return own instanceof HTMLElement ? [own] : [];
}

/** @param {HTMLElement[]} rows look like the current row, which has lost the focus to the field */
function mark(rows) {
  for (const row of marked) row.classList.remove("labelling");
  for (const row of rows) row.classList.add("labelling");
  marked = rows;
}

/**
 * @param {HTMLElement[]} targets what it is open for: rows, or the labels of the page's post
 * @param {HTMLElement | null} place what the picker opens at
 */
async function open(targets, place) {
  if (targets.length === 0) return;
  const focused = document.activeElement;
  opener = place ?? (focused instanceof HTMLElement && focused !== document.body ? focused : null);
  mark(targets);
  input.value = "";
  list.replaceChildren();
  list.hidden = true;
  note.textContent = "";
  if (!picker.matches(":popover-open")) picker.showPopover();
  const [first = null, second] = targets;
  const at = /** @type {const} */ ([opener ?? first, second ? null : first]);
  moveTo(...at);
  follow = () => moveTo(...at, false);
  input.focus({ preventScroll: true });
  try {
    const [choices] = await Promise.all(parts.map((part) => import(part)));
    choices.begin({ picker, input, list, note }, targets);
  } catch {
    note.textContent = "Your library does not answer.";
  }
}

/**
 * Below the post or above it, so that the post can be read, and as high as there is room. If there
 * is little, the page scrolls.
 * @param {HTMLElement | null} place what it opens at
 * @param {HTMLElement | null} target its only row, or the labels of the page's post
 * @param {boolean} mayScroll
 */
function moveTo(place, target, mayScroll = true) {
  for (const name of ["left", "top", "bottom", "--room"]) picker.style.removeProperty(name);
  if (!place) return;
  const row = target?.matches(ROW) ? target : place;
  const isWide = matchMedia(WIDE).matches;
  const lowest = isWide ? innerHeight - GAP : picker.getBoundingClientRect().bottom;
  const below = () => lowest - row.getBoundingClientRect().bottom - GAP;
  const above = () => row.getBoundingClientRect().top - 2 * GAP;
  if (mayScroll && Math.max(below(), above()) < LEAST) scrollBy({ top: LEAST - below(), behavior: "instant" });
  const isAbove = below() < (isWide ? MOST : LEAST) && above() > below();
  const room = Math.max(LEAST / 2, isAbove ? above() : below());
  const { top, bottom } = row.getBoundingClientRect();
  picker.style.setProperty("--room", `${room}px`);
  // Its labels arrive later: it grows away from the post, and does not leave the window.
  if (isAbove) picker.style.setProperty("bottom", `${innerHeight - top + GAP}px`);
  if (!isWide) return;
  const left = Math.min(Math.max(GAP, place.getBoundingClientRect().left), innerWidth - picker.offsetWidth - GAP);
  picker.style.setProperty("left", `${left}px`);
  if (!isAbove) picker.style.setProperty("top", `${Math.max(GAP, Math.min(bottom + GAP, lowest - room))}px`);
}

addEventListener("scroll", () => { if (picker.matches(":popover-open")) follow(); }, { passive: true });
picker.addEventListener("toggle", (event) => {
  if (!(event instanceof ToggleEvent) || event.newState === "open") return;
  mark([]);
  if (picker.contains(document.activeElement) || document.activeElement === document.body) {
    opener?.focus({ preventScroll: true });
  }
});
document.addEventListener("library:label", (event) => {
  event.preventDefault();
  void open(chosenBy(event.target), null);
});
document.addEventListener("click", (event) => {
  if (event.metaKey || event.ctrlKey || event.shiftKey || !(event.target instanceof Element)) return;
  const link = event.target.closest(`${ROW} .acts a[href$='#labels'], a[data-label]`);
  if (!(link instanceof HTMLElement)) return;
  event.preventDefault();
  void open(chosenBy(link), link);
});
