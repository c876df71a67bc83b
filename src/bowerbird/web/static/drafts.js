// Sends notes that a page could not send when it was left: browsers may drop such requests.
// What a draft is, see reading.js.
// @ts-check

const FRESH_MILLISECONDS = 600_000;
const own = document.querySelector("form[data-draft]");
const ownKey = own instanceof HTMLElement ? own.dataset.draft ?? "" : "";
const place = document.querySelector("[data-drafts]");
const { drafts = "", base = "" } = place instanceof HTMLElement ? place.dataset : {};
const token = document.querySelector("input[name='csrf']");

/**
 * @param {string} key
 * @returns {any}
 */
function read(key) {
  try { return JSON.parse(localStorage.getItem(key) ?? "null"); } catch { return null; }
}

/** @param {string} key of a draft whose page is left */
async function send(key) {
  const { text, over, at } = read(key);
  if (Date.now() - at > FRESH_MILLISECONDS) return;
  const path = `${base}/p/${key.slice(drafts.length)}`;
  const found = await fetch(`${path}/json`);
  if (!found.ok) return;
  const note = (await found.json()).data.note ?? "";
  if (note !== text.trim()) {
    // Somebody has changed it since. The page of the post asks what to keep.
    if (!over.some((/** @type {string} */ each) => each.trim() === note)) return;
    const csrf = token instanceof HTMLInputElement ? token.value : "";
    const body = new URLSearchParams({ csrf, note: text });
    const answer = await fetch(`${path}/note/json`, { method: "POST", body });
    if (!answer.ok) return;
  }
  if (read(key)?.at === at) localStorage.removeItem(key);
}

try {
  const keys = Object.keys(localStorage).filter((key) => drafts && key.startsWith(drafts));
  for (const key of keys) if (key !== ownKey && read(key)?.isLeft) send(key).catch(() => {});
  addEventListener("pagehide", () => {
    const draft = read(ownKey);
    if (draft) localStorage.setItem(ownKey, JSON.stringify({ ...draft, isLeft: true }));
  });
} catch { /* Private windows refuse it. */ }
