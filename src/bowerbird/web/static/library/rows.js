// Marks, archives and deletes the posts of a list without opening the page again: the row changes
// at once, and comes back if the server refuses. Without it, the buttons send their form.
// @ts-check

/**
 * @typedef {{ isRead: boolean, isArchived: boolean, isHere: boolean, isStarred: boolean }} State
 * @typedef {{ icon: string, text: string, name: string, isOn: boolean }} Look
 */

/** @type {Record<string, string>} */
const OPPOSITE = {
  read: "unread", unread: "read", archive: "unarchive", unarchive: "archive",
  trash: "restore", restore: "trash", label: "unlabel", unlabel: "label",
};
/** Of a button with a post and a label: the star. */
const STARS = ["label", "unlabel"];
/** @type {Record<string, string>} */
const SAID = {
  read: "Marked read.", unread: "Marked unread.", archive: "Archived.",
  unarchive: "Taken out of the archive.", trash: "Moved to the trash.", restore: "Restored.",
  label: "Added to your favourites.", unlabel: "Taken out of your favourites.",
};
const UNANSWERED = "Your library does not answer. The change was not made.";

const change = document.getElementById("change");
const list = document.querySelector(".posts");
/** @type {Map<string, { row: HTMLElement, place: Comment }>} rows that have left the list */
const gone = new Map();
/** @type {{ name: string, value: string } | null} */
let lastUndo = null;
/** Changes are sent one after the other, so that two of one post keep their order. */
let sending = Promise.resolve();
const leaving = () => new Promise((resolve) => { addEventListener("pagehide", resolve, { once: true }); });
/** A page that is left sends at once what waits. */
let left = leaving();
// It may come back from the back/forward cache.
addEventListener("pageshow", () => { left = leaving(); });

/**
 * @param {HTMLElement} row
 * @returns {State}
 */
function stateOf(row) {
  return {
    isRead: row.querySelector(".post")?.classList.contains("read") ?? false,
    isArchived: row.querySelector(".acts [name=unarchive]") !== null,
    isStarred: row.querySelector(".star[aria-pressed=true]") !== null,
    isHere: !gone.has(row.id) || gone.get(row.id)?.place.data !== "trash",
  };
}

/**
 * @param {HTMLElement} row
 * @param {string} names selector of the button
 * @param {Look} look
 */
function redraw(row, names, look) {
  const button = row.querySelector(`.acts :is(${names})`);
  if (!(button instanceof HTMLButtonElement)) return;
  button.name = look.name;
  button.title = look.text;
  button.classList.toggle("on", look.isOn);
  button.querySelector("use")?.setAttribute("href", look.icon);
  const text = button.querySelector(".sr");
  if (text) text.textContent = look.text;
}

/**
 * @param {HTMLElement} row
 * @param {boolean} isRead
 */
function showRead(row, isRead) {
  const post = row.querySelector(".post");
  if (!post) return;
  post.classList.toggle("read", isRead);
  const label = (post.getAttribute("aria-label") ?? "").replace(/, unread$/, "");
  post.setAttribute("aria-label", isRead ? label : `${label}, unread`);
  redraw(row, "[name=read], [name=unread]", isRead
    ? { icon: "#i-undo", text: "Mark unread", name: "unread", isOn: false }
    : { icon: "#i-check", text: "Mark read", name: "read", isOn: false });
}

/**
 * @param {HTMLElement} row
 * @param {boolean} isArchived
 */
function showArchived(row, isArchived) {
  redraw(row, "[name=archive], [name=unarchive]", isArchived
    ? { icon: "#i-archive", text: "Take out of the archive", name: "unarchive", isOn: true }
    : { icon: "#i-archive", text: "Archive", name: "archive", isOn: false });
}

/**
 * @param {HTMLElement} row
 * @param {boolean} isStarred
 */
function showStar(row, isStarred) {
  const star = row.querySelector(".star");
  if (!(star instanceof HTMLButtonElement)) return;
  star.setAttribute("aria-pressed", String(isStarred));
  star.name = isStarred ? "unlabel" : "label";
}

/**
 * A comment keeps the place of a row that leaves.
 * @param {HTMLElement} row
 * @param {string} reason
 */
