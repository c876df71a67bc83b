// Which addresses are posts of a network that the library knows.
// @ts-check

import "../shared/x.js";

const X_HOSTS = new Set(["x.com", "www.x.com", "mobile.x.com", "twitter.com", "www.twitter.com", "mobile.twitter.com"]);
const BLUESKY_PATH = /^\/profile\/[A-Za-z0-9.:_-]+\/post\/[A-Za-z0-9._~:-]+\/?$/;
const MASTODON_PATH =
  /^(?:\/web|\/deck)?\/@[A-Za-z0-9_.-]{1,64}(?:@[A-Za-z0-9.-]+)?\/(?:posts\/)?[0-9]{1,20}\/?$|^\/users\/[A-Za-z0-9_.-]{1,64}\/statuses\/[0-9A-Z]{1,32}\/?$/;
// Sites whose addresses look like those of Mastodon.
const OTHERS = /(?:^|\.)(?:medium|youtube|tiktok|threads)\.(?:com|net)$/;

/** For the menu: the browser shows the entry only where one of these fits. */
export const PATTERNS = [
  "https://x.com/*/status/*", "https://twitter.com/*/status/*", "https://mobile.x.com/*/status/*",
  "https://mobile.twitter.com/*/status/*", "https://bsky.app/profile/*/post/*", "https://*/@*/*",
  "https://*/users/*/statuses/*",
];

/**
 * @param {string | undefined} address
 * @returns {{link: string, network: "X" | "Bluesky" | "Mastodon", xPost: string} | null}
 */
export function postAt(address) {
  let url;
  try {
    url = new URL(address ?? "");
  } catch {
    return null;
  }
  if (url.protocol !== "https:" || url.href.length > 2_000) return null;
  const link = `${url.origin}${url.pathname}`;
  if (X_HOSTS.has(url.hostname)) {
    const id = globalThis.bowerbirdX.post.exec(url.pathname)?.[1];
    return id ? { link: `https://x.com${url.pathname.replace(/(\/status(?:es)?\/[0-9]+).*$/, "$1")}`, network: "X", xPost: id } : null;
  }
  if (url.hostname === "bsky.app") return BLUESKY_PATH.test(url.pathname) ? { link, network: "Bluesky", xPost: "" } : null;
  if (OTHERS.test(url.hostname) || !MASTODON_PATH.test(url.pathname)) return null;
  return { link, network: "Mastodon", xPost: "" };
}
