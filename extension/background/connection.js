// The library that this browser is connected to, and how it is connected.
// @ts-check

import * as server from "./server.js";

/** @returns {Promise<Connection | null>} */
export async function get() {
  const { connection } = await chrome.storage.local.get("connection");
  return connection?.token && connection.ingest_url ? connection : null;
}

/** A sentence for the person. */
export class NotConnected extends Error {}

const CODE = /^[A-Z0-9]{4}-?[A-Z0-9]{4}$/i;

/**
 * Reads what the person pasted: a connect string, or only the address of a library.
 * @param {string} text
 * @returns {{address: string, code: string}}
 */
export function parse(text) {
  const trimmed = text.trim();
  let url;
  try {
    url = new URL(/^[a-z]+:\/\//i.test(trimmed) ? trimmed : `https://${trimmed}`);
  } catch {
    throw new NotConnected("This is not an address. It looks like https://library.example/#K7QM-2XRD");
  }
  if (url.protocol !== "https:" && !(url.protocol === "http:" && isLocal(url.hostname))) {
    throw new NotConnected("The address must begin with https://. Only a library on this computer or network can use http://.");
  }
  const code = url.hash.slice(1);
  if (code && !CODE.test(code)) {
    throw new NotConnected("The code after # is incomplete. Copy the whole line again.");
  }
  const path = url.pathname.replace(/\/(connect)?\/?$/, "");
  return { address: `${url.origin}${path}`, code };
}

/** @param {string} host */
function isLocal(host) {
  return (
    host === "localhost" || host === "[::1]" || /\.(local|lan|internal|home\.arpa|localhost)$/.test(host) ||
    /^(127|10)\.|^192\.168\.|^172\.(1[6-9]|2[0-9]|3[01])\.|^100\.(6[4-9]|[7-9][0-9]|1[01][0-9]|12[0-7])\./.test(host)
  );
}

/**
 * Exchanges a connect string for a device token.
 * @param {string} text
 * @returns {Promise<Connection>}
 */
export async function redeem(text) {
  const { address, code } = parse(text);
  if (!code) throw new NotConnected("Paste the whole line, with the code after #.");
  const answer = await server.redeem(address, code, await deviceName());
  for (const name of ["ingest_url", "library_url", "keys_url"]) {
    if (!/^https?:\/\//.test(String(answer[name]))) {
      throw new NotConnected("The library answered in a way this extension does not understand.");
    }
  }
  const connection = {
    address,
    token: String(answer.token),
    device_id: String(answer.device_id ?? ""),
    email: String(answer.email ?? ""),
    ingest_url: String(answer.ingest_url).replace(/\/$/, ""),
    library_url: String(answer.library_url),
    keys_url: String(answer.keys_url),
  };
  const before = await get();
  // The server takes a new token for a new device, which has sent nothing yet.
  await chrome.storage.local.remove(["bound_user", "known"]);
  if (before && (before.address !== address || before.email !== connection.email)) {
    await chrome.storage.local.remove(["has_read_all", "confirmed_users", "ignored_users"]);
  }
  await chrome.storage.local.set({ connection });
  return connection;
}

/** @returns {Promise<string>} such as "Chromium on Linux" */
async function deviceName() {
  const agent = navigator.userAgent;
  const browsers = [["Firefox", /Firefox\//], ["Edge", /Edg\//], ["Opera", /OPR\//], ["Chrome", /Chrome\//]];
  const browser = browsers.find(([, pattern]) => /** @type {RegExp} */ (pattern).test(agent))?.[0] ?? "Browser";
  /** @type {Record<string, string>} */
  const systems = { mac: "macOS", win: "Windows", linux: "Linux", android: "Android", cros: "ChromeOS", openbsd: "OpenBSD" };
  const { os } = await chrome.runtime.getPlatformInfo();
  return `${browser} on ${systems[os] ?? os}`;
}

/** Forgets the library and the account, and what was noted about them. */
export async function forget() {
  await chrome.storage.local.remove([
    "connection", "sending", "sync", "known", "latest", "refused", "last_sent_at", "has_read_all",
    "confirmed_users", "ignored_users", "bound_user", "usernames",
  ]);
}
