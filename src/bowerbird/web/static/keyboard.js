// The keys of the library. Single keys rest in fields and with modifiers, and can be turned off on
// the sheet of keys. One row is in the tab order; Tab goes into its links and out again.
// @ts-check

const OFF = "keys-off";
const SEQUENCE_MILLISECONDS = 1_500;
const CONTROLS = "a[href], button, input, summary";
/** The second key after g -> path of a page. */
/** @type {Record<string, string>} */
const PLACES = { u: "/library", a: "/library?is_unread_only=false&hide_archived=false", d: "/digests", f: "/library/favourites", h: "/highlights" };

/** @type {HTMLElement | null} the article of the current row */
let current = null;
let sequenceUntil = 0;
let isOff = stored() === "yes";
/** Most phones have no keys, and a row that is swiped must have something that Tab reaches. */
const isTouched = matchMedia("(pointer: coarse)").matches;

/** @returns {string | null} */
function stored() {
  try { return localStorage.getItem(OFF); } catch { return null; }
}

/** @returns {HTMLElement[]} */
function posts() {
  return [...document.querySelectorAll(".posts li > .post")].filter((post) => post instanceof HTMLElement);
}

/**
 * @param {Element} post
 * @param {boolean} isIn whether Tab reaches its links and buttons
 */
function setReachable(post, isIn) {
  for (const control of post.querySelectorAll(CONTROLS)) {
    if (isIn) control.removeAttribute("tabindex");
    else control.setAttribute("tabindex", "-1");
  }
}

/** @returns {boolean} whether only one row is in the tab order */
function isRoving() {
  return !isOff && !isTouched;
}

/** @param {HTMLElement} post */
function makeCurrent(post) {
  if (post === current) return;
  if (current) {
    current.removeAttribute("tabindex");
    if (isRoving()) setReachable(current, false);
  }
  current = post;
  post.tabIndex = 0;
  if (isRoving()) setReachable(post, true);
}

/** @param {HTMLElement | undefined} post */
function go(post) {
  if (!post) return;
  makeCurrent(post);
  post.focus({ preventScroll: true });
  post.scrollIntoView({ block: "nearest" });
}

/** @returns {HTMLElement | null} the current row, if it is still in the list */
function row() {
  return current?.isConnected ? current : null;
}

/** @param {number} step */
function move(step) {
  const all = posts();
  if (!all.length) return void press("a", `.read-top a[rel=${step > 0 ? "next" : "prev"}]`);
  const from = row();
  if (from?.contains(document.activeElement)) go(all[all.indexOf(from) + step] ?? from);
  else go((from && isOnScreen(from) ? from : all.find(isOnScreen)) ?? all[0]);
}

/** @returns {Record<string, number>} arrow -> how many posts further */
function arrows() {
  const board = document.querySelector(".posts.grid > ol");
  const columns = board ? getComputedStyle(board).gridTemplateColumns.split(" ").length : 1;
  /** @type {Record<string, number>} */
  const up = { ArrowDown: columns, ArrowUp: -columns };
  return board ? { ...up, ArrowRight: 1, ArrowLeft: -1 } : up;
}

/** @param {string} number of a density */
function showAs(number) {
  const link = document.querySelector(`[data-density="${number}"]`);
  if (link instanceof HTMLElement) link.click();
}

/** @param {Element} post */
function isOnScreen(post) {
  // Of the row: the browser would lay out a row far from the screen to measure what is in it.
  const { top, bottom } = (post.parentElement ?? post).getBoundingClientRect();
  return top < innerHeight && bottom > 120;
}

function nextUnread() {
  const all = posts();
  const from = row();
  go(all.slice(from ? all.indexOf(from) + 1 : 0).find((post) => !post.classList.contains("read")));
}

/**
 * Presses a button or link of the current row, or of the page of a post.
 * @param {string} inRow
 * @param {string} onPage
 * @returns {boolean} whether there is one
 */
function press(inRow, onPage) {
  const found = row()?.querySelector(inRow) ?? document.querySelector(onPage);
  if (found instanceof HTMLElement) found.click();
  return found instanceof HTMLElement;
}

/** @returns {boolean} */
function hasUnreadPicks() {
  return document.querySelector(".posts .post:not(.read) .pick input:checked") !== null;
}

/**
 * Changes the selected posts, or else the current row or the post of the page.
 * @param {string} picked the button for the selected posts
 * @param {string} [own] the button of one post
 */
function change(picked, own = picked) {
  const button = document.querySelector(`.pickbar ${picked}`);
  if (isPicking() && button instanceof HTMLElement) button.click();
  else press(`.acts ${own}`, `.read-top ${own}`);
}

