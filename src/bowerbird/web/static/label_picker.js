// Opens the label picker at one post or at the selected posts. What it shows is in
// label_choices.js, which is loaded when somebody first needs it; keys that are typed meanwhile go
// into its field. Without this script, the Label button leads to the form of the post.
// @ts-check

const GAP = 6;
const WIDE = "(min-width: 52rem)";
const ROW = ".posts:not(.trash) li[id^='p-']";
const script = document.querySelector("script[data-label-parts]");
const parts = (script instanceof HTMLElement ? script.dataset.labelParts ?? "" : "").split(" ");

/** @type {HTMLElement | null} */
let opener = null;

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

/**
 * @param {HTMLElement[]} targets what it is open for: rows, or the labels of the page's post
 * @param {HTMLElement | null} place what the picker opens at
 */
async function open(targets, place) {
  if (targets.length === 0) return;
  const focused = document.activeElement;
  opener = place ?? (focused instanceof HTMLElement && focused !== document.body ? focused : null);
  input.value = "";
  list.replaceChildren();
  list.hidden = true;
  note.textContent = "";
  if (!picker.matches(":popover-open")) picker.showPopover();
  moveTo(opener ?? targets[0] ?? null);
  input.focus({ preventScroll: true });
  try {
    const [choices] = await Promise.all(parts.map((part) => import(part)));
    choices.begin({ picker, input, list, note }, targets);
  } catch {
    note.textContent = "Your library does not answer.";
  }
}

/** @param {HTMLElement | null} place */
function moveTo(place) {
  picker.style.removeProperty("left");
  picker.style.removeProperty("top");
  if (!place || !matchMedia(WIDE).matches) return;
  const box = place.getBoundingClientRect();
  const width = picker.offsetWidth;
  // As high as it gets, so that it does not leave the window when its labels arrive.
  const height = Math.min(420, innerHeight * 0.7);
  const left = Math.min(Math.max(GAP, box.left), innerWidth - width - GAP);
  const below = box.bottom + GAP;
  const top = below + height > innerHeight ? Math.max(GAP, innerHeight - height - GAP) : Math.max(GAP, below);
  picker.style.setProperty("left", `${left}px`);
  picker.style.setProperty("top", `${top}px`);
}

picker.addEventListener("toggle", (event) => {
  if (!(event instanceof ToggleEvent) || event.newState === "open") return;
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
