// Gives labels to one post or to the selected posts by typing. A label is added or removed as soon
// as it is chosen. Without this script, the Label button leads to the form of the post.
// @ts-check

/**
 * @typedef {{ name: string, colour: string, url: string, count: number | null }} Label
 * @typedef {{ label: Label | null, name: string, having: number }} Choice a label, or a new name
 */

const WAIT_MILLISECONDS = 120;
const UNANSWERED = "Your library does not answer. Nothing was changed.";
const GAP = 6;
const WIDE = "(min-width: 52rem)";
const ROW = ".posts:not(.trash) li[id^='p-']";

const form = document.getElementById("change");
const base = form instanceof HTMLFormElement
  ? new URL(form.action).pathname.replace(/\/library\/change$/, "")
  : "";
/** @type {Map<string, { ids: string[], label: Label, isAdded: boolean }>} changes by their id */
const made = new Map();

/** @type {HTMLElement[]} what the picker is open for: rows, or the labels of the page's post */
let targets = [];
/** @type {HTMLElement | null} */
let opener = null;
/** @type {Choice[]} */
let choices = [];
let at = 0;
let timer = 0;
/** @type {AbortController | null} */
let asking = null;
let sending = Promise.resolve();

const picker = document.createElement("div");
picker.className = "picker";
picker.popover = "auto";
picker.setAttribute("role", "dialog");
picker.setAttribute("aria-label", "Labels");
const search = document.createElement("div");
search.className = "search";
const input = document.createElement("input");
input.type = "text";
input.maxLength = 100;
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
  role: "combobox", "aria-label": "Find or make a label", "aria-expanded": "true",
  "aria-controls": list.id, "aria-autocomplete": "list",
})) input.setAttribute(name, value);
search.append(input);
picker.append(search, list);
document.body.append(picker);

/**
 * @param {HTMLElement} target
 * @returns {string} the id of its post
 */
function idOf(target) {
  return target.dataset.post ?? target.id.slice("p-".length);
}

/**
 * @param {HTMLElement} target
 * @returns {Map<string, string>} the names of its labels, with their colours
 */
function labelsOf(target) {
  /** @type {Map<string, string>} */
  const found = new Map();
  for (const tag of target.querySelectorAll(".tag")) {
    const name = tag.querySelector("bdi")?.textContent ?? "";
    found.set(name, colourOf(tag.querySelector(".dot")));
  }
  for (const dot of target.querySelectorAll(".dots .dot[title]")) {
    found.set(dot.getAttribute("title") ?? "", colourOf(dot));
  }
  return found;
}

/** @param {Element | null} dot */
function colourOf(dot) {
  return [...(dot?.classList ?? [])].find((name) => name !== "dot") ?? "stone";
}

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
 * @param {HTMLElement[]} wanted
 * @param {HTMLElement | null} place what the picker opens at
 */
