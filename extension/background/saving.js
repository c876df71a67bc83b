// Saves single posts, of any network that the library knows, by their link.
// @ts-check

import { takeShown } from "./captures.js";
import * as connection from "./connection.js";
import { postAt } from "./links.js";
import { QueueFull, add } from "./queue.js";
import * as sender from "./sender.js";
import { get } from "./server.js";
import { inOrder } from "./turns.js";

const MAX_LABELS = 10;
const MAX_LABEL = 100;
const WAIT_MS = 8_000;

/** @param {unknown} given @returns {string[]} */
function cleaned(given) {
  if (!Array.isArray(given)) return [];
  const names = given.filter((name) => typeof name === "string").map((name) => name.trim().slice(0, MAX_LABEL));
  return [...new Set(names.filter(Boolean))].slice(0, MAX_LABELS);
}

/**
 * @param {string | undefined} address
 * @param {unknown} labels
 * @param {number} [tab] the tab that may show the post
 * @param {Captured | null} [given] an answer of X that shows the post
 * @returns {Promise<SaveOutcome>}
 */
export async function save(address, labels, tab, given) {
  const found = postAt(address);
  if (!found) return { state: "refused", sentence: "This is not the page of a single post." };
  const item = { type: /** @type {const} */ ("save"), user: "", link: found.link, labels: cleaned(labels), key: crypto.randomUUID() };
  let id;
  try {
    // In order: after a disconnection nothing must wait for the next library.
    id = await inOrder(async () => ((await connection.get()) ? add({ ...item, posts: 1, bytes: 500 }) : null));
  } catch (error) {
    if (error instanceof QueueFull) return { state: "refused", sentence: "The queue is full. Nothing was saved." };
    throw error;
  }
  if (id === null) return { state: "off", sentence: "Connect your library first." };
  // The library knows the post by then, and completes it from this page.
  const shown = found.xPost ? (given ?? (await shownIn(tab, found.xPost))) : null;
  if (shown) await takeShown(shown);
  return sender.outcomeOf(id, WAIT_MS);
}

/**
 * @param {number | undefined} tab
 * @param {string} post
 * @returns {Promise<Captured | null>}
 */
async function shownIn(tab, post) {
  try {
    return tab === undefined ? null : ((await chrome.tabs.sendMessage(tab, { type: "shown", post })) ?? null);
  } catch {
    // A tab of another site, or one that was opened before the extension was installed.
    return null;
  }
}

/** @returns {Promise<{name: string, count: number}[]>} the labels of the library, for suggestions */
export async function labels() {
  const library = await connection.get();
  if (!library) return [];
  try {
    const found = await get(library, "/labels");
    return Array.isArray(found) ? found.slice(0, 500) : [];
  } catch {
    return [];
  }
}
