// Shows the question of a `details` element as a dialog. Without it the element opens in place.
// @ts-check

/** @param {HTMLDetailsElement} details */
function showAsDialog(details) {
  const summary = details.querySelector("summary");
  const form = details.querySelector("form");
  const question = form?.querySelector("strong");
  const row = form?.querySelector(".row");
  if (!summary || !form || !question || !row) return;
  const dialog = document.createElement("dialog");
  dialog.className = "ask";
  dialog.setAttribute("aria-label", question.textContent ?? "");
  const cancel = document.createElement("button");
  cancel.type = "button";
  cancel.className = "btn";
  cancel.textContent = "Cancel";
  cancel.addEventListener("click", () => dialog.close());
  row.append(cancel);
  form.classList.remove("confirm");
  form.classList.add("stack");
  dialog.append(form);
  details.after(dialog);
  summary.setAttribute("aria-haspopup", "dialog");
  const text = form.querySelector("input:not([type=hidden])");
  summary.addEventListener("click", (event) => {
    event.preventDefault();
    dialog.showModal();
    if (text instanceof HTMLInputElement) text.select();
    else cancel.focus();
  });
  dialog.addEventListener("close", () => summary.focus());
  // Somebody was faster than this script.
  if (details.open) {
    details.open = false;
    summary.click();
  }
}

for (const details of document.querySelectorAll("details[data-confirm]")) {
  if (details instanceof HTMLDetailsElement) showAsDialog(details);
}
