// Shows the images of a post large, one at a time, and plays its kept videos. Without it, each link
// opens its file.
// @ts-check

const LINKS = "a[data-view]";
/** @type {HTMLDialogElement | undefined} */
let dialog;
/** @type {HTMLAnchorElement[]} */
let links = [];
let place = 0;

/**
 * @param {string} name
 * @param {string} sign
 * @param {() => void} act
 */
function button(name, sign, act) {
  const made = document.createElement("button");
  made.type = "button";
  made.className = "ib";
  made.title = name;
  made.setAttribute("aria-label", name);
  made.textContent = sign;
  made.addEventListener("click", act);
  return made;
}

/** @param {HTMLAnchorElement} link @param {HTMLImageElement | null} small @param {string} alt */
function still(link, small, alt) {
  const made = document.createElement("img");
  made.alt = alt;
  made.setAttribute("width", small?.getAttribute("width") ?? "");
  made.setAttribute("height", small?.getAttribute("height") ?? "");
  made.src = link.href;
  return made;
}

/** @param {HTMLAnchorElement} link @param {HTMLImageElement | null} poster @param {string} alt */
function playing(link, poster, alt) {
  const made = document.createElement("video");
  made.controls = true;
  made.playsInline = true;
  made.setAttribute("aria-label", alt);
  if (poster) made.poster = poster.src;
  // An animation is a silent video that begins again.
  made.loop = made.muted = link.dataset.view === "Animation";
  made.autoplay = true;
  made.src = link.href;
  return made;
}

/** @param {number} by */
function step(by) {
  place = (place + by + links.length) % links.length;
  const link = links[place];
  const caption = dialog?.querySelector("figcaption");
  if (!caption || !link) return;
  const small = link.querySelector("img");
  const alt = small?.alt ?? link.dataset.view ?? "";
  caption.previousElementSibling?.remove();
  caption.before(link.dataset.view ? playing(link, small, alt) : still(link, small, alt));
  caption.textContent = links.length > 1 ? `${place + 1} of ${links.length}. ${alt}` : alt;
}

function made() {
  const found = document.createElement("dialog");
  found.className = "viewer";
  found.setAttribute("aria-label", "Image");
  const figure = document.createElement("figure");
  const caption = document.createElement("figcaption");
  caption.dir = "auto";
  caption.setAttribute("aria-live", "polite");
  figure.append(caption);
  const row = document.createElement("div");
  row.className = "row";
  if (links.length > 1) {
    row.append(button("Previous image", "←", () => step(-1)), button("Next image", "→", () => step(1)));
  }
  row.append(button("Close", "×", () => found.close()));
  found.append(row, figure);
  found.addEventListener("keydown", (event) => {
    // A player has uses of its own for the arrows.
    const isPlayer = event.target instanceof HTMLVideoElement;
    const by = isPlayer ? 0 : { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (by && links.length > 1) step(by);
    // The keys of the page rest.
    event.stopPropagation();
  });
  found.addEventListener("click", (event) => {
    if (event.target === found || event.target === figure) found.close();
  });
  found.addEventListener("close", () => {
    found.remove();
    links[place]?.focus();
  });
  return found;
}

document.addEventListener("click", (event) => {
  const pressed = event.target instanceof Element ? event.target.closest(LINKS) : null;
  const isPlain = !(event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) && event.button === 0;
  if (!(pressed instanceof HTMLAnchorElement) || !isPlain) return;
  event.preventDefault();
  links = [...document.querySelectorAll(LINKS)].filter((each) => each instanceof HTMLAnchorElement);
  place = links.indexOf(pressed);
  dialog = made();
  document.body.append(dialog);
  step(0);
  dialog.showModal();
});
