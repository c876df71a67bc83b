// Loads further posts when the end of a list comes near, and keeps the place: the address is always
// the page of the topmost post on screen, which the server can show again. Without it, "Older
// posts" is a link.
// @ts-check

const MOST_ROWS = 300;
const NEAR = "900px";
const REST_MILLISECONDS = 120;
const FRAMES = 4;
const LEAVING_MILLISECONDS = 5_000;
/** Rows after the topmost one that also tell the place, in case that one has left the list. */
const FOLLOWING = 12;

/** @typedef {{ ids: string[], offset: number, focused: string }} Place */

const list = document.querySelector(".posts");
/** @type {WeakMap<Element, string>} row -> address of the page that it came with */
const pages = new WeakMap();
let isLoading = false;
let resting = 0;
/** A post is being opened: what scrolls now is not read any more. */
let isLeaving = false;

/** @returns {HTMLElement[]} */
function rows() {
  return [...document.querySelectorAll(".posts li[id^='p-']")].filter((row) => row instanceof HTMLElement);
}

/** @returns {string} the address of this page, without the message about a change */
function ownAddress() {
  const address = new URL(location.href);
  for (const name of ["said", "post", "change"]) address.searchParams.delete(name);
  return address.pathname + address.search;
}

/**
 * Not by fetch: the policy of the page forbids to parse text, but not to receive a document.
 * @param {string} url
 * @returns {Promise<Document>}
 */
function open(url) {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open("GET", url);
    request.responseType = "document";
    request.onload = () => {
      if (request.status === 200 && request.response instanceof Document) resolve(request.response);
      else reject(new Error(String(request.status)));
    };
    request.onerror = () => reject(new Error("no answer"));
    request.send();
  });
}

/**
 * Adds the rows of a page, except those that are here already.
 * @param {Document} page
 * @param {string} url
 * @returns {HTMLElement[]} the rows that were added
 */
function append(page, url) {
  /** @type {HTMLElement[]} */
  const added = [];
  for (const group of page.querySelectorAll(".posts > ol")) {
    const heading = group.previousElementSibling;
    const isNamed = heading?.matches("h2.day") ?? false;
    const fresh = [...group.children].filter((row) => !document.getElementById(row.id));
    if (!fresh.length) continue;
    const last = list?.querySelector(":scope > ol:last-of-type");
    const before = last?.previousElementSibling;
    const lastName = before?.matches("h2.day") ? before.textContent : "";
    const name = isNamed ? heading?.textContent : "";
    if (last && lastName === name) {
      last.append(...fresh);
      before?.removeAttribute("hidden");
    } else {
      const made = document.createElement("ol");
      made.append(...fresh);
      if (isNamed && heading) list?.append(document.adoptNode(heading));
      list?.append(made);
    }
    for (const row of fresh) {
      pages.set(row, url);
      if (row instanceof HTMLElement) added.push(row);
    }
  }
  return added;
}

/** @returns {HTMLAnchorElement | null} */
function olderLink() {
  const link = document.querySelector("[data-older]");
  return link instanceof HTMLAnchorElement ? link : null;
}

async function load() {
  const link = olderLink();
  if (!link || isLoading || rows().length >= MOST_ROWS) return;
  isLoading = true;
  const asked = first;
  const place = link.closest(".next");
  try {
    const page = await open(link.href);
    const next = page.querySelector("[data-older]")?.closest(".next");
    // A search may have replaced the list by now.
    if (!page.querySelector(".posts") || asked !== first) return;
    const { pathname, search } = new URL(link.href);
    const added = append(page, pathname + search);
    const total = place?.querySelector("[data-total]")?.getAttribute("data-total");
    if (next) place?.replaceWith(document.adoptNode(next));
    else link.remove();
    const shown = document.querySelector("[data-total]");
    const posts = rows().reduce((sum, row) => sum + Number(row.dataset.posts ?? 1), 0);
    if (shown && total) shown.textContent = `${posts.toLocaleString("en")} of ${total}`;
    if (added.length) document.dispatchEvent(new CustomEvent("library:rows", { detail: { rows: added } }));
  } catch {
    // The link still works, and says what is wrong if it does not.
    observer.disconnect();
    return;
  } finally {
    isLoading = false;
  }
  watch();
}

