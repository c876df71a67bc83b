// Asks the browser for a passkey and sends the answer with the form: signing in, and registering one.
// @ts-check

/**
 * Sends the fields of the form and returns the options of the ceremony.
 * @param {HTMLFormElement} form
 * @returns {Promise<any>}
 */
async function options(form) {
  const response = await fetch(form.dataset.options ?? "", {
    method: "POST",
    headers: { Accept: "application/json" },
    body: new URLSearchParams([...new FormData(form)].map(([name, value]) => [name, String(value)])),
    credentials: "same-origin",
    cache: "no-store",
  });
  const answer = await response.json().catch(() => ({}));
  if (answer.go) location.assign(answer.go);
  if (!response.ok) throw new Error(answer.error ?? "The service did not answer. Try again.");
  return answer.publicKey ?? answer;
}

/**
 * @param {HTMLFormElement} form
 * @returns {Promise<Credential | null>}
 */
async function credential(form) {
  const wanted = await options(form);
  if (form.dataset.passkey === "register") {
    const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(wanted);
    return navigator.credentials.create({ publicKey });
  }
  const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(wanted);
  return navigator.credentials.get({ publicKey });
}

/**
 * @param {unknown} error
 * @returns {string} a sentence for people
 */
function sentence(error) {
  if (!(error instanceof Error)) return "The passkey could not be used.";
  if (error.name === "NotAllowedError") return "The browser used no passkey: it was cancelled, or it took too long.";
  if (error.name === "InvalidStateError") return "This device already has a passkey for the account.";
  if (error.name === "SecurityError") return "Passkeys do not work at this address.";
  return error.message;
}

/** @param {HTMLFormElement} form */
function enable(form) {
  const button = form.querySelector("button");
  const problem = form.querySelector("[role=alert]");
  const field = form.querySelector("input[name=credential]");
  if (!button || !problem || !(field instanceof HTMLInputElement)) return;
  button.hidden = false;
  // A page that the browser restores must not send its old passkey again.
  window.addEventListener("pageshow", () => { field.value = ""; });
  form.addEventListener("submit", async (event) => {
    if (field.value) return;
    event.preventDefault();
    // A disabled button would lose the keyboard focus.
    if (form.getAttribute("aria-busy") === "true") return;
    form.setAttribute("aria-busy", "true");
    problem.setAttribute("hidden", "");
    try {
      const created = await credential(form);
      if (!(created instanceof PublicKeyCredential)) throw new Error("The browser returned no passkey.");
      field.value = JSON.stringify(created.toJSON());
      form.submit();
    } catch (error) {
      problem.textContent = sentence(error);
      problem.removeAttribute("hidden");
    } finally {
      form.removeAttribute("aria-busy");
    }
  });
}

const isSupported = "PublicKeyCredential" in window && "parseCreationOptionsFromJSON" in PublicKeyCredential;
for (const form of document.querySelectorAll("form[data-passkey]")) {
  if (!(form instanceof HTMLFormElement)) continue;
  if (isSupported) enable(form);
  else form.querySelector("[data-unsupported]")?.removeAttribute("hidden");
}