/**
 * @param {string} name
 * @param {EventTarget | null} target
 * @param {object} [detail]
 * @returns {boolean} whether nobody handled it
 */
function fire(name, target, detail) {
  return target?.dispatchEvent(new CustomEvent(name, { bubbles: true, cancelable: true, detail })) ?? true;
}

/** @returns {boolean} whether posts are selected */
function isPicking() {
  return document.querySelector(".pick input:checked, .picks .all :checked") !== null;
}

function label() {
  const target = isPicking() ? document : row()?.parentElement ?? document;
  const isAlone = document.querySelector("script[src*='label_picker']") === null;
  if (!fire("library:label", target) || !isAlone) return;
  const field = document.querySelector(".addlabel input:not([type=hidden])");
  if (field instanceof HTMLElement && !row()) field.focus();
  else press(".acts a", "#labels a");
}

function back() {
  const link = document.querySelector(".read-top a");
  if (!(link instanceof HTMLAnchorElement)) return;
  const from = document.referrer && new URL(document.referrer);
  // The list that led here still has its place.
  if (from && from.origin === location.origin && /\/(library|views\/[^/]+)$/.test(from.pathname)) history.back();
  else link.click();
}

function similar() {
  const link = row()?.querySelector("a.when");
  if (link instanceof HTMLAnchorElement) return location.assign(`${link.href}#near`);
  const near = document.querySelector(".near a");
  if (near instanceof HTMLElement) near.focus();
}

function original() {
  const url = row()?.dataset.original;
  if (!url) return void press(".none", ".by a[rel=noreferrer]");
  const link = document.createElement("a");
  link.href = url;
  link.target = "_blank";
  link.rel = "noreferrer noopener";
  link.click();
}

function filter() {
  const menu = document.querySelector(".filters > details.pop");
  if (!(menu instanceof HTMLDetailsElement)) return;
  menu.open = true;
  menu.querySelector("summary")?.focus();
}

// The script of the panels is loaded when the first one is opened.
document.addEventListener("toggle", (event) => {
  const script = event.target instanceof Element ? event.target.closest("[data-script]")?.getAttribute("data-script") : "";
  if (script) import(script);
}, true);

// The palette, the sheet of keys, the form that saves and the menu of a row are loaded when somebody first opens one.
/** @type {Record<string, string>} event that opens it -> its script, in the data of the link to the keys */
const LATER = { "library:palette": "commands", "library:help": "commands", "library:save": "saving", "library:row-menu": "menu" };
const loaded = new Set();
/** @type {string[] | null} keys that are pressed while a script is loaded: they are for what it opens */
let early = null;
for (const [name, script] of Object.entries(LATER)) {
  document.addEventListener(name, async (event) => {
    if (loaded.has(script)) return;
    loaded.add(script);
    early = [];
    await import(helpData()[script] ?? "").catch(() => loaded.delete(script));
    const keys = early;
    early = null;
    if (!loaded.has(script)) return;
    fire(name, event.target);
    const field = document.activeElement;
    if (!keys.length || !(field instanceof HTMLInputElement)) return;
    field.value += keys.filter((key) => key.length === 1).join("");
    field.dispatchEvent(new Event("input", { bubbles: true }));
    if (keys.includes("Enter")) field.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", bubbles: true, cancelable: true }));
  });
}
document.addEventListener("click", (event) => {
  if (event.metaKey || event.ctrlKey || event.shiftKey || !(event.target instanceof Element)) return;
  const link = event.target.closest("a[href]");
  const isHelp = link?.matches("[data-help]");
  if (link?.matches("[data-shut]")) {
    event.preventDefault();
    return escape();
  }
  if (link?.matches(".rowmore")) {
    event.preventDefault();
    return void fire("library:row-menu", link);
  }
  if (!isHelp && link?.getAttribute("href") !== `${helpData().base}/save`) return;
  event.preventDefault();
  fire(isHelp ? "library:help" : "library:save", document);
});

// A long press opens the menu of a row, so that its script is there before the first one.
if (isTouched && posts().length) {
  addEventListener("load", () => {
    loaded.add("menu");
    import(helpData().menu ?? "").catch(() => loaded.delete("menu"));
  });
}

/** @returns {DOMStringMap} what the link to the keys says about the site */
function helpData() {
  const help = document.querySelector("a[data-help]");
  return help instanceof HTMLElement ? help.dataset : {};
}

function search() {
  const box = document.getElementById("search");
  if (!(box instanceof HTMLInputElement)) return;
  box.focus();
  box.select();
}

