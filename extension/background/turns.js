// When work is done: one after the other, and at a moment, also after the browser has stopped the worker.
// @ts-check

/**
 * What arrives from pages, and what the person and the alarms decide.
 * @type {Promise<unknown>}
 */
let order = Promise.resolve();

/**
 * Does something after everything that arrived before is stored, and before what arrives later.
 * @template T
 * @param {() => Promise<T>} work
 * @returns {Promise<T>}
 */
export function inOrder(work) {
  const done = order.then(work);
  order = done.catch(() => {});
  return done;
}

// Alarms of a browser are at least half a minute away, and the worker lives as long after its last work.
export const SHORTEST_ALARM_MS = 30_000;
/** Looks every minute for what nobody continues, until there is nothing more to look for. */
export const TIDY = "tidy";

export function watch() {
  chrome.alarms.create(TIDY, { periodInMinutes: 1 });
}

/**
 * @param {string} alarm its listener does the same work
 * @param {number} moment
 * @param {() => unknown} work
 */
export function wakeAt(alarm, moment, work) {
  const wait = moment - Date.now();
  if (wait < SHORTEST_ALARM_MS) setTimeout(work, Math.max(0, wait));
  chrome.alarms.create(alarm, { when: Math.max(moment, Date.now() + SHORTEST_ALARM_MS) });
}
