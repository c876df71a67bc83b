// The labels in the picker of label_picker.js: finds them while somebody types, says which posts
// have them, and adds or removes a label as soon as it is chosen.
// @ts-check

/**
 * @typedef {{ name: string, colour: string, url: string, count: number | null }} Label
 * @typedef {Label & { reason: string }} Suggested
 * @typedef {{ label: Label | null, name: string, having: number, reason: string }} Choice a label, or a new name
 * @typedef {{ picker: HTMLElement, input: HTMLInputElement, list: HTMLElement, note: HTMLElement }} Shell
 */

const WAIT_MILLISECONDS = 120;
const UNDO = "/library/many/undo";
const UNANSWERED = "Your library does not answer. Nothing was changed.";

const form = document.getElementById("change");
const base = form instanceof HTMLFormElement
  ? new URL(form.action).pathname.replace(/\/library\/change$/, "")
  : "";
/** @type {Map<string, { ids: string[], label: Label, isAdded: boolean }>} changes by their id */
const made = new Map();

/** @type {Shell} */
let shell;
/** @type {HTMLElement[]} what the picker is open for: rows, or the labels of the page's post */
let targets = [];
/** @type {Choice[]} */
let choices = [];
/** @type {string | null} the text that they are for */
let chosenFor = null;
let rule = "";
let at = 0;
let timer = 0;
/** @type {AbortController | null} */
let asking = null;
let sending = Promise.resolve();
const leaving = () => new Promise((resolve) => { addEventListener("pagehide", resolve, { once: true }); });
/** A page that is left sends at once what waits. */
let left = leaving();
// It may come back from the back/forward cache.
addEventListener("pageshow", () => { left = leaving(); });

/**
 * @param {Shell} opened
 * @param {HTMLElement[]} wanted
 */
export function begin(opened, wanted) {
  if (!shell) {
    shell = opened;
    listen();
  }
  targets = wanted;
  chosenFor = null;
  void look();
}

/**
 * @param {HTMLElement} target
 * @returns {string[]} the id of its post, or of all posts of its thread
 */
