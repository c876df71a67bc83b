// Sends the requests of the API reference to the sandbox and shows the responses.
// @ts-check

/** @typedef {HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement} Control */

const SHOWN_HEADERS = ["content-type", "location", "retry-after", "etag", "www-authenticate",
  "idempotency-replayed", "x-service-environment", "deprecation", "sunset", "link", "x-request-id"];
const MAX_SHOWN_CHARACTERS = 60000;
const TOKENS = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g;

/**
 * @param {string} name
 * @param {string} className
 * @param {string} text
 */
function element(name, className, text) {
  const created = document.createElement(name);
  created.className = className;
  created.textContent = text;
  return created;
}

/**
 * Works on the text instead of parsing it: JavaScript numbers would lose digits of large integers.
 * @param {string} text
 */
function indented(text) {
  const code = document.createElement("code");
  const tokens = text.match(TOKENS) ?? [];
  let depth = 0;
  tokens.forEach((token, index) => {
    const next = tokens[index + 1];
    const newLine = () => code.append("\n" + "  ".repeat(depth));
    if (token === "}" || token === "]") {
      depth -= 1;
      if (tokens[index - 1] !== "{" && tokens[index - 1] !== "[") newLine();
      code.append(token);
    } else if (token === "{" || token === "[") {
      code.append(token);
      depth += 1;
      if (next !== "}" && next !== "]") newLine();
    } else if (token === ",") {
      code.append(token);
      newLine();
    } else if (token === ":") {
      code.append(": ");
    } else {
      const kind = token[0] !== "\"" ? "t-value" : next === ":" ? "t-name" : "t-text";
      code.append(element("span", kind, token));
    }
  });
  return code;
}

/**
 * @param {HTMLFormElement} form
 * @param {string} location
 * @returns {Control[]}
 */
function filledControls(form, location) {
  /** @type {NodeListOf<Control>} */
  const controls = form.querySelectorAll(`[data-location="${location}"]`);
  return [...controls].filter((control) => control.value !== "");
}

/**
 * @param {HTMLFormElement} form
 * @param {string} name
 */
function pathValue(form, name) {
  const control = form.elements.namedItem(name);
  return control && "value" in control ? control.value : "";
}

/**
 * @param {HTMLFormElement} form
 * @returns {[string, RequestInit]}
 */
function request(form) {
  const { base = "", path = "", method = "GET" } = form.dataset;
  const filled = path.replace(/\{(\w+)\}/g, (_, name) => encodeURIComponent(pathValue(form, name)));
  const query = new URLSearchParams(filledControls(form, "query").map((control) => [control.name, control.value]));
  const headers = new Headers();
  for (const control of filledControls(form, "error")) headers.set("X-Service-Sandbox-Error", control.value);
  const [body] = filledControls(form, "body");
  if (body) headers.set("Content-Type", "application/json");
  const url = base + filled + (query.size ? `?${query}` : "");
  return [url, { method, headers, body: body?.value ?? null, credentials: "omit", cache: "no-store" }];
}

/**
 * @param {Response} response
 * @param {string} text
 * @param {number} milliseconds
 */
function rendered(response, text, milliseconds) {
  const status = element("p", response.ok ? "outcome good" : "outcome bad", `${response.status} ${response.statusText}`);
  status.append(element("span", "duration", ` ${milliseconds} ms`));
  const list = document.createElement("dl");
  for (const name of SHOWN_HEADERS) {
    const value = response.headers.get(name);
    if (value !== null) list.append(element("dt", "", name), element("dd", "", value));
  }
  const pre = document.createElement("pre");
  pre.tabIndex = 0;
  pre.setAttribute("role", "group");
  pre.setAttribute("aria-label", "Response body");
  const isJson = (response.headers.get("content-type") ?? "").includes("json");
  pre.append(isJson && text.length <= MAX_SHOWN_CHARACTERS ? indented(text) : element("code", "", text.slice(0, MAX_SHOWN_CHARACTERS)));
  return [status, list, pre];
}

/** @param {HTMLFormElement} form */
async function send(form) {
  const result = form.querySelector(".result");
  const [url, options] = request(form);
  // A disabled button would lose the keyboard focus.
  if (form.getAttribute("aria-busy") === "true") return;
  form.setAttribute("aria-busy", "true");
  const started = performance.now();
  try {
    const response = await fetch(url, options);
    const text = await response.text();
    result?.replaceChildren(...rendered(response, text, Math.round(performance.now() - started)));
  } catch {
    result?.replaceChildren(element("p", "outcome bad", `No response from ${url}. Is the service running?`));
  } finally {
    form.removeAttribute("aria-busy");
  }
}

/** @type {NodeListOf<HTMLFormElement>} */
const forms = document.querySelectorAll("form[data-path]");
for (const form of forms) {
  const requestLine = form.querySelector(".request-line");
  const showRequestLine = () => {
    const url = new URL(request(form)[0]);
    if (requestLine) requestLine.textContent = `${form.dataset.method} ${url.pathname}${url.search}`;
  };
  form.addEventListener("input", showRequestLine);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    void send(form);
  });
  showRequestLine();
  form.closest("details")?.removeAttribute("hidden");
}
