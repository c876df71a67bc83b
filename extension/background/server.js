// Requests to the library. Nothing else of the extension uses the network.
// @ts-check

const TIMEOUT_MS = 60_000;

let hold = new AbortController();

/** Ends the requests with a token that are on their way, and lets none begin until they are released. */
export function holdRequests() {
  hold.abort();
}

export function releaseRequests() {
  hold = new AbortController();
}

/** An answer of the library other than success. */
export class Refused extends Error {
  /**
   * @param {number} status
   * @param {string} code
   * @param {string} sentence
   * @param {number} retryAfterS
   */
  constructor(status, code, sentence, retryAfterS) {
    super(sentence);
    this.status = status;
    this.code = code;
    this.retryAfterS = retryAfterS;
  }

  /** Whether the same request would be refused again. */
  get isFinal() {
    // Another request with the same key is still running: the library asks to wait.
    if (this.code === "IDEMPOTENCY_IN_PROGRESS") return false;
    return this.status >= 400 && this.status < 500 && ![401, 403, 408, 425, 429].includes(this.status);
  }
}

/** The library could not be reached, or something in between answered. */
export class Unreachable extends Error {}

/**
 * @param {string} url
 * @param {RequestInit} options
 * @param {AbortSignal[]} [signals]
 * @returns {Promise<any>} the data of the answer
 */
async function call(url, options, signals = []) {
  let response;
  let text;
  try {
    response = await fetch(url, {
      ...options,
      credentials: "omit",
      cache: "no-store",
      // The token is for this address only.
      redirect: "error",
      referrerPolicy: "no-referrer",
      signal: AbortSignal.any([AbortSignal.timeout(TIMEOUT_MS), ...signals]),
    });
    text = await response.text();
  } catch (error) {
    throw new Unreachable(String(error));
  }
  const answer = parsed(text);
  if (response.ok && answer) return answer.data;
  const waits = Number(response.headers.get("Retry-After"));
  // A proxy in front of the library answers without our envelope. Its answer says nothing about
  // the request, so the request is repeated.
  if (!answer) throw new Unreachable(`The address answered with status ${response.status}, but not as a library.`);
  throw new Refused(response.status, String(answer.code ?? ""), String(answer.error ?? ""), waits > 0 ? waits : 0);
}

/** @param {string} text @returns {any} */
function parsed(text) {
  try {
    const value = JSON.parse(text);
    return typeof value?.status === "boolean" && ("data" in value || "error" in value) ? value : null;
  } catch {
    return null;
  }
}

/**
 * @param {string} address
 * @param {string} code
 * @param {string} name
 */
export function redeem(address, code, name) {
  return call(`${address}/connect/redeem`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ code, name }),
  });
}

/**
 * @param {Connection} connection
 * @param {string} path
 * @returns {Promise<any>}
 */
export function get(connection, path) {
  return call(connection.ingest_url + path, { headers: { Authorization: `Bearer ${connection.token}` } }, [hold.signal]);
}

/**
 * @param {Connection} connection
 * @param {string} path
 * @param {unknown} body JSON, or the bytes of gzipped JSON
 * @param {string} [key] a repeated request with the same key has no second effect
 * @returns {Promise<any>}
 */
export function post(connection, path, body, key) {
  /** @type {Record<string, string>} */
  const headers = { Authorization: `Bearer ${connection.token}`, "Content-Type": "application/json" };
  if (key) headers["Idempotency-Key"] = key;
  const isPacked = body instanceof ArrayBuffer;
  if (isPacked) headers["Content-Encoding"] = "gzip";
  const sent = isPacked ? body : JSON.stringify(body);
  return call(connection.ingest_url + path, { method: "POST", headers, body: sent }, [hold.signal]);
}
