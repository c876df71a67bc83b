// Pages that the library could not read, because X has changed its answers.
// @ts-check

/**
 * By operation: a folder in a known form says nothing about the list.
 * @returns {Promise<Record<string, Unread>>}
 */
async function all() {
  return (await chrome.storage.local.get("unread")).unread ?? {};
}

/** @returns {Promise<Unread | null>} */
export async function get() {
  const found = Object.values(await all());
  return found.reduce((/** @type {Unread | null} */ sum, one) => (sum ? {
    run: one.run,
    since: Math.min(sum.since, one.since),
    pages: sum.pages + one.pages,
    isKept: sum.isKept && one.isKept,
  } : one), null);
}

/**
 * A later run that is read shows that the library understands X again.
 * @param {string} operation
 * @param {string} run
 * @param {boolean} isUnread
 * @param {boolean} isKept
 */
export async function note(operation, run, isUnread, isKept) {
  const { [operation]: before, ...others } = await all();
  if (!isUnread && (!before || before.run === run)) return;
  const now = {
    run,
    since: before?.since ?? Date.now(),
    pages: (before?.pages ?? 0) + 1,
    isKept: isKept && before?.isKept !== false,
  };
  await chrome.storage.local.set({ unread: isUnread ? { ...others, [operation]: now } : others });
}
