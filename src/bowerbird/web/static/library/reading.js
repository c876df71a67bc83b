// Saves the note when its field or the page is left, and marks selected words of a post.
// @ts-check

const MARKED = "[data-field]";
const KEEPALIVE_BYTES = 60_000;
const FRESH_MILLISECONDS = 600_000;

/**
 * The text that markup was made of: a link to another site shows its address without the scheme.
 * @param {DocumentFragment} shown
 */
function source(shown) {
  for (const link of shown.querySelectorAll('a[href^="http" i]')) {
    link.textContent = link.getAttribute("href");
  }
  return shown.textContent ?? "";
}

/**
 * How many code points of a text are before a point in its markup.
 * @param {HTMLElement} part
 * @param {Node} node
 * @param {number} offset
 */
function codePoints(part, node, offset) {
  const before = document.createRange();
  before.selectNodeContents(part);
  before.setEnd(node, offset);
  return Number(part.dataset.start) + [...source(before.cloneContents())].length;
}

/** @param {Node} node @returns {HTMLElement | null} */
function partOf(node) {
  const element = node instanceof Element ? node : node.parentElement;
  return /** @type {HTMLElement | null} */ (element?.closest(MARKED) ?? null);
}

/** The selected words, if they are in one text of one post. */
function selected() {
  const selection = getSelection();
  if (!selection || selection.isCollapsed || !selection.rangeCount) return null;
  const range = selection.getRangeAt(0);
  const first = partOf(range.startContainer);
  let last = partOf(range.endContainer);
  let [node, offset] = [range.endContainer, range.endOffset];
  if (first && !last) {
    // A selection of whole paragraphs ends before the next one.
    const parts = [...document.querySelectorAll(MARKED)].filter((part) => range.intersectsNode(part));
    last = /** @type {HTMLElement | null} */ (parts.at(-1) ?? null);
    if (last) [node, offset] = [last, last.childNodes.length];
  }
  if (!first || !last) return null;
  const [one, other] = [first.dataset, last.dataset];
  if (one.post !== other.post || one.field !== other.field) return null;
  const start = codePoints(first, range.startContainer, range.startOffset);
  const end = codePoints(last, node, offset);
  if (end <= start || !range.toString().trim()) return null;
  return { post: one.post ?? "", field: one.field ?? "", start, end, range };
}

function mark() {
  const found = selected();
  const form = document.querySelector("#selected");
  if (!found || !(form instanceof HTMLFormElement)) return;
  form.action = `${form.dataset.paths}${found.post}/highlights`;
  for (const name of /** @type {const} */ (["field", "start", "end"])) {
    const input = form.elements.namedItem(name);
    if (input instanceof HTMLInputElement) input.value = String(found[name]);
  }
  form.submit();
}

/** @param {HTMLElement} button */
function place(button) {
  const found = selected();
  button.hidden = !found;
  if (!found) return;
  const box = found.range.getBoundingClientRect();
  const above = box.top - button.offsetHeight - 8;
  const top = above > 60 ? above : Math.min(box.bottom + 8, innerHeight - button.offsetHeight - 8);
  const middle = box.left + box.width / 2 - button.offsetWidth / 2;
  const left = Math.max(8, Math.min(middle, innerWidth - button.offsetWidth - 8));
  button.style.top = `${Math.max(8, top)}px`;
  button.style.left = `${left}px`;
}

const marker = document.querySelector("#marker");
if (marker instanceof HTMLElement) {
  document.addEventListener("selectionchange", () => place(marker));
  addEventListener("scroll", () => place(marker), { passive: true });
  // A press on the button would remove the selection.
  marker.addEventListener("pointerdown", (event) => event.preventDefault());
  marker.addEventListener("click", mark);
  document.addEventListener("keydown", (event) => {
    const isPlain = !event.ctrlKey && !event.metaKey && !event.altKey;
    const inField = event.target instanceof Element && event.target.closest("input, textarea, select");
    if (event.key === "h" && isPlain && !inField && !areKeysOff()) mark();
  });
}

/** Single keys can be turned off, see keyboard.js. */
function areKeysOff() {
  try { return localStorage.getItem("keys-off") === "yes"; } catch { return false; }
}