function idsOf(target) {
  const box = target.querySelector(".pick input");
  const others = box instanceof HTMLInputElement && box.value !== "on" ? box.value.split(" ") : [];
  return [target.dataset.post ?? target.id.slice("p-".length), ...others];
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

/** Asks for the labels that contain the text. */
async function look() {
  asking?.abort();
  const asked = new AbortController();
  asking = asked;
  const text = shell.input.value.trim();
  try {
    // Labels are suggested for one post.
    const post = targets.length === 1 && targets[0] && !text ? idsOf(targets[0])[0] ?? "" : "";
    const url = `${base}/labels/matching?${new URLSearchParams({ q: text, ...(post ? { post } : {}) })}`;
    const response = await fetch(url, { signal: asked.signal });
    const answer = await response.json();
    if (answer.go) location.assign(answer.go);
    if (!response.ok) throw new Error(answer.error);
    if (asked.signal.aborted) return;
    choices = choicesOf(answer.labels, answer.suggested, answer.new, text);
    rule = answer.rule;
    chosenFor = text;
    at = 0;
    draw();
  } catch (error) {
    if (!asked.signal.aborted) fail(error);
  }
}

/**
 * @param {Label[]} found
 * @param {Suggested[]} suggested
 * @param {string | null} name of a new label
 * @param {string} text
 * @returns {Choice[]}
 */
function choicesOf(found, suggested, name, text) {
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
  const fitting = suggested.filter((label) => !having.has(label.name));
  for (const label of fitting) labels.delete(label.name);
  /** @type {Choice[]} */
  const all = [
    ...fitting.map((label) => ({ label, name: label.name, having: 0, reason: label.reason })),
    ...[...labels.values()].map((label) => ({ label, name: label.name, having: having.get(label.name) ?? 0, reason: "" })),
  ];
  return name ? [...all, { label: null, name, having: 0, reason: "" }] : all;
}

/** Shows the choices. */
function draw() {
  const text = shell.input.value.trim();
  const options = choices.map((choice, index) => option(choice, index));
  const fitting = choices.filter((choice) => choice.reason).length;
  shell.list.replaceChildren(...fitting === 0 ? options : [
    group("Suggested", options.slice(0, fitting)), group("All labels", options.slice(fitting)),
  ]);
  shell.list.hidden = choices.length === 0;
  shell.input.setAttribute("aria-expanded", String(choices.length > 0));
  const none = text ? rule : "Type a name to make a label.";
  shell.note.textContent = choices.length > 0 ? "" : none;
  shell.note.className = "none";
  mark();
}

/**
 * @param {string} name
 * @param {HTMLElement[]} options
 */
function group(name, options) {
  const shown = document.createElement("div");
  shown.setAttribute("role", "group");
  shown.setAttribute("aria-label", name);
  const title = document.createElement("p");
  title.className = "over";
  title.setAttribute("aria-hidden", "true");
  title.textContent = name;
  shown.append(...options.length > 0 ? [title, ...options] : []);
  return shown;
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
    state.textContent = choice.reason;
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
  if (choice.reason) {
    const plus = document.createElement("span");
    plus.className = "tick";
    plus.textContent = "+";
    plus.setAttribute("aria-hidden", "true");
    shown.append(plus);
  }
  shown.append(first, name, state, tick);
  if (choice.reason) shown.append(refusal(choice));
  shown.addEventListener("pointerdown", (event) => event.preventDefault());
  shown.addEventListener("click", () => { at = index; choose(); });
  return shown;
}

/**
 * For pointers; the key is Delete.
 * @param {Choice} choice
 */
function refusal(choice) {
  const shown = document.createElement("span");
  shown.className = "no";
  shown.title = "Not this label (Delete)";
  shown.setAttribute("aria-hidden", "true");
  shown.textContent = "×";
  shown.addEventListener("click", (event) => {
    event.stopPropagation();
    void refuse(choice);
  });
  return shown;
}

/**
 * The label is not suggested for the post any more.
 * @param {Choice} choice
 */
async function refuse(choice) {
  const post = targets[0] ? idsOf(targets[0])[0] ?? "" : "";
  const refused = () => send("/library/label", { refuse: choice.name, post });
  sending = Promise.race([left, sending]).then(refused).then(look).catch(fail);
}

/** Marks the choice that Enter takes. */
function mark() {
  const options = [...shell.list.querySelectorAll("[role=option]")];
  options.forEach((each, index) => each.classList.toggle("at", index === at));
  const current = options[at];
  if (current) {
    shell.input.setAttribute("aria-activedescendant", current.id);
    current.scrollIntoView({ block: "nearest" });
  } else {
    shell.input.removeAttribute("aria-activedescendant");
  }
}

/** Somebody who types fast presses Enter before the choices for the text are there. */
async function chooseTyped() {
  if (shell.input.value.trim() !== chosenFor) {
    clearTimeout(timer);
    await look();
  }
  if (shell.input.value.trim() === chosenFor) choose();
}

/** Adds the label that is marked, or removes it if all posts have it. */
function choose() {
  const choice = choices[at];
  if (!choice) return;
  const isAdded = choice.label === null || choice.having < targets.length;
  if (sendForAll(choice.name, isAdded)) return;
  const ids = targets.filter((target) => labelsOf(target).has(choice.name) !== isAdded).flatMap(idsOf);
  if (ids.length === 0) return;
  const wanted = targets;
  sending = Promise.race([left, sending]).then(() => apply(choice.name, ids, isAdded)).then(() => {
    if (!shell.picker.matches(":popover-open") || targets !== wanted) return;
    shell.input.select();
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
  const fields = { op: isAdded ? "add" : "remove", label: name, posts: ids.join(" ") };
  const answer = await send("/labels/apply", fields);
  await show(ids, answer.label, isAdded);
  if (!answer.change) return say({ text: answer.said });
  made.set(answer.change, { ids, label: answer.label, isAdded });
  say({ text: answer.said, undo: { name: "change", value: answer.change, action: `${base}${UNDO}` } });
}

/**
 * @param {string} path
 * @param {Record<string, string>} fields
 */
async function send(path, fields) {
  const csrf = form instanceof HTMLFormElement ? String(new FormData(form).get("csrf")) : "";
  const body = new URLSearchParams({ ...fields, csrf });
  const headers = { Accept: "application/json" };
  const response = await fetch(`${base}${path}`, { method: "POST", headers, body, keepalive: true })
    .catch(() => { throw new Error(UNANSWERED); });
  const answer = await response.json().catch(() => ({}));
  if (answer.go) location.assign(answer.go);
  if (!response.ok) throw new Error(answer.error ?? UNANSWERED);
  return answer;
}

/** @param {unknown} error */
function fail(error) {
  shell.note.className = "bad";
  shell.note.textContent = error instanceof Error && error.message ? error.message : UNANSWERED;
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
  const answer = await send(UNDO, { change: changeId });
  made.delete(changeId);
  await show(change.ids, change.label, !change.isAdded);
  say({ text: answer.said });
}

function listen() {
  shell.input.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(() => void look(), WAIT_MILLISECONDS);
  });
  shell.input.addEventListener("keydown", (event) => {
    if (event.isComposing) return;
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key] ?? 0;
    const chosen = choices[at];
    if (step || event.key === "Enter") event.preventDefault();
    if (step && choices.length > 0) {
      at = (at + step + choices.length) % choices.length;
      mark();
    } else if (event.key === "Enter") {
      void chooseTyped();
    } else if (event.key === "Delete" && !shell.input.value && chosen?.reason) {
      void refuse(chosen);
    } else if (event.key === "Tab") {
      shell.picker.hidePopover();
    }
  });
  shell.picker.addEventListener("toggle", (event) => {
    if (event instanceof ToggleEvent && event.newState !== "open") asking?.abort();
  });
  form?.addEventListener("submit", (event) => {
    const button = event instanceof SubmitEvent ? event.submitter : null;
    if (!(button instanceof HTMLButtonElement) || button.name !== "change" || !made.has(button.value)) return;
    event.preventDefault();
    button.closest(".toast")?.remove();
    sending = Promise.race([left, sending]).then(() => undo(button.value)).catch((error) => {
      say({ text: error instanceof Error ? error.message : UNANSWERED });
    });
  });
}
