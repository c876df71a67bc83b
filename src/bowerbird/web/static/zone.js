// Tells the server the time zone of this browser, once, if the account has none. Pages that are shown
// from then on have its times.
// @ts-check

const form = document.querySelector("form[data-zone]");
const field = form?.querySelector("[name=time_zone]");
if (form instanceof HTMLFormElement && field instanceof HTMLInputElement) {
  field.value = Intl.DateTimeFormat().resolvedOptions().timeZone;
  const body = new URLSearchParams([...new FormData(form)].map(([name, value]) => [name, String(value)]));
  // A page that is left at once tells it the next time. An answer that nobody reads stays open.
  fetch(form.action, { method: "POST", headers: { Accept: "application/json" }, body })
    .then((answer) => answer.text())
    .catch(() => undefined);
}
