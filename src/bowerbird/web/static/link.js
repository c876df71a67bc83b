// Moves the token of a one-time link from the fragment of the URL into the form.
// @ts-check

const form = document.querySelector("form[data-link]");
const field = form?.querySelector("input[name=token]");
const button = form?.querySelector("button");
const token = location.hash.slice(1);

if (field instanceof HTMLInputElement && field.value) {
  // The server has the token and asks for more.
} else if (token && field instanceof HTMLInputElement && button) {
  field.value = token;
  button.disabled = false;
  // Neither the history nor the page after the form keeps the token.
  history.replaceState(null, "", location.pathname + location.search);
} else {
  form?.setAttribute("hidden", "");
  document.querySelector("[data-without-token]")?.removeAttribute("hidden");
}
