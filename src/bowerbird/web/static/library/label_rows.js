// Shows the labels that posts get or lose in the page, after `label_picker.js` has changed them.
// @ts-check

/** @typedef {{ name: string, colour: string, url: string }} Label */

const form = document.getElementById("change");
const base = form instanceof HTMLFormElement
  ? new URL(form.action).pathname.replace(/\/library\/change$/, "")
  : "";

/**
 * @param {string[]} ids
 * @param {Label} label
 * @param {boolean} isAdded
 */
async function show(ids, label, isAdded) {
  const isStar = document.querySelector(".star[value]")?.getAttribute("value")?.replace(/^\S+ /, "") === label.name;
  if (isStar) add(document.querySelector(".side [data-count=star]"), isAdded ? ids.length : -ids.length);
  else count(label, isAdded ? ids.length : -ids.length);
  for (const id of ids) {
    const row = document.getElementById(`p-${id}`);
    if (isStar) showStar(row ?? document, isAdded);
    else if (row?.querySelector(".dots")) showDot(row, label, isAdded);
    else if (row) showTag(row, label, isAdded);
    const own = document.querySelector("#labels[data-post]");
    if (own instanceof HTMLElement && own.dataset.post === id) await showForms(own);
  }
}

/**
 * Changes the count of a label in the sidebar, which shows only labels with posts.
 * @param {Label} label
 * @param {number} step
 */
function count(label, step) {
  const own = document.querySelector(".side ul[data-labels]");
  const entries = [...(own?.querySelectorAll("li:has([data-count=label])") ?? [])];
  const entry = entries.find((each) => each.querySelector("bdi")?.textContent === label.name);
  const shown = entry?.querySelector("[data-count=label]");
  if (!shown) {
    const most = Number(own?.getAttribute("data-labels"));
    if (step > 0 && entries.length < most) own?.insertBefore(entryOf(label, step), placeOf(label, entries));
    return;
  }
  if (add(shown, step) <= 0) entry?.remove();
}

/**
 * @param {Element | null | undefined} shown a count
 * @param {number} step
 */
function add(shown, step) {
  const now = Math.max(0, parseInt((shown?.textContent ?? "0").replaceAll(",", ""), 10) + step);
  if (shown) shown.textContent = now.toLocaleString("en");
  return now;
}

/**
 * @param {ParentNode} place with the star of a post
 * @param {boolean} isOn
 */
function showStar(place, isOn) {
  const star = place.querySelector(".star");
  if (!(star instanceof HTMLButtonElement)) return;
  star.setAttribute("aria-pressed", String(isOn));
  star.name = isOn ? "unlabel" : "label";
}

/**
 * @param {Label} label
 * @param {Element[]} entries in the order of their names
 * @returns {Element | null} the entry that the label comes before
 */
function placeOf(label, entries) {
  const isAfter = (/** @type {Element} */ each) =>
    (each.querySelector("bdi")?.textContent ?? "").localeCompare(label.name) > 0;
  return entries.find(isAfter) ?? document.querySelector(".side ul[data-labels] > li:last-child");
}

/**
 * @param {Label} label
 * @param {number} posts
 */
function entryOf(label, posts) {
  const [entry, link, name, words, shown] = ["li", "a", "bdi", "span", "span"].map((each) => document.createElement(each));
  if (!entry || !link || !name || !words || !shown) throw new Error("unreachable");
  link.setAttribute("href", `${base}${label.url}`);
  name.textContent = label.name;
  words.className = "t";
  words.append(name);
  shown.className = "count";
  shown.dataset.count = "label";
  shown.textContent = posts.toLocaleString("en");
  link.append(dotOf(label), words, shown);
  entry.append(link);
  return entry;
}

/**
 * @param {Element} row
 * @param {Label} label
 * @param {boolean} isAdded
 */
function showTag(row, label, isAdded) {
  for (const tag of row.querySelectorAll(".tags .tag")) {
    if (tag.querySelector("bdi")?.textContent === label.name) tag.remove();
  }
  if (!isAdded) return;
  let tags = row.querySelector(".tags");
  if (!tags) {
    tags = document.createElement("div");
    tags.className = "tags";
    row.querySelector(".body")?.append(tags);
  }
  const tag = document.createElement("a");
  tag.className = "tag";
  tag.href = `${base}${label.url}`;
  const name = document.createElement("bdi");
  name.textContent = label.name;
  tag.append(dotOf(label), name);
  tags.append(tag);
}

/**
 * @param {Element} row
 * @param {Label} label
 * @param {boolean} isAdded
 */
function showDot(row, label, isAdded) {
  const dots = row.querySelector(".dots");
  for (const dot of dots?.querySelectorAll(".dot[title]") ?? []) {
    if (dot.getAttribute("title") !== label.name) continue;
    dot.nextElementSibling?.remove();
    dot.remove();
  }
  if (!isAdded) return;
  const dot = dotOf(label);
  dot.title = label.name;
  const name = document.createElement("span");
  name.className = "sr";
  name.textContent = label.name;
  dots?.append(dot, name);
}

/** @param {Label} label */
function dotOf(label) {
  const dot = document.createElement("span");
  dot.className = `dot ${label.colour}`;
  return dot;
}

/**
 * The page of a post has a form per label, which the server draws. Not by fetch: the policy of the
 * page forbids to parse text, but not to receive a document.
 * @param {HTMLElement} own
 * @returns {Promise<void>}
 */
function showForms(own) {
  return new Promise((resolve) => {
    const request = new XMLHttpRequest();
    request.open("GET", location.pathname);
    request.responseType = "document";
    request.onload = () => {
      const page = request.response instanceof Document ? request.response : null;
      const fresh = page?.querySelector("#labels .chips");
      const old = own.querySelector(".chips");
      own.querySelector(".suggest")?.remove();
      if (fresh && old) {
        const suggested = page?.querySelector("#labels .suggest");
        old.replaceWith(document.adoptNode(fresh), ...(suggested ? [document.adoptNode(suggested)] : []));
      }
      resolve();
    };
    request.onerror = () => resolve();
    request.send();
  });
}

document.addEventListener("library:labelled", (event) => {
  if (!(event instanceof CustomEvent)) return;
  const { ids, label, isAdded, resolve } = event.detail;
  show(ids, label, isAdded).then(resolve, resolve);
});
