// Shows what a search finds while somebody types, when the keys have rested for a moment. The
// address follows: all that is typed is one entry of the history. Enter sends the form as before.
// @ts-check

const REST_MILLISECONDS = 250;
/** Parameters of the place within a list. */
const PLACE = ["cursor", "sort_cursor", "limit", "said", "post", "change"];

const form = document.querySelector("form.find");
const box = document.getElementById("search");
const list = document.querySelector(".posts");
let resting = 0;
/** Whether this list has its own entry in the history. */
let hasEntry = false;
let shown = listOf(location.href);
/** @type {XMLHttpRequest | null} */
let asking = null;
/** @type {HTMLElement | null} what screen readers are told */
let told = null;

/**
 * @param {string} url
 * @returns {string} the list, without the place in it
 */
function listOf(url) {
  const { pathname, searchParams } = new URL(url);
  for (const name of PLACE) searchParams.delete(name);
  return `${pathname}?${searchParams}`;
}

/**
 * @param {Element} element
 * @returns {Element[]}
 */
function after(element) {
  const siblings = [...(element.parentElement?.children ?? [])];
  return siblings.slice(siblings.indexOf(element) + 1);
}

/**
 * Puts what follows the search box of a page in the place of what follows it here. The list stays
 * the same element, which other scripts know.
 * @param {Document} page
 * @param {Element} theirs its search box
 */
function swap(page, theirs) {
  if (!form || !list) return;
  for (const old of after(form)) if (old !== list) old.remove();
  const fresh = page.querySelector(".posts");
  const all = after(theirs);
  const at = fresh ? all.indexOf(fresh) : -1;
  list.before(...all.slice(0, Math.max(at, 0)).map((each) => document.adoptNode(each)));
  list.after(...all.slice(at + 1).map((each) => document.adoptNode(each)));
  list.replaceChildren(...(fresh?.children ?? []));
  list.className = fresh?.className ?? "posts";
  for (const name of ["data-unread", "data-archive", "data-hides-archived"]) {
    list.toggleAttribute(name, fresh?.hasAttribute(name) ?? false);
  }
  form.classList.toggle("has-q", theirs.classList.contains("has-q"));
  const mark = ".search > :is(a, kbd)";
  const clear = theirs.querySelector(mark);
  clear?.removeAttribute("hidden");
  if (clear) form.querySelector(mark)?.replaceWith(document.adoptNode(clear));
  for (const field of ["#many [name=list]", "#many [name=back]", "#change [name=back]"]) {
    const [own, other] = [document.querySelector(field), page.querySelector(field)];
    if (own instanceof HTMLInputElement && other) own.value = other.getAttribute("value") ?? "";
  }
  const total = page.querySelector(".picks .all input")?.getAttribute("data-total") ?? "0";
  document.querySelector(".picks .all input")?.setAttribute("data-total", total);
  const [words, others] = [document.querySelector(".picks .all span"), page.querySelector(".picks .all span")];
  if (words && others) words.replaceWith(document.adoptNode(others));
  const here = page.querySelector(".side [aria-current]")?.getAttribute("href");
  for (const link of document.querySelectorAll(".side a")) {
    if (link.getAttribute("href") === here) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
}

/** @param {string} text */
function tell(text) {
  if (!told) {
    told = document.createElement("p");
    told.className = "sr";
    told.setAttribute("role", "status");
    form?.append(told);
  }
  told.textContent = text;
}

/**
 * @param {Document} page
 * @param {string} url
 */
function show(page, url) {
  const theirs = page.querySelector("form.find");
  if (!theirs) return location.assign(url);
  if (listOf(url) === shown) return;
  document.dispatchEvent(new CustomEvent("library:pick-none"));
  swap(page, theirs);
  document.title = page.title;
  shown = listOf(url);
  if (hasEntry) history.replaceState(null, "", url);
  else history.pushState(null, "", url);
  hasEntry = true;
  document.dispatchEvent(new CustomEvent("library:replaced"));
  tell(document.querySelector("#found")?.textContent?.trim() ?? "");
}

/** Not by fetch: the policy of the page forbids to parse text, but not to receive a document. */
function ask() {
  if (!(form instanceof HTMLFormElement)) return;
  const fields = [...new FormData(form)].map(([name, value]) => [name, String(value)]);
  const request = new XMLHttpRequest();
  asking?.abort();
  asking = request;
  request.open("GET", `${form.action}?${new URLSearchParams(fields)}`);
  request.responseType = "document";
  request.onload = () => {
    // Enter says what is wrong with a search that is refused.
    if (request.status === 200 && request.response instanceof Document) show(request.response, request.responseURL);
  };
  request.send();
}

function stop() {
  clearTimeout(resting);
  asking?.abort();
}

/** @param {HTMLInputElement} input */
function start(input) {
  input.addEventListener("input", (event) => {
    stop();
    // A letter alone finds too much to be worth it; a sign may be a word.
    if (/^[\x21-\x7e]$/.test(input.value.trim())) return;
    if (!(event instanceof InputEvent && event.isComposing)) resting = setTimeout(ask, REST_MILLISECONDS);
  });
  input.addEventListener("compositionend", () => { resting = setTimeout(ask, REST_MILLISECONDS); });
  form?.addEventListener("submit", stop);
  addEventListener("popstate", () => { if (listOf(location.href) !== shown) location.reload(); });
}

// A Smart View is another page than the search in the library, and a page without posts is too.
if (form instanceof HTMLFormElement && list && box instanceof HTMLInputElement
  && new URL(form.action).pathname === location.pathname) start(box);
