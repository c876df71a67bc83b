// Shows what a Smart View finds while its form is being filled in. Without it the button "Show" does.
// @ts-check

const WAIT_MILLISECONDS = 400;
const SHOWN = ["count", "posts"];

/** @type {XMLHttpRequest | undefined} */
let running;

/** @param {HTMLFormElement} form @param {Element} preview */
function show(form, preview) {
  running?.abort();
  const fields = new URLSearchParams();
  for (const [name, value] of new FormData(form)) fields.append(name, String(value));
  fields.set("do", "show");
  // The browser parses the page itself: the policy of the site lets no script make markup of a text.
  const asked = new XMLHttpRequest();
  running = asked;
  asked.open("POST", form.action);
  asked.responseType = "document";
  asked.onload = () => {
    for (const name of SHOWN) {
      const found = asked.responseXML?.querySelector(`[data-shows="${name}"]`);
      if (found) preview.querySelector(`[data-shows="${name}"]`)?.replaceChildren(...found.childNodes);
    }
  };
  asked.onloadend = () => {
    if (running === asked) preview.removeAttribute("aria-busy");
  };
  preview.setAttribute("aria-busy", "true");
  asked.send(fields);
}

const form = document.querySelector("form[data-preview]");
const preview = document.querySelector(".preview");
if (form instanceof HTMLFormElement && preview) {
  let timer = 0;
  form.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(() => show(form, preview), WAIT_MILLISECONDS);
  });
}
