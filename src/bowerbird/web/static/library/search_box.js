// Suggests labels and authors in the search box while somebody types, and earlier searches, which
// only this browser keeps.
// @ts-check

const RECENT = "recent-searches";
const SEARCHED = "searched";
const MOST_RECENT = 8;
const PAUSE_MILLISECONDS = 150;

/**
 * @typedef {{ text: string, note: string, colour?: string, run: () => void }} Choice
 * @typedef {{ group: string, choices: Choice[] }} Group
 */

const form = document.querySelector("form.find[data-suggest]");
const box = document.getElementById("search");
let paused = 0;
let chosen = -1;
/** @type {Choice[]} */
let choices = [];
/** @type {AbortController | null} */
let asking = null;
const menu = document.createElement("div");

/** @returns {string[]} */
function recent() {
  try {
    const kept = JSON.parse(localStorage.getItem(RECENT) ?? "[]");
    return Array.isArray(kept) ? kept.filter((each) => typeof each === "string").slice(0, MOST_RECENT) : [];
  } catch { return []; }
}

/** @param {string} text */
function remember(text) {
  if (!text) return;
  const kept = [text, ...recent().filter((each) => each !== text)].slice(0, MOST_RECENT);
  try {
    localStorage.setItem(RECENT, JSON.stringify(kept));
    sessionStorage.setItem(SEARCHED, "yes");
  } catch { /* Private windows refuse it. */ }
}

function forget() {
  try { localStorage.removeItem(RECENT); } catch { /* Nothing was kept. */ }
  close();
  box?.focus();
}

/**
 * Opens the list with a filter, or with a search, in place of the word that was typed last.
 * @param {Record<string, string>} added
 * @param {string} rest the search without that word
 */
function narrow(added, rest) {
  if (!(form instanceof HTMLFormElement)) return;
  const fields = [...new FormData(form)].map(([name, value]) => [name, String(value)]);
  const sent = new URLSearchParams(fields);
  sent.set("search", rest);
  for (const [name, value] of Object.entries(added)) sent.set(name, value);
  location.assign(`${form.action}?${sent}`);
}

/** @param {HTMLInputElement} input */
function words(input) {
  const [, rest = "", last = ""] = /^(.*?)(\S*)$/su.exec(input.value) ?? [];
  return { rest: rest.trim(), last };
}

/**
 * @param {HTMLInputElement} input
 * @returns {Promise<Group[]>}
 */
async function suggested(input) {
  const { rest, last } = words(input);
  if (last.length < 2 || !(form instanceof HTMLFormElement)) return [];
  asking?.abort();
  asking = new AbortController();
  const url = `${form.dataset.suggest}?${new URLSearchParams({ text: last })}`;
  const response = await fetch(url, { headers: { Accept: "application/json" }, signal: asking.signal });
  if (!response.ok) return [];
  const answer = await response.json();
  const labels = answer.labels.map((/** @type {any} */ label) => ({
    text: label.name, colour: label.colour, note: `${label.count.toLocaleString("en")} in all`,
    run: () => narrow({ tag: label.name }, rest),
  }));
  const authors = answer.authors.map((/** @type {any} */ author) => ({
    text: author.name || `@${author.handle}`, note: `@${author.handle}`,
    run: () => answer.filters ? narrow({ author: `@${author.handle}` }, rest) : narrow({}, `${rest} @${author.handle}`.trim()),
  }));
  return [{ group: "Labels", choices: labels }, { group: "Authors", choices: authors }];
}

/**
 * @param {HTMLInputElement} input
 * @returns {Group[]}
 */
function earlier(input) {
  const found = recent().map((text) => ({ text, note: "", run: () => { input.value = text; submit(); } }));
  return [{ group: "Earlier searches", choices: found }];
}

function submit() {
  if (form instanceof HTMLFormElement) form.requestSubmit();
}

/** @param {number} index */
function choose(index) {
  menu.querySelector("[aria-selected=true]")?.setAttribute("aria-selected", "false");
  chosen = index;
  const selected = menu.querySelector(`#suggestion-${index}`);
  if (!selected) return box?.removeAttribute("aria-activedescendant");
  selected.setAttribute("aria-selected", "true");
  box?.setAttribute("aria-activedescendant", selected.id);
}

