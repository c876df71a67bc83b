// Shows what a Smart View finds while its form is being filled in. Without it the button "Show" does.
// @ts-check

const WAIT_MILLISECONDS = 400;
const SHOWN = ["count", "posts"];

/** @type {AbortController | undefined} */
let running;

/** @param {HTMLFormElement} form @param {Element} preview */
async function show(form, preview) {
  running?.abort();
  const asking = new AbortController();
  running = asking;
  const fields = new URLSearchParams();
  for (const [name, value] of new FormData(form)) fields.append(name, String(value));
  fields.set("do", "show");
  preview.setAttribute("aria-busy", "true");
  try {
    const answer = await fetch(form.action, { method: "POST", body: fields, signal: asking.signal });
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    for (const name of SHOWN) {
      const found = page.querySelector(`[data-shows="${name}"]`);
      if (found) preview.querySelector(`[data-shows="${name}"]`)?.replaceChildren(...found.childNodes);
    }
  } finally {
    if (running === asking) preview.removeAttribute("aria-busy");
  }
}

const form = document.querySelector("form[data-preview]");
const preview = document.querySelector(".preview");
if (form instanceof HTMLFormElement && preview) {
  let timer = 0;
  form.addEventListener("input", () => {
    clearTimeout(timer);
    // A server that does not answer may answer after the next change.
    timer = setTimeout(() => show(form, preview).catch(() => undefined), WAIT_MILLISECONDS);
  });
}