const observer = new IntersectionObserver((entries) => {
  if (entries.some((entry) => entry.isIntersecting)) load();
}, { rootMargin: NEAR });

function watch() {
  observer.disconnect();
  const link = olderLink();
  if (link && rows().length < MOST_ROWS) observer.observe(link);
}

/** @returns {number} where the sticky bars above the list end */
function top() {
  const bar = document.querySelector(".find");
  return bar ? Math.max(0, bar.getBoundingClientRect().bottom) : 0;
}

/**
 * @param {HTMLElement[]} all in the order of the page
 * @returns {number} the index of the topmost row on screen
 */
function topmost(all) {
  const edge = top();
  let low = 0;
  let high = all.length - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((all[middle]?.getBoundingClientRect().bottom ?? 0) > edge) high = middle;
    else low = middle + 1;
  }
  return low;
}

/**
 * Writes the place into the address and the history.
 * @param {HTMLElement | null} opened the row whose post is being opened
 */
function keep(opened) {
  const all = rows();
  const at = opened ? all.indexOf(opened) : topmost(all);
  const row = all[at];
  if (!row) return;
  const isTop = !opened && at === 0 && scrollY < 1;
  const place = {
    ids: all.slice(at, at + FOLLOWING).map((each) => each.id),
    offset: row.getBoundingClientRect().top,
    focused: (opened ?? document.activeElement?.closest(".posts li[id^='p-']"))?.id ?? "",
  };
  const url = pages.get(row) ?? first;
  history.replaceState(isTop ? null : { place }, "", isTop ? first : `${url}#${row.id}`);
}

/**
 * The height of a row may change when its images or letters arrive.
 * @param {Element} row
 * @param {number} offset
 * @param {number} frames how often to look again
 */
function align(row, offset, frames) {
  const distance = row.getBoundingClientRect().top - offset;
  if (Math.abs(distance) >= 1) scrollBy({ top: distance, behavior: "instant" });
  if (frames > 0) requestAnimationFrame(() => align(row, offset, frames - 1));
}

/** Returns to the place that the history has for this page. */
function restore() {
  /** @type {Place | undefined} */
  const place = history.state?.place;
  const found = place?.ids.map((id) => document.getElementById(id)).find((row) => row !== null);
  if (!place || !found) return;
  align(found, place.offset, FRAMES);
  const post = (document.getElementById(place.focused) ?? found).querySelector(".post");
  if (!place.focused || !(post instanceof HTMLElement)) return;
  if (!post.hasAttribute("tabindex")) post.tabIndex = -1;
  post.focus({ preventScroll: true });
}

let first = ownAddress();
if (list) {
  // The browser would restore a distance that belongs to a page with more posts.
  history.scrollRestoration = "manual";
  restore();
  watch();
  addEventListener("scroll", () => {
    clearTimeout(resting);
    resting = setTimeout(() => { if (!isLeaving) keep(null); }, REST_MILLISECONDS);
  }, { passive: true });
  list.addEventListener("click", (event) => {
    if (!(event instanceof MouseEvent)) return;
    const link = event.target instanceof Element ? event.target.closest("a[href]") : null;
    const row = link?.closest("li[id^='p-']");
    if (!(row instanceof HTMLElement) || event.metaKey || event.ctrlKey || event.shiftKey) return;
    keep(row);
    isLeaving = true;
    setTimeout(() => { isLeaving = false; }, LEAVING_MILLISECONDS);
  });
  addEventListener("pageshow", () => { isLeaving = false; });
  document.addEventListener("library:replaced", () => { first = ownAddress(); watch(); });
}
