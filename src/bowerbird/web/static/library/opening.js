// Marks a post read as soon as somebody sees it, if the server could not tell that a person opened
// the page, shows how it reads as that is chosen, and remembers the place in a long post. The places
// stay in this browser.
// @ts-check

const PLACES = "reading-places";
const MOST_PLACES = 100;
const REST_MILLISECONDS = 250;
/** A post is long if it takes more screens than this. */
const LONG = 2;

/** @typedef {Record<string, [number, number]>} Places key of a post -> its paragraph, and the share of it that is read */

async function markRead() {
  const [button, form] = [document.querySelector("[data-opening]"), document.getElementById("change")];
  if (!(button instanceof HTMLButtonElement) || !(form instanceof HTMLFormElement)) return;
  const fresh = Number(button.dataset.opening);
  button.removeAttribute("data-opening");
  const fields = [...new FormData(form)].map(([name, value]) => [name, String(value)]);
  const body = new URLSearchParams([...fields, [button.name, button.value]]);
  const action = button.hasAttribute("formaction") ? button.formAction : form.action;
  const answer = await fetch(action, { method: "POST", headers: { Accept: "application/json" }, body, keepalive: true });
  const other = document.querySelector("template[data-opened]");
  if (!answer.ok || !(other instanceof HTMLTemplateElement)) return;
  button.replaceWith(other.content.cloneNode(true));
  const count = document.querySelector(".side [data-count=bead]");
  const left = Number((count?.textContent ?? "").replaceAll(",", "")) - fresh;
  if (count) count.textContent = Math.max(0, left).toLocaleString("en");
  const state = document.querySelector("[data-read-state]");
  if (state) state.textContent = (state.textContent ?? "").replace("unread", "read");
}

function markWhenSeen() {
  if (document.visibilityState === "visible") markRead().catch(() => undefined);
  else document.addEventListener("visibilitychange", markWhenSeen, { once: true });
}

/** @returns {Places} */
function places() {
  try { return JSON.parse(localStorage.getItem(PLACES) ?? "{}"); } catch { return {}; }
}

/** @returns {Element[]} the texts of the post */
function parts() {
  return [...document.querySelectorAll(".reading article [data-field]")];
}

/** @returns {number} where the bar above the text ends */
function edge() {
  return Math.max(0, document.querySelector(".read-top")?.getBoundingClientRect().bottom ?? 0);
}

/** @param {string} key */
function keep(key) {
  const all = parts();
  const top = edge();
  const at = all.findIndex((part) => part.getBoundingClientRect().bottom > top);
  const box = all[at]?.getBoundingClientRect();
  const last = all.at(-1)?.getBoundingClientRect();
  const kept = Object.entries(places()).filter(([other]) => other !== key);
  // The start of a post needs no place, and neither does one that is read to its end.
  const isWithin = box && last && scrollY > innerHeight / 2 && last.bottom > innerHeight;
  if (isWithin) kept.push([key, [at, (top - box.top) / box.height]]);
  try {
    localStorage.setItem(PLACES, JSON.stringify(Object.fromEntries(kept.slice(-MOST_PLACES))));
  } catch { /* Private windows refuse it. */ }
}

/** @param {string} key */
function restore(key) {
  const [at, share] = places()[key] ?? [-1, 0];
  // Twice: the bar above the text is elsewhere after the first time.
  for (const part of [parts()[at], parts()[at]]) {
    const box = part?.getBoundingClientRect();
    if (box) scrollBy({ top: box.top + share * box.height - edge(), behavior: "instant" });
  }
}

/** @param {string} key */
function rememberPlace(key) {
  // A link to a passage and the browser itself know their own place.
  if (!location.hash && scrollY === 0) restore(key);
  let resting = 0;
  addEventListener("scroll", () => {
    clearTimeout(resting);
    resting = setTimeout(() => keep(key), REST_MILLISECONDS);
  }, { passive: true });
}

/**
 * Shows a choice about how posts look at once, and keeps it. Without it, the button does.
 * @param {HTMLFormElement} form
 */
function keepChoices(form) {
  form.querySelector(":scope > .btn")?.remove();
  form.addEventListener("change", async (event) => {
    const field = event.target;
    if (!(field instanceof HTMLInputElement)) return;
    const look = field.closest("[data-look]");
    if (look instanceof HTMLElement) document.documentElement.dataset[look.dataset.look ?? ""] = field.value;
    const body = new URLSearchParams([...new FormData(form)].map(([name, value]) => [name, String(value)]));
    const answer = await fetch(form.action, { method: "POST", headers: { Accept: "application/json" }, body, keepalive: true });
    if (answer.ok && field.name === "images") location.reload();
  });
}

const choices = document.querySelector(".readset form");
if (choices instanceof HTMLFormElement) keepChoices(choices);
const reading = document.querySelector(".reading[data-place]");
const article = reading?.querySelector("article");
if (reading instanceof HTMLElement && article && article.scrollHeight > LONG * innerHeight) {
  rememberPlace(reading.dataset.place ?? "");
}
if ("prerendering" in document && document.prerendering) {
  document.addEventListener("prerenderingchange", markWhenSeen, { once: true });
} else markWhenSeen();