function takeOut(row, reason) {
  const place = document.createComment(reason);
  row.replaceWith(place);
  gone.set(row.id, { row, place });
  showHeading(place.parentElement);
}

/** @param {HTMLElement} row */
function putBack(row) {
  const left = gone.get(row.id);
  if (!left) return;
  // It is shown at once, as a row near the screen.
  row.classList.remove("far");
  left.place.replaceWith(row);
  gone.delete(row.id);
  showHeading(row.parentElement);
}

/** @param {Element | null} group */
function showHeading(group) {
  const heading = group?.previousElementSibling;
  if (heading?.matches("h2.day")) heading.toggleAttribute("hidden", group?.querySelector("li") === null);
}

/**
 * @param {Element | null} element whose text has a number
 * @param {number} step
 */
function add(element, step) {
  if (!element || !step) return;
  element.textContent = (element.textContent ?? "").replace(/[\d,]+( posts?\b)?/, (found, unit) => {
    const count = Math.max(0, parseInt(found.replaceAll(",", ""), 10) + step);
    const posts = unit ? (count === 1 ? " post" : " posts") : "";
    return count.toLocaleString("en") + posts;
  });
}

/**
 * Changes the number of posts that match, which the heading and the selection have.
 * @param {number} step
 */
function addMatching(step) {
  add(document.querySelector(".found h1"), step);
  const all = document.querySelector(".picks .all");
  const box = all?.querySelector("input");
  if (box) box.dataset.total = String(Number(box.dataset.total) + step);
  const text = all?.querySelector("span")?.firstChild;
  const total = Number(box?.dataset.total).toLocaleString("en");
  if (text) text.textContent = (text.textContent ?? "").replace(/[\d,]+/, total);
}

/**
 * Changes the counts in the sidebar and the heading.
 * @param {HTMLElement} row
 * @param {State} before
 * @param {State} after
 */
function count(row, before, after) {
  /** @type {[string, (state: State) => boolean][]} */
  const counted = [
    ["bead", (s) => s.isHere && !s.isRead && !s.isArchived],
    ["library", (s) => s.isHere],
    ["archive", (s) => s.isHere && s.isArchived],
    ["star", (s) => s.isHere && s.isStarred],
    ["trash", (s) => !s.isHere],
  ];
  for (const [name, isCounted] of counted) {
    add(document.querySelector(`.side [data-count=${name}]`), Number(isCounted(after)) - Number(isCounted(before)));
  }
  const matches = (/** @type {State} */ s) => s.isHere
    && !(list?.hasAttribute("data-unread") && s.isRead)
    && !(list?.hasAttribute("data-hides-archived") && s.isArchived)
    && !(list?.hasAttribute("data-archive") && !s.isArchived);
  addMatching(Number(matches(after)) - Number(matches(before)));
  const step = Number(after.isHere) - Number(before.isHere);
  if (!step) return;
  const names = new Set([...row.querySelectorAll(".tag bdi")].map((tag) => tag.textContent ?? ""));
  for (const dot of row.querySelectorAll(".dot[title]")) names.add(dot.getAttribute("title") ?? "");
  for (const link of document.querySelectorAll(".side li a")) {
    if (names.has(link.querySelector("bdi")?.textContent ?? "")) add(link.querySelector("[data-count=label]"), step);
  }
}

/**
 * Shows a change, before the server has made it.
 * @param {string} action
 * @param {HTMLElement} row
 */
function show(action, row) {
  const before = stateOf(row);
  if (action === "restore") putBack(row);
  if (action === "unarchive" || action === "archive") {
    showArchived(row, action === "archive");
    const leaves = action === "archive" ? "data-hides-archived" : "data-archive";
    if (gone.has(row.id)) putBack(row);
    else if (list?.hasAttribute(leaves)) takeOut(row, action);
  }
  // A read post stays in a list of unread posts until the list is left.
  if (action === "read" || action === "unread") showRead(row, action === "read");
  if (STARS.includes(action)) showStar(row, action === "label");
  if (action === "trash") takeOut(row, action);
  count(row, before, stateOf(row));
}

/**
 * @param {HTMLElement} row
 * @returns {HTMLElement | null} the row after it, or the one before at the end
 */