function escape() {
  const menu = document.querySelector(":is(details.opens, details.pop)[open]");
  if (!(menu instanceof HTMLDetailsElement)) return void fire("library:pick-none", document);
  menu.open = false;
  menu.querySelector("summary")?.focus();
}

function undo() {
  const button = document.querySelector(".toast [data-undo]");
  if (button instanceof HTMLElement) button.click();
  else fire("library:undo", document);
}

/** @type {Record<string, () => unknown>} */
const ACTIONS = {
  j: () => move(1),
  k: () => move(-1),
  o: () => press("a.line, a.when", ".none"),
  u: back,
  n: nextUnread,
  r: () => change(hasUnreadPicks() ? "[name=read]" : "[name=unread]", ":is([name=read], [name=unread])"),
  e: () => change(":is([name=archive], [name=unarchive])"),
  "#": () => change("[name=trash]"),
  l: label,
  b: () => press(".star", ".read-top .star"),
  z: undo,
  x: () => fire("library:pick", row()?.parentElement ?? null, { how: "one" }),
  X: () => fire("library:pick", row()?.parentElement ?? null, { how: "range" }),
  "*": () => fire("library:pick-all", document),
  Escape: escape,
  a: () => fire("library:save", document),
  "/": search,
  f: filter,
  s: similar,
  v: original,
  1: () => showAs("1"),
  2: () => showAs("2"),
  3: () => showAs("3"),
  "?": () => fire("library:help", document),
};

/**
 * @param {string} key
 * @returns {boolean} whether the key means something
 */
function second(key) {
  if (key === "g") {
    go(posts()[0]);
    scrollTo({ top: 0 });
    return true;
  }
  const path = PLACES[key];
  if (!path) return false;
  location.assign((helpData().base ?? "") + path);
  return true;
}

/** @param {EventTarget | null} target */
function isTyping(target) {
  return target instanceof Element
    && target.closest("input:not([type=checkbox], [type=radio]), textarea, select, dialog, [contenteditable]") !== null;
}

/** @param {KeyboardEvent} event */
function pressed(event) {
  if (event.defaultPrevented || event.isComposing) return;
  const isCommand = event.metaKey || event.ctrlKey;
  if (early && !isCommand && !event.altKey) {
    event.preventDefault();
    early.push(event.key);
    return;
  }
  if (isCommand && !event.altKey && event.key.toLowerCase() === "k") {
    event.preventDefault();
    fire("library:palette", document);
    return;
  }
  const isInMenu = event.target instanceof Element && event.target.closest(":is(details.opens, details.pop)[open]") !== null;
  if (event.key === "Escape" && isInMenu) return escape();
  if (isOff || isCommand || event.altKey || isTyping(event.target)) return;
  const isSequence = event.timeStamp < sequenceUntil;
  sequenceUntil = 0;
  if (isSequence && second(event.key)) return event.preventDefault();
  if (event.key === "g") {
    sequenceUntil = event.timeStamp + SEQUENCE_MILLISECONDS;
    return;
  }
  if (event.target === row() && (event.key === "Enter" || event.key in arrows())) {
    event.preventDefault();
    if (event.key === "Enter") ACTIONS.o?.();
    else move(arrows()[event.key] ?? 0);
    return;
  }
  const action = ACTIONS[event.key];
  if (!action) return;
  if (event.key !== "Escape") event.preventDefault();
  action();
}

function start() {
  const all = posts();
  if (isRoving()) for (const post of all) if (post !== current) setReachable(post, false);
  const first = document.querySelector(".posts li:target > .post") ?? all[0];
  if (first instanceof HTMLElement) makeCurrent(first);
}

start();
document.addEventListener("keydown", pressed);
document.addEventListener("focusin", (event) => {
  const post = event.target instanceof Element ? event.target.closest(".posts li > .post") : null;
  if (post instanceof HTMLElement) makeCurrent(post);
});
document.addEventListener("library:rows", (event) => {
  if (!isRoving() || !(event instanceof CustomEvent)) return;
  for (const added of event.detail.rows) setReachable(added, false);
});
document.addEventListener("library:replaced", start);
// The palette runs an action by its key, also if single keys are off.
document.addEventListener("library:do", (event) => {
  if (event instanceof CustomEvent) ACTIONS[event.detail.key]?.();
});
document.addEventListener("library:keys", (event) => {
  if (!(event instanceof CustomEvent)) return;
  isOff = event.detail.isOff;
  try { localStorage.setItem(OFF, isOff ? "yes" : "no"); } catch { /* Private windows refuse it. */ }
  for (const post of posts()) setReachable(post, !isRoving() || post === current);
});