/**
 * A note that may not be stored yet, in case that the server does not answer or the page is left.
 * @typedef {{ text: string, over: string[], at: number }} Draft `over`: notes that it replaces
 */

/**
 * @param {string} key
 * @returns {Draft | null}
 */
function draftOf(key) {
  try { return JSON.parse(localStorage.getItem(key) ?? "null"); } catch { return null; }
}

/**
 * @param {string} key
 * @param {Draft | null} draft
 */
function keepDraft(key, draft) {
  try {
    if (draft) localStorage.setItem(key, JSON.stringify(draft));
    else localStorage.removeItem(key);
  } catch { /* Private windows refuse it. */ }
}

/** @param {HTMLFormElement} form */
function saveByItself(form) {
  const field = form.querySelector("textarea");
  const state = form.querySelector("[data-state]");
  const key = form.dataset.draft ?? "";
  if (!field || !state) return;
  const details = form.closest("details");
  // The server removes spaces around a note, so they are no difference.
  const typed = () => field.value.trim();
  let saved = typed();
  /** What was sent last, and whether another note than the one in the page was saved. */
  let sent = saved;
  let isOther = false;
  /** @type {string | null} what the server has not answered yet */
  let underWay = null;
  let change = "";
  const say = () => {
    const text = saved ? "The note is saved." : "The note is removed.";
    const undo = change ? { name: "change", value: change, action: form.dataset.takeBack } : undefined;
    document.dispatchEvent(new CustomEvent("library:say", { detail: { text, undo } }));
  };
  const save = async () => {
    const text = typed();
    if (text === sent) return;
    sent = underWay = text;
    state.textContent = "Saving…";
    try {
      const body = new URLSearchParams(/** @type {any} */ (new FormData(form))).toString();
      const answer = await fetch(form.dataset.note ?? "", {
        method: "POST",
        headers: { "Content-Type": "application/x-www-form-urlencoded" },
        body,
        // Goes on when the page is left. Browsers refuse it for more; the draft is left then.
        keepalive: body.length <= KEEPALIVE_BYTES,
      });
      const said = await answer.json();
      if (said.go) return location.assign(said.go);
      state.textContent = answer.ok ? (said.has_note ? "Saved." : "Removed.") : said.error;
      if (!answer.ok) return;
      [saved, isOther, change] = [text, true, said.change];
      if (typed() === text) keepDraft(key, null);
      say();
    } catch {
      sent = saved;
      state.textContent = "Not saved: the server does not answer. Press Save to try again.";
    } finally {
      if (underWay === text) underWay = null;
    }
  };
  /** @type {Promise<void>} */
  let saving = Promise.resolve();
  const saveNow = () => { saving = save(); };
  field.addEventListener("change", saveNow);
  addEventListener("pagehide", saveNow);
  document.addEventListener("visibilitychange", () => {
    if (document.visibilityState === "hidden") saveNow();
  });
  field.addEventListener("input", () => {
    keepDraft(key, { text: field.value, over: [saved, sent], at: Date.now() });
    if (typed() !== saved) state.textContent = "Saved when you leave the field.";
  });
  // The button sends it. Pressing it with the mouse does not leave the field, which would save it too.
  form.querySelector("button")?.addEventListener("mousedown", (event) => event.preventDefault());
  form.addEventListener("submit", (event) => {
    const text = typed();
    const isSaved = isOther && text === saved;
    // What the field has sent would be no change any more, with nothing to undo.
    if (isSaved || text === underWay) event.preventDefault();
    if (isSaved) say();
    sent = text;
  });
  // The note above the field is the one before; the server renders the new one.
  details?.addEventListener("toggle", async () => {
    await saving;
    if (!details.open && isOther) location.reload();
  });
  const draft = draftOf(key);
  if (draft && draft.text.trim() !== saved) {
    field.value = draft.text;
    if (details) details.open = true;
    // Later, the note may have been changed on purpose, also to the one that it was then.
    if (draft.over.includes(saved) && Date.now() - draft.at < FRESH_MILLISECONDS) return saveNow();
    sent = typed();
    state.textContent = "You typed this earlier, and it was not saved. Press Save to keep it.";
  } else if (draft) {
    keepDraft(key, null);
  }
}

const noteForm = document.querySelector("form[data-note]");
if (noteForm instanceof HTMLFormElement) saveByItself(noteForm);