function neighbour(row) {
  const rows = [...document.querySelectorAll(".posts li[id^='p-']")];
  const at = rows.indexOf(row);
  const found = rows[at + 1] ?? rows[at - 1];
  return found instanceof HTMLElement ? found : null;
}

/** @param {HTMLElement | null} row */
function focusOn(row) {
  const post = row?.querySelector(".post");
  if (!(post instanceof HTMLElement)) {
    document.getElementById("content")?.focus({ preventScroll: true });
    return;
  }
  if (!post.hasAttribute("tabindex")) post.tabIndex = -1;
  post.focus({ preventScroll: true });
  // With the next frame, which lays out the page anyway.
  requestAnimationFrame(() => {
    if (document.activeElement === post) post.scrollIntoView({ block: "nearest" });
  });
}

/**
 * @param {string} action
 * @param {string} value the post, and the label if the action has one
 */
async function send(action, value) {
  if (!(change instanceof HTMLFormElement)) return;
  const fields = [...new FormData(change)].map(([name, value]) => [name, String(value)]);
  const body = new URLSearchParams([...fields, [action, value]]);
  const headers = { Accept: "application/json" };
  const response = await fetch(change.action, { method: "POST", headers, body, keepalive: true })
    .catch(() => { throw new Error(UNANSWERED); });
  const answer = await response.json().catch(() => ({}));
  if (answer.go) location.assign(answer.go);
  if (!response.ok) throw new Error(answer.error ?? UNANSWERED);
}

/**
 * Sending is a task of its own, so that the change can be painted before it. Not with the next
 * frame: a hidden page has none.
 */
function shown() {
  return Promise.race([left, new Promise((resolve) => { setTimeout(resolve); })]);
}

/** @param {object} detail see messages.js */
function say(detail) {
  document.dispatchEvent(new CustomEvent("library:say", { detail }));
}

/**
 * @param {string} action
 * @param {HTMLElement} row
 * @param {boolean} isUndo
 * @param {string} label that the action adds or removes
 */
function make(action, row, isUndo, label = "") {
  const id = row.id.slice("p-".length);
  const value = label ? `${id} ${label}` : id;
  const opposite = OPPOSITE[action] ?? "";
  const next = isUndo ? row : neighbour(row);
  const isInRow = row.contains(document.activeElement);
  // A star does not finish a post.
  const hasFocus = label ? isUndo && !isInRow : isInRow || document.activeElement === document.body || isUndo;
  show(action, row);
  lastUndo = isUndo ? null : { name: opposite, value };
  say(isUndo ? { text: "Undone." } : { text: SAID[action], undo: lastUndo });
  // With the next frame, as below: a row that somebody has swiped goes back.
  requestAnimationFrame(() => row.querySelector(".post")?.scrollTo({ left: 0 }));
  // Last, because it makes the browser lay out the page.
  if (hasFocus) focusOn(next);
  sending = Promise.race([left, sending]).then(shown).then(() => send(action, value)).then(() => {
    document.dispatchEvent(new CustomEvent("library:changed", { detail: { ids: [id], change: action } }));
  }).catch((error) => {
    show(opposite, row);
    if (lastUndo?.value === value) lastUndo = null;
    for (const toast of document.querySelectorAll(".toast")) toast.remove();
    const text = error instanceof Error ? error.message : UNANSWERED;
    say({ text, retry: () => make(action, row, isUndo, label) });
  });
}

/**
 * @param {string} id
 * @returns {HTMLElement | null}
 */
function rowOf(id) {
  return gone.get(`p-${id}`)?.row ?? document.getElementById(`p-${id}`);
}

if (list && change) {
  change.addEventListener("submit", (event) => {
    const button = event.submitter;
    if (!(button instanceof HTMLButtonElement) || !OPPOSITE[button.name]) return;
    const [id = "", ...rest] = button.value.split(" ");
    const row = rowOf(id);
    const isUndo = button.hasAttribute("data-undo");
    // The undo of a change that this page did not make needs the server's page.
    if (!row || (isUndo && !lastUndo)) return;
    event.preventDefault();
    make(button.name, row, isUndo, STARS.includes(button.name) ? rest.join(" ") : "");
  });
}
