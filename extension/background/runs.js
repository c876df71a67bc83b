// The runs of the ingest protocol: which one a page belongs to, and when it ends.
// @ts-check

import { result, within } from "./database.js";
import { add } from "./queue.js";

const SIDE_IDLE_MS = 60_000;
const LIST_IDLE_MS = 600_000;

/** @returns {Promise<Run[]>} */
export function all() {
  return within("readonly", (store) => result(store("runs").getAll()));
}

/** @param {string} id @returns {Promise<Run | undefined>} */
export function get(id) {
  return within("readonly", (store) => result(store("runs").get(id)));
}

/**
 * @param {string} id
 * @param {(run: Run) => Partial<Run>} change
 * @returns {Promise<Run | null>}
 */
export function update(id, change) {
  return within("readwrite", async (store) => {
    /** @type {Run | undefined} */
    const run = await result(store("runs").get(id));
    if (!run) return null;
    const changed = { ...run, ...change(run) };
    await result(store("runs").put(changed));
    return changed;
  });
}

/** @param {string} id */
export function forget(id) {
  return within("readwrite", async (store) => { await result(store("runs").delete(id)); });
}

/**
 * @param {Pick<Run, "role" | "kind" | "user" | "tab" | "isFromTop">} about
 * @returns {Promise<Run>}
 */
export async function begin(about) {
  /** @type {Run} */
  const run = {
    ...about,
    id: crypto.randomUUID(),
    runId: "",
    attempt: 0,
    refusals: 0,
    isEnded: false,
    ends: 0,
    isStopped: false,
    isUnread: false,
    nextSeq: 0,
    pages: 0,
    seen: 0,
    inserted: 0,
    lowest: "",
    cursor: about.isFromTop ? "" : null,
    startedAt: Date.now(),
    pageAt: Date.now(),
  };
  await within("readwrite", async (store) => { await result(store("runs").add(run)); });
  return run;
}

/**
 * The end of the run waits behind its pages. A run without pages is forgotten.
 * @param {string} id
 * @param {EndReason} reason
 */
export async function end(id, reason) {
  const run = await get(id);
  if (!run || run.isEnded) return;
  if (!run.pages && !run.runId) {
    await forget(id);
    return;
  }
  const ends = (run.ends ?? 0) + 1;
  await add({ type: "finish", run: id, user: run.user, reason, ends, posts: 0, bytes: 200 }, { ...run, isEnded: true, ends });
}

/**
 * The run of a page of the list: a visit of the bookmarks page in one tab.
 * @param {number} tab
 * @param {string} user
 * @param {boolean} isTop
 * @returns {Promise<Run | null>} null if everything below is known already.
 */
export async function ofList(tab, user, isTop) {
  const current = (await all()).find((run) => run.role === "list" && run.tab === tab && !run.isEnded);
  if (current) {
    const isSame = !user || !current.user || current.user === user;
    if (isSame && !(isTop && current.pages)) return current;
    await end(current.id, "interrupted");
  }
  if (isTop) await settle(tab, false);
  else if (await isSettled(tab)) return null;
  return begin({ role: "list", kind: "visit", user, tab, isFromTop: isTop });
}

/** @param {string} user @returns {Promise<Run>} */
export async function ofSide(user) {
  const current = (await all()).find((run) => run.role === "side" && run.user === user && !run.isEnded);
  return current ?? begin({ role: "side", kind: "incremental", user, tab: -1, isFromTop: false });
}

/**
 * After the server has said that it knows the rest, further pages of the visit are not sent.
 * @param {number} tab
 * @param {boolean} isKnown
 */
export async function settle(tab, isKnown) {
  await chrome.storage.session.set({ [`settled-${tab}`]: isKnown });
}

/** @param {number} tab */
async function isSettled(tab) {
  const key = `settled-${tab}`;
  return (await chrome.storage.session.get(key))[key] === true;
}

/**
 * Ends runs that nobody continues.
 * @param {string} synced the run of the sync, which has its own rules
 * @param {(run: Run) => boolean} isOver
 */
async function endWhere(synced, isOver) {
  for (const run of await all()) {
    if (run.id === synced || run.isEnded || !isOver(run)) continue;
    await end(run.id, run.role === "side" ? "end" : "interrupted");
  }
}

/** @param {string} synced */
export function endIdle(synced) {
  const now = Date.now();
  return endWhere(synced, (run) => now - run.pageAt > (run.role === "side" ? SIDE_IDLE_MS : LIST_IDLE_MS));
}

/**
 * @param {string} synced
 * @param {number} tab
 */
export function endOfTab(synced, tab) {
  return endWhere(synced, (run) => run.role === "list" && run.tab === tab);
}

/**
 * Tabs have other ids after a restart of the browser.
 * @param {string} synced
 */
export function endAll(synced) {
  return endWhere(synced, () => true);
}