function open(wanted, place) {
  if (wanted.length === 0) return;
  targets = wanted;
  const focused = document.activeElement;
  opener = place ?? (focused instanceof HTMLElement && focused !== document.body ? focused : null);
  input.value = "";
  list.replaceChildren();
  if (!picker.matches(":popover-open")) picker.showPopover();
  moveTo(opener ?? wanted[0] ?? null);
  input.focus({ preventScroll: true });
  void look();
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

/** Asks for the labels that contain the text. */
async function look() {
  asking?.abort();
  const asked = new AbortController();
  asking = asked;
  const text = input.value.trim();
  try {
    const url = `${base}/labels/matching?${new URLSearchParams({ q: text })}`;
    const response = await fetch(url, { signal: asked.signal });
    const answer = await response.json();
    if (answer.go) location.assign(answer.go);
    if (!response.ok) throw new Error(answer.error);
    if (asked.signal.aborted) return;
    choices = choicesOf(answer.labels, answer.new, text);
    at = 0;
    draw();
  } catch (error) {
    if (!asked.signal.aborted) fail(error);
  }
}

/**
 * @param {Label[]} found
 * @param {string | null} name of a new label
 * @param {string} text
 * @returns {Choice[]}
 */
function choicesOf(found, name, text) {
  /** @type {Map<string, number>} */
  const having = new Map();
  /** @type {Map<string, Label>} */
  const labels = new Map();
  for (const target of targets) {
    for (const [own, colour] of labelsOf(target)) {
      having.set(own, (having.get(own) ?? 0) + 1);
      if (!text) labels.set(own, { name: own, colour, url: "", count: null });
    }
  }
  for (const label of found) if (!labels.has(label.name)) labels.set(label.name, label);
  /** @type {Choice[]} */
  const all = [...labels.values()].map((label) => ({ label, name: label.name, having: having.get(label.name) ?? 0 }));
  return name ? [...all, { label: null, name, having: 0 }] : all;
}

/** Shows the choices. */
function draw() {
  const text = input.value.trim();
  list.replaceChildren(...choices.map((choice, index) => option(choice, index)));
  if (choices.length === 0) {
    const none = document.createElement("p");
    none.className = "none";
    none.textContent = text ? "No label is named like this." : "Type a name to make a label.";
    list.append(none);
  }
  mark();
}

/**
 * @param {Choice} choice
 * @param {number} index
 */
function option(choice, index) {
  const shown = document.createElement("div");
  shown.id = `picker-${index}`;
  shown.setAttribute("role", "option");
  const hasAll = choice.having === targets.length;
  shown.setAttribute("aria-selected", String(choice.label !== null && hasAll));
  const first = document.createElement("span");
  const name = document.createElement("bdi");
  const state = document.createElement("small");
  if (choice.label) {
    first.className = `dot ${choice.label.colour}`;
    name.textContent = choice.name;
    if (choice.having > 0 && targets.length > 1 && !isAll()) {
      state.textContent = hasAll ? `all ${targets.length}` : `${choice.having} of ${targets.length}`;
    }
  } else {
    first.className = "tick";
    first.textContent = "+";
    first.setAttribute("aria-hidden", "true");
    name.textContent = `Make “${choice.name}”`;
  }
  const tick = document.createElement("span");
  tick.className = "tick";
  tick.setAttribute("aria-hidden", "true");
  tick.textContent = choice.label && hasAll ? "✓" : "";
  shown.append(first, name, state, tick);
  shown.addEventListener("pointerdown", (event) => event.preventDefault());
  shown.addEventListener("click", () => { at = index; choose(); });
  return shown;
}

/** Marks the choice that Enter takes. */
function mark() {
  const options = [...list.querySelectorAll("[role=option]")];
  options.forEach((each, index) => each.classList.toggle("at", index === at));
  const current = options[at];
  if (current) {
    input.setAttribute("aria-activedescendant", current.id);
    current.scrollIntoView({ block: "nearest" });
  } else {
    input.removeAttribute("aria-activedescendant");
  }
}

/** Adds the label that is marked, or removes it if all posts have it. */
function choose() {
  const choice = choices[at];
  if (!choice) return;
  const isAdded = choice.label === null || choice.having < targets.length;
  if (sendForAll(choice.name, isAdded)) return;
  const ids = targets.filter((target) => labelsOf(target).has(choice.name) !== isAdded).map(idOf);
  if (ids.length === 0) return;
  const wanted = targets;
  sending = sending.then(() => apply(choice.name, ids, isAdded)).then(() => {
    if (!picker.matches(":popover-open") || targets !== wanted) return;
    input.select();
    return look();
  }).catch(fail);
}

/**
 * If all posts that match are selected, the form of the selection changes them: some of them are
 * not in the page.
 * @param {string} name
 * @param {boolean} isAdded
 * @returns {boolean}
 */
function sendForAll(name, isAdded) {
  const many = document.querySelector("form#many");
  if (!isAll() || !(many instanceof HTMLFormElement)) return false;
  const field = many.elements.namedItem("label");
  const button = document.querySelector(`button[form=many][name=${isAdded ? "add_label" : "remove_label"}]`);
  if (!(field instanceof HTMLInputElement) || !(button instanceof HTMLButtonElement)) return false;
  field.value = name;
  many.requestSubmit(button);
  return true;
}

/** @returns {boolean} whether all posts that match are selected, not only those in the page */
function isAll() {
  const all = document.querySelector("input[form=many][name=all]");
  return all instanceof HTMLInputElement && all.checked;
}

/**
 * @param {string} name
 * @param {string[]} ids
 * @param {boolean} isAdded
 */
async function apply(name, ids, isAdded) {
  const answer = await send({ op: isAdded ? "add" : "remove", label: name, posts: ids.join(" ") });
  await show(ids, answer.label, isAdded);
  if (answer.undo) made.set(answer.undo.value, { ids, label: answer.label, isAdded });
  say({ text: answer.said, undo: answer.undo ?? undefined });
}

/** @param {Record<string, string>} fields */
async function send(fields) {
  const csrf = form instanceof HTMLFormElement ? String(new FormData(form).get("csrf")) : "";
  const body = new URLSearchParams({ ...fields, csrf });
  const response = await fetch(`${base}/labels/apply`, { method: "POST", body, headers: { Accept: "application/json" } })
    .catch(() => { throw new Error(UNANSWERED); });
  const answer = await response.json().catch(() => ({}));
  if (answer.go) location.assign(answer.go);
  if (!response.ok) throw new Error(answer.error ?? UNANSWERED);
  return answer;
}

/** @param {unknown} error */
function fail(error) {
  const shown = document.createElement("p");
  shown.className = "bad";
  shown.setAttribute("role", "alert");
  shown.textContent = error instanceof Error && error.message ? error.message : UNANSWERED;
  list.querySelector(".bad")?.remove();
  list.prepend(shown);
}

/**
 * `label_rows.js` shows it.
 * @param {string[]} ids
 * @param {Label} label
 * @param {boolean} isAdded
 * @returns {Promise<void>} when the page shows it
 */
function show(ids, label, isAdded) {
  return new Promise((resolve) => {
    const detail = { ids, label, isAdded, resolve };
    document.dispatchEvent(new CustomEvent("library:labelled", { detail }));
    const changed = { ids, change: "label" };
    document.dispatchEvent(new CustomEvent("library:changed", { detail: changed }));
  });
}

/** @param {object} detail see messages.js */
function say(detail) {
  document.dispatchEvent(new CustomEvent("library:say", { detail }));
}

/** @param {string} changeId */
async function undo(changeId) {
  const change = made.get(changeId);
  if (!change) return;
  const answer = await send({ undo: changeId });
  made.delete(changeId);
  await show(change.ids, change.label, !change.isAdded);
  say({ text: answer.said });
}

input.addEventListener("input", () => {
  clearTimeout(timer);
  timer = setTimeout(() => void look(), WAIT_MILLISECONDS);
});
input.addEventListener("keydown", (event) => {
  if (event.isComposing) return;
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key] ?? 0;
  if (step || event.key === "Enter") event.preventDefault();
  if (step && choices.length > 0) {
    at = (at + step + choices.length) % choices.length;
    mark();
  } else if (event.key === "Enter") {
    choose();
  } else if (event.key === "Tab") {
    picker.hidePopover();
  }
});
picker.addEventListener("toggle", (event) => {
  if (!(event instanceof ToggleEvent) || event.newState === "open") return;
  asking?.abort();
  if (picker.contains(document.activeElement) || document.activeElement === document.body) {
    opener?.focus({ preventScroll: true });
  }
});
document.addEventListener("library:label", (event) => {
  event.preventDefault();
  open(chosenBy(event.target), null);
});
document.addEventListener("click", (event) => {
  if (event.metaKey || event.ctrlKey || event.shiftKey || !(event.target instanceof Element)) return;
  const link = event.target.closest(`${ROW} .acts a[href$='#labels'], a[data-label]`);
  if (!(link instanceof HTMLElement)) return;
  event.preventDefault();
  open(chosenBy(link), link);
});
form?.addEventListener("submit", (event) => {
  const button = event instanceof SubmitEvent ? event.submitter : null;
  if (!(button instanceof HTMLButtonElement) || button.name !== "undo" || !made.has(button.value)) return;
  event.preventDefault();
  button.closest(".toast")?.remove();
  sending = sending.then(() => undo(button.value)).catch((error) => {
    say({ text: error instanceof Error ? error.message : UNANSWERED });
  });
});
