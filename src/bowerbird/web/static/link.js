// Moves the token of a one-time link from the fragment of the URL into the form.
// @ts-check

const form = document.querySelector("form[data-link]");
const field = form?.querySelector("input[name=token]");
const button = form?.querySelector("button");
const token = location.hash.slice(1);

// The page may be the answer to a form: going back to it must not ask to send that again. A page
// that has a form keeps the token until that is sent.
const forget = () => history.replaceState(history.state, "");
if (document.querySelector("form")) document.addEventListener("submit", forget);
else forget();

if (field instanceof HTMLInputElement && field.value) {
  // The server has the token and asks for more.
} else if (token && field instanceof HTMLInputElement && button) {
  field.value = token;
  button.disabled = false;
  // Neither the history nor the page after the form keeps the token.
  history.replaceState(null, "", location.pathname + location.search);
} else if (form instanceof HTMLFormElement && form.dataset.entered) {
  // Somebody comes back who has signed in with the link.
  location.replace(form.dataset.entered);
} else {
  form?.setAttribute("hidden", "");
  document.querySelector("[data-without-token]")?.removeAttribute("hidden");
}
