// The panels of filters: how many posts each option finds, and names like the one that is typed.
// Without it, they have the same links without numbers.
// @ts-check

const PAUSE_MILLISECONDS = 150;
const COUNTED = ["type", "author", "label", "language", "network"];
let paused = 0;
/** @type {XMLHttpRequest | null} */
let asking = null;

/**
 * Asks for a panel. Not by fetch: the policy of the page forbids to parse text, but not to receive
 * a document.
 * @param {HTMLDetailsElement} pop
 * @param {string} text a name that is typed, or ""
 */
function ask(pop, text) {
  const [path = "", query = ""] = (pop.closest("[data-panels]")?.getAttribute("data-panels") ?? "").split("?");
  const kind = pop.dataset.kind ?? "";
  asking?.abort();
  if (!path || !COUNTED.includes(kind)) return;
  const sent = new URLSearchParams(query);
  if (text) sent.set("text", text);
  const request = new XMLHttpRequest();
  asking = request;
  request.open("GET", `${path}/${kind}?${sent}`);
  request.responseType = "document";
  request.onload = () => {
    const theirs = request.response instanceof Document ? request.response.querySelector(".panel") : null;
    const own = pop.querySelector(".panel");
    if (request.status !== 200 || !theirs || !own) return;
    // The field stays, with what is typed meanwhile, and the focus stays in its place.
    const at = [...own.querySelectorAll(".picklist a")].indexOf(document.activeElement ?? own);
    for (const old of own.querySelectorAll(".picklist, .none")) old.remove();
    own.append(...[...theirs.querySelectorAll(".picklist, .none")].map((each) => document.adoptNode(each)));
    const place = at < 0 ? null : own.querySelectorAll(".picklist a")[at];
    if (place instanceof HTMLElement) place.focus();
  };
  request.send();
}

/** @param {HTMLDetailsElement} pop */
function open(pop) {
  const panel = pop.querySelector(".panel");
  pop.classList.toggle("at-end", (panel?.getBoundingClientRect().right ?? 0) > document.documentElement.clientWidth);
  ask(pop, "");
  const field = pop.querySelector("input[type=search]");
  // A phone would cover the panel with its keyboard.
  if (field instanceof HTMLElement && matchMedia("(pointer: fine)").matches) field.focus();
}

/**
 * @param {Element} panel
 * @param {number} step
 */
function move(panel, step) {
  const places = [...panel.querySelectorAll("input[type=search], .picklist a")];
  const at = places.indexOf(document.activeElement ?? panel);
  const next = places[Math.max(0, Math.min(places.length - 1, at + step))];
  if (next instanceof HTMLElement) next.focus();
}

const first = document.querySelector("details.pop[open]");
if (first instanceof HTMLDetailsElement) open(first);

document.addEventListener("toggle", (event) => {
  if (event.target instanceof HTMLDetailsElement && event.target.matches(".pop[open]")) open(event.target);
}, true);

document.addEventListener("input", (event) => {
  const field = event.target;
  if (!(field instanceof HTMLInputElement) || field.type !== "search") return;
  const pop = field.closest("details.pop");
  if (!(pop instanceof HTMLDetailsElement)) return;
  clearTimeout(paused);
  paused = setTimeout(() => ask(pop, field.value.trim()), PAUSE_MILLISECONDS);
});

document.addEventListener("keydown", (event) => {
  const pop = event.target instanceof Element ? event.target.closest("details.pop[open]") : null;
  if (!pop || (event.key !== "ArrowDown" && event.key !== "ArrowUp")) return;
  const isDate = event.target instanceof HTMLInputElement && event.target.type === "date";
  if (isDate) return;
  event.preventDefault();
  move(pop, event.key === "ArrowDown" ? 1 : -1);
});
