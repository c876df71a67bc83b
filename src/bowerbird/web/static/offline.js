// Registers the page that browsers show when the server does not answer. Removes drafts of notes from
// the browser at sign-out.
// @ts-check
"use strict";

const address = new URL("../offline-worker.js", import.meta.url).href;
/** @type {any} */
const types = Reflect.get(globalThis, "trustedTypes");
// The policy of the page allows no other address.
const policy = types?.createPolicy("offline", { createScriptURL: () => address });

// Browsers offer it on https and on localhost only, and may refuse it in private windows.
navigator.serviceWorker?.register(policy ? policy.createScriptURL("") : address).catch(() => {});

document.querySelector("form[action$='/sign-out']")?.addEventListener("submit", () => {
  try {
    for (const key of Object.keys(localStorage)) if (/^(note |reading-places$)/.test(key)) localStorage.removeItem(key);
  } catch { /* Private windows refuse it. */ }
});
