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
  count(label.name, isAdded ? ids.length : -ids.length);
  for (const id of ids) {
    const row = document.getElementById(`p-${id}`);
    if (row?.querySelector(".dots")) showDot(row, label, isAdded);
    else if (row) showTag(row, label, isAdded);
    const own = document.querySelector("#labels[data-post]");
    if (own instanceof HTMLElement && own.dataset.post === id) await showForms(own);
  }
}

/**
 * Changes the count of a label in the sidebar.
 * @param {string} name
 * @param {number} step
 */
function count(name, step) {
  for (const link of document.querySelectorAll(".side li a")) {
    const shown = link.querySelector("[data-count=label]");
    if (!shown || link.querySelector("bdi")?.textContent !== name) continue;
    const before = parseInt((shown.textContent ?? "").replaceAll(",", ""), 10);
    shown.textContent = Math.max(0, before + step).toLocaleString("en");
  }
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
      const fresh = request.response instanceof Document && request.response.querySelector("#labels .chips");
      const old = own.querySelector(".chips");
      if (fresh && old) old.replaceWith(document.adoptNode(fresh));
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
