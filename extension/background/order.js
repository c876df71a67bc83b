// One after the other: what arrives from pages, and what the person and the alarms decide.
// @ts-check

/** @type {Promise<unknown>} */
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
