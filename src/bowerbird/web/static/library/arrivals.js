// Shows images as they arrive. An image in view waits until its place is out of sight or its line is
// pressed, so that no text moves under the eyes.
// @ts-check

const LINES = ".absent[data-image]";
const FIRST_MILLISECONDS = 3_000;
const SLOWEST_MILLISECONDS = 30_000;
const SLOWER = 1.25;
const MOST = 60;

/** @typedef {{ src: string, width: number, height: number }} Kept */

/** @type {WeakMap<Element, Kept>} */
const arrived = new WeakMap();
const sight = new IntersectionObserver((entries) => {
  for (const entry of entries) {
    const image = arrived.get(entry.target);
    if (image && !entry.isIntersecting && entry.target instanceof HTMLElement) put(entry.target, image);
  }
});

/** @param {HTMLElement} line */
function block(line) {
  const before = line.parentElement?.querySelector(":scope > .media");
  if (before instanceof HTMLElement) return before;
  const made = document.createElement("div");
  made.className = "media";
  const first = line.parentElement?.querySelector(":scope > .absent") ?? line;
  first.before(made);
  return made;
}

/** @param {HTMLElement} line @param {Kept} image */
function put(line, image) {
  sight.unobserve(line);
  const page = line.closest("li[id^='p-']")?.querySelector("a.when");
  const link = document.createElement("a");
  const shown = document.createElement("img");
  shown.width = image.width;
  shown.height = image.height;
  shown.alt = line.dataset.alt ?? "";
  shown.decoding = "async";
  shown.loading = "lazy";
  shown.src = image.src;
  link.append(shown);
  const moving = line.dataset.moving;
  if (page instanceof HTMLAnchorElement) link.href = page.href;
  else if (moving === undefined) {
    link.href = image.src;
    link.dataset.view = "";
  } else {
    link.href = line.querySelector("a")?.href ?? image.src;
    link.rel = "noreferrer";
  }
  const icon = line.querySelector("svg");
  if (moving !== undefined && icon) {
    const go = document.createElement("span");
    go.className = "go";
    go.append(icon);
    const badge = document.createElement("b");
    badge.className = "badge";
    badge.textContent = moving;
    link.append(go, badge);
  }
  const face = line.closest(".face");
  if (face) return face.replaceChildren(...link.children);
  const into = block(line);
  into.append(link);
  const count = into.childElementCount;
  into.className = `media m${Math.min(count, 4)}${count === 1 && image.height > image.width ? " tall" : ""}`;
  line.remove();
}

/** @param {HTMLElement} line @param {Kept} image */
function offer(line, image) {
  line.removeAttribute("data-image");
  // A cell of the grid has kept its place.
  if (line.closest(".face")) return put(line, image);
  arrived.set(line, image);
  const box = line.getBoundingClientRect();
  if (box.top >= innerHeight || box.bottom <= 0) return put(line, image);
  const show = document.createElement("button");
  show.type = "button";
  show.textContent = "Show";
  show.addEventListener("click", () => put(line, image));
  line.append(show);
  sight.observe(line);
}

/** Asks for the images that the page still waits for; returns whether one has come. */
async function look() {
  /** @type {HTMLElement[]} */
  const lines = [...document.querySelectorAll(LINES)].filter((each) => each instanceof HTMLElement).slice(0, MOST);
  const path = document.querySelector("[data-arrivals]")?.getAttribute("data-arrivals");
  if (!lines.length || !path) return false;
  const keys = lines.map((line) => line.dataset.image).join(",");
  const answer = await fetch(`${path}?keys=${keys}`, { cache: "no-store" });
  if (!answer.ok) return false;
  /** @type {{ images: Record<string, Kept> }} */
  const { images } = await answer.json();
  let has = false;
  for (const line of lines) {
    const image = images[line.dataset.image ?? ""];
    if (image) offer(line, image);
    has ||= Boolean(image);
  }
  return has;
}

let pause = FIRST_MILLISECONDS;
function later() {
  setTimeout(async () => {
    // A server that does not answer may answer the next time.
    const has = document.hidden ? false : await look().catch(() => false);
    pause = has ? FIRST_MILLISECONDS : Math.min(pause * SLOWER, SLOWEST_MILLISECONDS);
    later();
  }, pause);
}
if (document.querySelector("[data-arrivals]")) later();
