// The menu of a row on phones: all actions of its post. A long press opens it too. Each entry presses
// what the row itself has, so that an action is made, shown and undone in one place.
// @ts-check

const PRESS_MILLISECONDS = 500;
const STILL_PIXELS = 10;
const SVG = "http://www.w3.org/2000/svg";
/** The browser has a menu of its own for these. */
const LINKS = ".text a, .name, .tag, .card, .media a, .quote a, .rowmore, .acts, .pick, .star";
const OUT = "M8 4.5H5A1.5 1.5 0 0 0 3.5 6v9A1.5 1.5 0 0 0 5 16.5h9a1.5 1.5 0 0 0 1.5-1.5v-3M11.75 3.5h4.75v4.75M16.25 3.75l-7 7";
const COPY = "M8.5 7h6.5a1.5 1.5 0 0 1 1.5 1.5V15a1.5 1.5 0 0 1-1.5 1.5H8.5A1.5 1.5 0 0 1 7 15V8.5A1.5 1.5 0 0 1 8.5 7zM4.5 13a1.5 1.5 0 0 1-1-1.4V5A1.5 1.5 0 0 1 5 3.5h6.6a1.5 1.5 0 0 1 1.4 1";

/** @typedef {{ text: string, icon: Element | null, act: () => void }} Entry */

let timer = 0;
let from = { x: 0, y: 0 };
/** Whether the finger of a long press is still down: what follows belongs to the press. */
let isHeld = false;

/** @param {string} path */
function drawn(path) {
  const icon = document.createElementNS(SVG, "svg");
  icon.setAttribute("class", "icon");
  icon.setAttribute("viewBox", "0 0 20 20");
  icon.setAttribute("aria-hidden", "true");
  const line = document.createElementNS(SVG, "path");
  line.setAttribute("d", path);
  icon.append(line);
  return icon;
}

/** @param {HTMLElement} control of the row @returns {Entry} */
function entryOf(control) {
  const isOn = control.getAttribute("aria-pressed") === "true";
  const text = control.title + (control instanceof HTMLAnchorElement ? "…" : "");
  const icon = control.querySelector("svg")?.cloneNode(true);
  return {
    text: isOn ? "Not a favourite" : text,
    icon: icon instanceof Element ? icon : null,
    act: () => control.click(),
  };
}

/** @param {HTMLElement} post @returns {Entry[]} */
function entries(post) {
  const original = post.dataset.original ?? "";
  const page = post.querySelector("a.when");
  const link = original || (page instanceof HTMLAnchorElement ? page.href : "");
  const own = /** @type {HTMLElement[]} */ ([...post.querySelectorAll(":scope > .acts > *, :scope > .star")]);
  const isLast = (/** @type {HTMLElement} */ each) => each.matches("[name=trash]");
  const others = [];
  if (original) others.push({ text: "Open the original", icon: drawn(OUT), act: () => open(original, "_blank", "noreferrer") });
  if (link && navigator.clipboard) others.push({ text: "Copy the link", icon: drawn(COPY), act: () => copy(link) });
  const stars = (/** @type {HTMLElement} */ each) => Number(each.matches(".star"));
  const first = own.filter((each) => !isLast(each)).sort((a, b) => stars(a) - stars(b));
  return [...first.map(entryOf), ...others, ...own.filter(isLast).map(entryOf)];
}

/** @param {string} link */
async function copy(link) {
  await navigator.clipboard.writeText(link);
  document.dispatchEvent(new CustomEvent("library:say", { detail: { text: "Copied." } }));
}

/** @param {HTMLElement} post */
function show(post) {
  const menu = document.createElement("dialog");
  menu.className = "rowmenu";
  menu.setAttribute("aria-label", `Actions: ${post.getAttribute("aria-label") ?? ""}`);
  const list = document.createElement("ul");
  list.className = "picklist";
  for (const { text, icon, act } of entries(post)) {
    const button = document.createElement("button");
    button.type = "button";
    if (icon) button.append(icon);
    button.append(text);
    button.addEventListener("click", () => {
      menu.close();
      act();
    });
    const item = document.createElement("li");
    item.append(button);
    list.append(item);
  }
  menu.append(list);
  menu.addEventListener("click", (event) => {
    if (event.target === menu && !isHeld) menu.close();
  });
  menu.addEventListener("close", () => menu.remove());
  document.body.append(menu);
  menu.showModal();
}

document.addEventListener("library:row-menu", (event) => {
  const post = event.target instanceof Element ? event.target.closest(".post") : null;
  if (post instanceof HTMLElement) show(post);
});

document.addEventListener("pointerdown", (event) => {
  clearTimeout(timer);
  const target = event.target instanceof Element ? event.target : null;
  const post = target?.closest(".posts .post");
  if (event.pointerType !== "touch" || !event.isPrimary || !(post instanceof HTMLElement) || target?.closest(LINKS)) return;
  from = { x: event.clientX, y: event.clientY };
  timer = setTimeout(() => {
    isHeld = true;
    show(post);
  }, PRESS_MILLISECONDS);
});
document.addEventListener("pointermove", (event) => {
  if (Math.hypot(event.clientX - from.x, event.clientY - from.y) > STILL_PIXELS) clearTimeout(timer);
}, { passive: true });
for (const name of ["pointerup", "pointercancel"]) {
  document.addEventListener(name, () => {
    clearTimeout(timer);
    // The click of the finger comes right after it.
    setTimeout(() => { isHeld = false; }, 50);
  }, true);
}
for (const name of ["click", "contextmenu"]) {
  document.addEventListener(name, (event) => {
    if (!isHeld) return;
    event.preventDefault();
    event.stopPropagation();
  }, true);
}