function close() {
  asking?.abort();
  menu.hidden = true;
  menu.querySelector("#suggestions")?.replaceChildren();
  choices = [];
  choose(-1);
  box?.setAttribute("aria-expanded", "false");
}

/**
 * @param {string} name
 * @param {Record<string, string>} attributes
 * @param {...(Node | string)} children
 */
function make(name, attributes, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

/** @param {Group[]} groups */
function open(groups) {
  const filled = groups.filter((group) => group.choices.length);
  if (!filled.length || document.activeElement !== box) return close();
  choices = filled.flatMap((group) => group.choices);
  const list = make("div", { role: "listbox", id: "suggestions", "aria-label": "Suggestions" });
  let index = 0;
  for (const { group, choices: own } of filled) {
    const id = `suggestions-${index}`;
    const made = make("div", { role: "group", "aria-labelledby": id }, make("p", { class: "over", id }, group));
    for (const choice of own) {
      const option = make("div", { role: "option", id: `suggestion-${index}`, "aria-selected": "false" });
      if (choice.colour) option.append(make("span", { class: `dot ${choice.colour}` }));
      option.append(make("span", {}, make("bdi", {}, choice.text)), make("small", { class: "soft" }, choice.note));
      // Before the box loses the focus, which closes the list.
      option.addEventListener("pointerdown", (event) => { event.preventDefault(); choice.run(); });
      made.append(option);
      index += 1;
    }
    list.append(made);
  }
  menu.replaceChildren(list);
  if (filled[0]?.group === "Earlier searches") {
    const button = make("button", { type: "button", class: "btn quiet slim" }, "Forget these searches");
    button.addEventListener("click", forget);
    menu.append(button);
  }
  menu.hidden = false;
  choose(-1);
  box?.setAttribute("aria-expanded", "true");
}

/** @param {HTMLInputElement} input */
function refresh(input) {
  clearTimeout(paused);
  if (!input.value.trim()) return open(earlier(input));
  paused = setTimeout(() => suggested(input).then(open, () => undefined), PAUSE_MILLISECONDS);
}

/** @param {KeyboardEvent} event */
function pressed(event) {
  if (event.key === "Escape") {
    event.preventDefault();
    if (!menu.hidden) return close();
    const post = document.querySelector(".posts .post[tabindex='0']");
    if (post instanceof HTMLElement) post.focus();
    return;
  }
  if (menu.hidden) return;
  if (event.key === "Enter" && chosen >= 0) {
    event.preventDefault();
    choices[chosen]?.run();
  } else if (event.key === "ArrowDown" || event.key === "ArrowUp") {
    event.preventDefault();
    const count = choices.length;
    const next = event.key === "ArrowDown" ? chosen + 1 : chosen - 1 + (chosen < 0 ? 1 : 0);
    choose((next + count) % count);
  }
}

/** @param {HTMLInputElement} input */
function start(input) {
  form?.querySelector(".hint")?.removeAttribute("hidden");
  menu.className = "suggestions opts";
  menu.hidden = true;
  for (const [name, value] of [["role", "combobox"], ["aria-expanded", "false"], ["aria-controls", "suggestions"], ["aria-autocomplete", "list"]]) {
    input.setAttribute(name ?? "", value ?? "");
  }
  menu.append(make("div", { role: "listbox", id: "suggestions", "aria-label": "Suggestions" }));
  input.closest(".search")?.append(menu);
  input.addEventListener("input", () => refresh(input));
  input.addEventListener("keydown", pressed);
  form?.addEventListener("focusout", (event) => {
    if (!(event instanceof FocusEvent && event.relatedTarget instanceof Node && menu.contains(event.relatedTarget))) close();
  });
  form?.addEventListener("submit", () => remember(input.value.trim()));
  try {
    // After a search the box keeps the focus, and its description has the count.
    if (sessionStorage.getItem(SEARCHED)) {
      sessionStorage.removeItem(SEARCHED);
      input.focus({ preventScroll: true });
      input.setSelectionRange(input.value.length, input.value.length);
    }
  } catch { /* Private windows refuse it. */ }
  // Not before: the list of earlier searches would cover what a search by a filter alone has found.
  input.addEventListener("focus", () => { if (!input.value) refresh(input); });
}

if (form && box instanceof HTMLInputElement) start(box);
