// The browser lays out and paints only rows near the screen, so that a key answers at once in a long
// list. The others keep the height that they had, and nothing moves.
// @ts-check

const NEAR = "400px 0px";

const observer = new IntersectionObserver((entries) => {
  // Called after a row was laid out: by then the browser knows its height.
  for (const { target, isIntersecting } of entries) target.classList.toggle("far", !isIntersecting);
}, { rootMargin: NEAR });

/**
 * Lets the browser lay out a row once more, and then watches it.
 * @param {Element} row
 */
function watch(row) {
  observer.unobserve(row);
  row.classList.remove("far");
  observer.observe(row);
}

function watchAll() {
  observer.disconnect();
  for (const row of document.querySelectorAll(".posts li[id^='p-']")) watch(row);
}

let width = innerWidth;
watchAll();
addEventListener("resize", () => {
  // Texts break elsewhere, so every row has a new height. The bars of a phone change only its own.
  if (innerWidth === width) return;
  width = innerWidth;
  watchAll();
});
document.addEventListener("library:replaced", watchAll);
// A label may have added a line.
document.addEventListener("library:changed", (event) => {
  if (!(event instanceof CustomEvent)) return;
  for (const id of event.detail.ids) {
    const row = document.getElementById(`p-${id}`);
    if (row) watch(row);
  }
});
document.addEventListener("library:rows", (event) => {
  if (event instanceof CustomEvent) for (const row of event.detail.rows) watch(row);
});
