// Shows messages: lets people dismiss them, and removes each after ten seconds unless it is being
// read. Other scripts show one with the event `library:say`. The change of a message that is gone
// can be undone with `library:undo` until the next message.
// @ts-check

const SHOWN_MILLISECONDS = 10_000;
const CROSS = "M5.25 5.25l9.5 9.5M14.75 5.25l-9.5 9.5";
const SVG = "http://www.w3.org/2000/svg";

/**
 * @typedef {object} Message
 * @property {string} text
 * @property {{ name: string, value: string, form?: string, action?: string }} [undo] the button that undoes it, of the form `change` or another one, and where it sends the form if not to its own address
 * @property {() => void} [retry] the text says what failed; this tries again
 */

/** @type {Element | null} the button of the last message, which has left the page */
let leftUndo = null;

/** @param {Element | null} message */
function leave(message) {
  leftUndo = message?.querySelector("[data-undo]") ?? null;
  message?.remove();
}

/** @param {Element} toast */
function leaveLater(toast) {
  const removeUnlessRead = () => {
    if (toast.matches(":hover, :focus-within")) setTimeout(removeUnlessRead, SHOWN_MILLISECONDS);
    else if (toast.isConnected) leave(toast);
  };
  setTimeout(removeUnlessRead, SHOWN_MILLISECONDS);
}

/** @returns {Element} the place of messages */
function dock() {
  const found = document.querySelector(".dock[aria-label='Messages']");
  if (found) return found;
  const made = document.createElement("div");
  made.className = "dock";
  made.setAttribute("role", "region");
  made.setAttribute("aria-label", "Messages");
  document.body.append(made);
  return made;
}

/**
 * @param {string} className
 * @param {string} text
 */
function button(className, text) {
  const made = document.createElement("button");
  made.className = className;
  made.type = "button";
  made.textContent = text;
  return made;
}

/** @returns {HTMLButtonElement} */
function closeButton() {
  const made = button("ib", "");
  made.dataset.close = "";
  const icon = document.createElementNS(SVG, "svg");
  icon.setAttribute("class", "icon s");
  icon.setAttribute("viewBox", "0 0 20 20");
  icon.setAttribute("aria-hidden", "true");
  const path = document.createElementNS(SVG, "path");
  path.setAttribute("d", CROSS);
  icon.append(path);
  const name = document.createElement("span");
  name.className = "sr";
  name.textContent = "Dismiss";
  made.append(icon, name);
  return made;
}

/** @param {Message} message */
function show(message) {
  leftUndo = null;
  const shown = document.createElement("div");
  const text = document.createElement("span");
  shown.append(text);
  if (message.retry) {
    shown.className = "note bad";
    shown.setAttribute("role", "alert");
    const again = button("btn slim", "Try again");
    again.addEventListener("click", () => { shown.remove(); message.retry?.(); });
    shown.append(again);
  } else {
    shown.className = "toast";
    shown.setAttribute("role", "status");
    if (message.undo) {
      const undo = button("btn", "Undo");
      undo.type = "submit";
      undo.dataset.undo = "";
      undo.name = message.undo.name;
      undo.value = message.undo.value;
      undo.setAttribute("form", message.undo.form ?? "change");
      if (message.undo.action) undo.formAction = message.undo.action;
      shown.append(undo);
    }
    leaveLater(shown);
  }
  shown.append(closeButton());
  const place = dock();
  for (const old of place.querySelectorAll(".toast")) old.remove();
  place.prepend(shown);
  // Screen readers announce a text that changes in a place they know.
  requestAnimationFrame(() => { text.textContent = message.text; });
}

document.addEventListener("library:say", (event) => {
  if (event instanceof CustomEvent) show(event.detail);
});
document.addEventListener("click", (event) => {
  if (event.target instanceof Element && event.target.closest("[data-close]")) {
    leave(event.target.closest(".toast, .note"));
  }
});
document.addEventListener("library:undo", () => {
  const button = leftUndo;
  leftUndo = null;
  if (!(button instanceof HTMLElement)) return;
  // A button outside the page belongs to no form.
  button.hidden = true;
  document.body.append(button);
  button.click();
  button.remove();
});
for (const toast of document.querySelectorAll(".toast")) {
  toast.querySelector("[data-close]")?.removeAttribute("hidden");
  leaveLater(toast);
}
