// Which addresses are posts of a network that the library knows.
// @ts-check

import "../shared/x.js";

const ID = "[A-Za-z0-9_-]";

/**
 * The networks with hosts of their own: their hosts with their usual beginnings, and the paths of posts.
 * `?v` is kept of an address, because it names the post. The library decides in the end.
 * @type {{name: string, hosts: string[], path: RegExp, menu: string[], parameter?: string}[]}
 */
const NETWORKS = [
  { name: "X", hosts: ["x.com", "twitter.com"], path: globalThis.bowerbirdX.post, menu: ["/*/status/*", "/*/article/*"] },
  { name: "Bluesky", hosts: ["bsky.app"], path: /^\/profile\/[A-Za-z0-9.:_-]+\/post\/[A-Za-z0-9._~:-]+\/?$/, menu: ["/profile/*/post/*"] },
  { name: "Reddit", hosts: ["reddit.com"], path: /^(?:\/(?:r|u|user)\/[A-Za-z0-9_-]{1,50})?\/(?:comments|gallery)\/[0-9a-z]{1,13}(?:\/|$)/i, menu: ["/*comments/*", "/gallery/*"] },
  { name: "YouTube", hosts: ["youtube.com"], path: /^\/watch$/, menu: ["/watch?*"], parameter: "v" },
  { name: "YouTube", hosts: ["youtube.com"], path: new RegExp(`^/(?:shorts|live)/${ID}{11}/?$`), menu: ["/shorts/*", "/live/*"] },
  { name: "YouTube", hosts: ["youtu.be"], path: new RegExp(`^/${ID}{11}/?$`), menu: ["/*"] },
  { name: "TikTok", hosts: ["tiktok.com"], path: /^\/@[A-Za-z0-9_.-]{1,64}\/(?:video|photo)\/[0-9]{1,20}\/?$/, menu: ["/*/video/*", "/*/photo/*"] },
  { name: "LinkedIn", hosts: ["linkedin.com"], path: /^\/feed\/update\/urn:li:(?:activity|share|ugcPost):[0-9]{1,20}\/?$|^\/posts\/[^/]{1,300}(?:activity|share|ugcPost)-[0-9]{10,20}[^/]*\/?$/i, menu: ["/feed/update/*", "/posts/*"] },
  { name: "Threads", hosts: ["threads.com", "threads.net"], path: new RegExp(`^/(?:@[A-Za-z0-9_.]{1,64}/post|t)/${ID}{5,40}/?$`), menu: ["/*/post/*", "/t/*"] },
  { name: "Instagram", hosts: ["instagram.com"], path: new RegExp(`^/(?:[A-Za-z0-9_.]{1,64}/)?(?:p|reel|reels|tv)/${ID}{5,40}/?$`), menu: ["/*p/*", "/*reel/*", "/*reels/*", "/*tv/*"] },
];
const MASTODON_PATH =
  /^(?:\/web|\/deck)?\/@[A-Za-z0-9_.-]{1,64}(?:@[A-Za-z0-9.-]+)?\/(?:posts\/)?[0-9]{1,20}\/?$|^\/users\/[A-Za-z0-9_.-]{1,64}\/statuses\/[0-9A-Z]{1,32}\/?$/;
const BEGINNINGS = /^(?:www|m|mobile|old|new|np|vm)\./;

/** For the menu: the browser shows the entry only where one of these fits. */
export const PATTERNS = [
  ...NETWORKS.flatMap(({ hosts, menu }) => hosts.flatMap((host) => menu.map((path) => `https://*.${host}${path}`))),
  "https://*/@*/*", "https://*/users/*/statuses/*",
];

/**
 * @param {string | undefined} address
 * @returns {{link: string, network: string, xPost: string} | null}
 */
export function postAt(address) {
  let url;
  try {
    url = new URL(address ?? "");
  } catch {
    return null;
  }
  if (url.protocol !== "https:" || url.href.length > 2_000) return null;
  const host = url.hostname.replace(BEGINNINGS, "");
  const path = decoded(url.pathname);
  const known = NETWORKS.filter(({ hosts }) => hosts.includes(host) || hosts.includes(url.hostname));
  const [network] = known.filter(({ path: pattern, parameter }) => pattern.test(path) && (!parameter || url.searchParams.get(parameter)));
  if (network?.name === "X") {
    const id = network.path.exec(path)?.[1] ?? "";
    const author = /^\/([A-Za-z0-9_]{1,20})\/(?:status|article)/.exec(path)?.[1] ?? "i";
    return { link: `https://x.com/${author}/status/${id}`, network: "X", xPost: id };
  }
  // Other sites have addresses that look like those of Mastodon.
  const name = network?.name ?? (!known.length && host !== "medium.com" && MASTODON_PATH.test(path) ? "Mastodon" : "");
  const query = network?.parameter ? `?${network.parameter}=${encodeURIComponent(url.searchParams.get(network.parameter) ?? "")}` : "";
  return name ? { link: `${url.origin}${url.pathname}${query}`, network: name, xPost: "" } : null;
}

/** @param {string} path */
function decoded(path) {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}
