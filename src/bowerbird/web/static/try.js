// Sends the requests of the reference to the sandbox and shows what comes back.
"use strict";

const SHOWN_HEADERS = ["content-type", "location", "retry-after", "etag", "www-authenticate",
  "idempotency-replayed", "x-service-environment", "deprecation", "sunset", "link", "x-request-id"];
const LONGEST = 60000;
const TOKENS = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g;

function element(name, className, text) {
  const made = document.createElement(name);
  made.className = className;
  made.textContent = text;
  return made;
}

// Indents the text as it came: reading it into numbers would lose digits of the large ones.
function indented(text) {
  const made = document.createElement("code");
  const tokens = text.match(TOKENS) || [];
  let depth = 0;
  tokens.forEach((token, index) => {
    const next = tokens[index + 1];
    const line = () => made.append("\n" + "  ".repeat(depth));
    if (token === "}" || token === "]") {
      depth -= 1;
      if (tokens[index - 1] !== "{" && tokens[index - 1] !== "[") line();
      made.append(token);
    } else if (token === "{" || token === "[") {
      made.append(token);
      depth += 1;
      if (next !== "}" && next !== "]") line();
    } else if (token === ",") {
      made.append(token);
      line();
    } else if (token === ":") {
      made.append(": ");
    } else {
      const kind = token[0] !== "\"" ? "t-value" : next === ":" ? "t-name" : "t-text";
      made.append(element("span", kind, token));
    }
  });
  return made;
}

function values(form, place) {
  return [...form.querySelectorAll(`[data-place="${place}"]`)].filter((control) => control.value !== "");
}

function request(form) {
  const path = form.dataset.path.replace(/\{(\w+)\}/g, (_, name) =>
    encodeURIComponent(form.elements.namedItem(name).value));
  const query = new URLSearchParams(values(form, "query").map((control) => [control.name, control.value]));
  const headers = {};
  for (const control of values(form, "error")) headers["X-Service-Sandbox-Error"] = control.value;
  const [body] = values(form, "body");
  if (body) headers["Content-Type"] = "application/json";
  const address = form.dataset.base + path + (query.size ? "?" + query : "");
  return [address, { method: form.dataset.method, headers, body: body && body.value, credentials: "omit", cache: "no-store" }];
}

function shown(response, text, took) {
  const status = element("p", response.ok ? "outcome good" : "outcome bad", `${response.status} ${response.statusText}`);
  status.append(element("span", "took", ` ${took} ms`));
  const list = document.createElement("dl");
  for (const name of SHOWN_HEADERS) {
    if (!response.headers.has(name)) continue;
    list.append(element("dt", "", name), element("dd", "", response.headers.get(name)));
  }
  const pre = document.createElement("pre");
  pre.tabIndex = 0;
  pre.setAttribute("role", "group");
  pre.setAttribute("aria-label", "Body of the answer");
  const isJson = (response.headers.get("content-type") || "").includes("json");
  pre.append(isJson && text.length <= LONGEST ? indented(text) : element("code", "", text.slice(0, LONGEST)));
  return [status, list, pre];
}

async function send(form) {
  const came = form.querySelector(".came");
  const [address, options] = request(form);
  // Not a disabled button: that would take the focus away from whoever pressed it.
  if (form.getAttribute("aria-busy") === "true") return;
  form.setAttribute("aria-busy", "true");
  const started = performance.now();
  try {
    const response = await fetch(address, options);
    const text = await response.text();
    came.replaceChildren(...shown(response, text, Math.round(performance.now() - started)));
  } catch {
    came.replaceChildren(element("p", "outcome bad", `Nothing came back from ${address}. Is the service running there?`));
  } finally {
    form.removeAttribute("aria-busy");
  }
}

for (const form of document.querySelectorAll("form[data-path]")) {
  const line = form.querySelector(".line");
  const tell = () => {
    const address = new URL(request(form)[0]);
    line.textContent = `${form.dataset.method} ${address.pathname}${address.search}`;
  };
  form.addEventListener("input", tell);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    send(form);
  });
  tell();
  form.closest("details").hidden = false;
}
