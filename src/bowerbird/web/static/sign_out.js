// Removes the drafts of notes when somebody signs out, see reading.js.
// @ts-check

document.querySelector("form[action$='/sign-out']")?.addEventListener("submit", () => {
  try {
    for (const key of Object.keys(localStorage)) if (key.startsWith("note ")) localStorage.removeItem(key);
  } catch { /* Private windows refuse it. */ }
});
