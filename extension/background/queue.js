// What waits to be sent, in the order in which it came. Only one item at a time is in memory.
// @ts-check

import { result, within } from "./database.js";

// A sync pauses at the first bound. What still arrives then, such as a new bookmark, has room up
// to the second one.
const PAUSE_ITEMS = 5_000;
const PAUSE_BYTES = 150_000_000;
const RESERVE = 1.2;
const KEY = "queue";

export class QueueFull extends Error {}

/** @returns {Promise<number>} the share of the bound that is used; 1 and more is full. */
export async function fullness() {
  const { items, bytes } = await totals();
  return Math.max(items / PAUSE_ITEMS, bytes / PAUSE_BYTES);
}

/** @returns {Promise<Totals>} */
export function totals() {
  return within("readonly", async (store) => read(await result(store("totals").get(KEY))));
}

/** @param {Totals | undefined} stored @returns {Totals} */
const read = (stored) => stored ?? { items: 0, posts: 0, bytes: 0 };

/**
 * @param {(name: "items" | "runs" | "totals") => IDBObjectStore} store
 * @param {{posts: number, bytes: number}} item
 * @param {1 | -1} sign
 */
async function count(store, item, sign) {
  const { items, posts, bytes } = read(await result(store("totals").get(KEY)));
  const changed = {
    items: Math.max(0, items + sign),
    posts: Math.max(0, posts + sign * item.posts),
    bytes: Math.max(0, bytes + sign * item.bytes),
  };
  await result(store("totals").put(changed, KEY));
}

/**
 * Adds an item, and changes its run in the same transaction.
 * @param {NewItem} item
 * @param {Run} [run]
 * @returns {Promise<number>} the id of the item
 */
export async function add(item, run) {
  // The end of a run and single posts are small, and nothing can ask for them again.
  const bound = item.type === "page" ? RESERVE : RESERVE * 2;
  if ((await fullness()) >= bound) throw new QueueFull();
  try {
    return await within("readwrite", async (store) => {
      if (run) await mergeRun(store, run);
      await count(store, item, 1);
      return Number(await result(store("items").add(item)));
    });
  } catch (error) {
    if (error instanceof DOMException && error.name === "QuotaExceededError") throw new QueueFull();
    throw error;
  }
}

/**
 * Writes what the capturing side knows about a run; what the sending side knows stays.
 * @param {(name: "items" | "runs" | "totals") => IDBObjectStore} store
 * @param {Run} run
 */
async function mergeRun(store, run) {
  /** @type {Run | undefined} */
  const stored = await result(store("runs").get(run.id));
  const { runId, attempt, refusals, inserted, isStopped, isUnread } = stored ?? run;
  // A page that was on its way when the run ended does not open it again.
  const isEnded = run.isEnded || stored?.isEnded === true;
  const ends = Math.max(run.ends ?? 0, stored?.ends ?? 0);
  await result(store("runs").put({ ...run, runId, attempt, refusals, inserted, isStopped, isUnread, isEnded, ends }));
}

/** @returns {Promise<Item | null>} */
export function first() {
  return within("readonly", async (store) => {
    const cursor = await result(store("items").openCursor());
    return cursor ? cursor.value : null;
  });
}

/** @param {Item} item */
export function remove(item) {
  return within("readwrite", async (store) => {
    if ((await result(store("items").getKey(item.id))) === undefined) return;
    await count(store, item, -1);
    await result(store("items").delete(item.id));
  });
}

/**
 * Removes the items of an X account that the person does not want to send.
 * @param {string} user
 */
export async function removeOf(user) {
  for (let after = 0; ;) {
    /** @type {Item | null} */
    const item = await within("readonly", async (store) => {
      const cursor = await result(store("items").openCursor(IDBKeyRange.lowerBound(after, true)));
      return cursor ? cursor.value : null;
    });
    if (!item) return;
    after = item.id;
    if (item.user === user) await remove(item);
  }
}

/** Removes everything, when the person disconnects the library. */
export function clear() {
  return within("readwrite", async (store) => {
    await result(store("items").clear());
    await result(store("runs").clear());
    await result(store("totals").clear());
  });
}

/**
 * What could not be saved, for the popup.
 * @param {string} sentence
 */
export async function noteRefused(sentence) {
  await chrome.storage.local.set({ refused: { sentence, at: Date.now() } });
}
