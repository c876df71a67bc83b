// The address of a library, as a person pastes it.
// @ts-check

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
  if (!looksLikeAddress(trimmed)) throw new NotConnected("This is neither a connection link nor an address.");
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
    throw new NotConnected("The code after # is incomplete. Copy the whole link again.");
  }
  const path = url.pathname.replace(/\/(connect)?\/?$/, "");
  return { address: `${url.origin}${path}`, code };
}

/**
 * A single word would open a page that nobody has.
 * @param {string} text
 */
function looksLikeAddress(text) {
  if (/\s/.test(text)) return false;
  const [host = ""] = text.replace(/^[a-z]+:\/\//i, "").split(/[/?#]/);
  return /^[a-z]+:\/\/./i.test(text) || /^localhost$/i.test(host) || /.\../.test(host) || /.:[0-9]+$/.test(host);
}

/**
 * Posts and the token go only to the address that the person pasted, or over an encrypted connection.
 * @param {string} given an address that the library gave
 * @param {string} address
 */
export function isOfLibrary(given, address) {
  try {
    const url = new URL(given);
    return url.protocol === "https:" || url.origin === new URL(address).origin;
  } catch {
    return false;
  }
}

/** @param {string} host */
function isLocal(host) {
  return (
    host === "localhost" || host === "[::1]" || /\.(local|lan|internal|home\.arpa|localhost)$/.test(host) ||
    /^(127|10)\.|^192\.168\.|^172\.(1[6-9]|2[0-9]|3[01])\.|^100\.(6[4-9]|[7-9][0-9]|1[01][0-9]|12[0-7])\./.test(host)
  );
}
