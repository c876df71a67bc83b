// The library that this browser is connected to, and how it is connected.
// @ts-check

import { NotConnected, isOfLibrary, parse } from "./addresses.js";
import * as server from "./server.js";

/** @returns {Promise<Connection | null>} */
export async function get() {
  const { connection } = await chrome.storage.local.get("connection");
  return connection?.token && connection.ingest_url ? connection : null;
}

/**
 * Exchanges a connect string for a device token, which `keep` stores.
 * @param {string} text
 * @returns {Promise<Connection>}
 */
export async function redeem(text) {
  const { address, code } = parse(text);
  if (!code) throw new NotConnected("Paste the whole link, with the code after #.");
  const answer = await server.redeem(address, code, await deviceName());
  for (const name of ["ingest_url", "library_url", "keys_url"]) {
    if (!isOfLibrary(String(answer[name]), address)) {
      throw new NotConnected("The library answered with an address that is not its own and not encrypted. Nothing was connected.");
    }
  }
  return {
    address,
    token: String(answer.token),
    device_id: String(answer.device_id ?? ""),
    email: String(answer.email ?? ""),
    ingest_url: String(answer.ingest_url).replace(/\/$/, ""),
    library_url: String(answer.library_url),
    keys_url: String(answer.keys_url),
  };
}

/** @param {Connection} connection */
export async function keep(connection) {
  const before = await get();
  // The server takes a new token for a new device, which has sent nothing yet.
  await chrome.storage.local.remove(["bound_user", "known", "list", "unread"]);
  if (!before || before.address !== connection.address || before.email !== connection.email) {
    await chrome.storage.local.remove(["has_read_all", "confirmed_users", "ignored_users"]);
  }
  await chrome.storage.local.set({ connection });
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
    "connection", "sending", "sync", "known", "latest", "refused", "last_sent_at", "has_read_all", "list", "unread",
    "confirmed_users", "ignored_users", "bound_user", "usernames", "is_viewer_unknown", "trouble",
  ]);
}
