// Selects posts of a list: counts them, selects ranges, and sends all of them in one field.
// Other modules select with the events library:pick, library:pick-all and library:pick-none.
// @ts-check

const all = document.querySelector(".picks .all input");
const form = document.querySelector("form#many");
const count = document.querySelector(".pickbar [data-count]");
/** The row that a range starts at. @type {Element | null} */
let anchor = null;

const boxes = () =>
  /** @type {HTMLInputElement[]} */ ([...document.querySelectorAll(".posts .pick input")]);

/** @param {Element | null | undefined} row */
const boxOf = (row) => {
  const box = row?.querySelector(".pick input");
  return box instanceof HTMLInputElement ? box : null;
};

const isAll = () => all instanceof HTMLInputElement && all.checked;

/** @param {string} name @param {string} value of a thread: its other posts */
const idsOf = (name, value) => [name.slice("p-".length), ...(value === "on" ? [] : value.split(" "))];

function show() {
  const picked = boxes().filter((box) => box.checked).flatMap((box) => idsOf(box.name, box.value)).length;
  const number = isAll() && all instanceof HTMLElement ? Number(all.dataset.total) : picked;
  document.body.classList.toggle("picking", number > 0);
  if (count) count.textContent = number.toLocaleString("en");
}

/** @param {boolean} isChecked */
function pickAll(isChecked) {
  if (all instanceof HTMLInputElement) all.checked = isChecked;
  for (const box of boxes()) box.checked = isChecked;
  anchor = null;
  show();
}

/**
 * Gives all posts from the anchor to a row the same state.
 * @param {Element} row
 * @param {boolean} isChecked
 */
function pickRange(row, isChecked) {
  const some = boxes();
  const ends = [boxOf(anchor), boxOf(row)].map((box) => (box ? some.indexOf(box) : -1));
  const [first, last] = [Math.min(...ends), Math.max(...ends)];
  if (first < 0) return;
  for (const box of some.slice(first, last + 1)) box.checked = isChecked;
}

/** @param {Element} row @param {boolean} isRange @param {boolean} isChecked */
function pick(row, isRange, isChecked) {
  if (isRange && anchor) pickRange(row, isChecked);
  const box = boxOf(row);
  if (box) box.checked = isChecked;
  anchor = row;
  // One post less is not all of them any more.
  if (!isChecked && all instanceof HTMLInputElement) all.checked = false;
  show();
}

document.addEventListener("click", (event) => {
  const target = event.target;
  if (!(target instanceof HTMLInputElement) || !target.matches(".posts .pick input")) return;
  const row = target.closest("li");
  if (row) pick(row, event.shiftKey, target.checked);
});

all?.addEventListener("change", () => pickAll(isAll()));

document.addEventListener("library:pick", (event) => {
  const row = event.target instanceof Element ? event.target.closest("li") : null;
  if (!row || !(event instanceof CustomEvent)) return;
  const isRange = event.detail?.how === "range";
  pick(row, isRange, isRange || !boxOf(row)?.checked);
});
document.addEventListener("library:pick-all", () => pickAll(true));
document.addEventListener("library:pick-none", () => pickAll(false));
document.addEventListener("library:rows", () => {
  // Posts that are loaded later match too.
  if (isAll()) pickAll(true);
});

// Rows may have left the list.
document.addEventListener("library:changed", show);

const clear = document.querySelector(".pickbar [data-clear]");
clear?.removeAttribute("hidden");
clear?.addEventListener("click", () => pickAll(false));

document.querySelector(".pickbar [data-label]")?.addEventListener("click", (event) => {
  const opened = event.target instanceof Element ? event.target.closest("details") : null;
  if (opened?.open) return;
  const asked = new CustomEvent("library:label", { bubbles: true, cancelable: true });
  // Another module shows a better way to choose a label, if there is one.
  if (!document.dispatchEvent(asked)) event.preventDefault();
});

form?.addEventListener("formdata", (event) => {
  if (!(event instanceof FormDataEvent)) return;
  const data = event.formData;
  const picked = [...data].filter(([name]) => name.startsWith("p-"));
  for (const [name] of picked) data.delete(name);
  // A form can have 120 fields, but a selection may have more posts.
  if (!isAll()) data.set("posts", picked.flatMap(([name, value]) => idsOf(name, String(value))).join(" "));
});

// A browser that comes back may restore the checkboxes.
window.addEventListener("pageshow", show);
show();
