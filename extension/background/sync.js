// The sync: the extension scrolls through the person's own bookmarks page, and X asks for its pages.
// @ts-check

import * as queue from "./queue.js";
import * as runs from "./runs.js";

const BOOKMARKS = "https://x.com/i/bookmarks";
const TABS = ["https://x.com/i/bookmarks*", "https://twitter.com/i/bookmarks*"];
// A sync that waited for room goes on when half of it is free.
const ROOM = 0.5;
const IDLE_MS = 300_000;

/** @returns {Promise<Sync | null>} */
export async function get() {
  return (await chrome.storage.local.get("sync")).sync ?? null;
}

/** @type {Promise<unknown>} */
let order = Promise.resolve();

/**
 * Changes are made one after the other: reading and writing the storage is not atomic.
 * @param {(sync: Sync) => Partial<Sync> | null} change
 * @returns {Promise<Sync | null>}
 */
function update(change) {
  const changed = order.then(async () => {
    const sync = await get();
    const fields = sync && change(sync);
    if (!sync || !fields) return sync;
    const ranMs = sync.ranMs + (sync.state === "running" ? Date.now() - sync.changedAt : 0);
    const next = fields.state && fields.state !== sync.state ? { ranMs, changedAt: Date.now() } : {};
    await chrome.storage.local.set({ sync: { ...sync, ...fields, ...next } });
    return { ...sync, ...fields, ...next };
  });
  order = changed.catch(() => {});
  return changed;
}

async function browserSession() {
  const { browser_session: known } = await chrome.storage.session.get("browser_session");
  if (known) return String(known);
  const made = crypto.randomUUID();
  await chrome.storage.session.set({ browser_session: made });
  return made;
}

/**
 * @param {RunKind} kind
 * @param {number} [from] the tab whose panel started it
 */
export async function start(kind, from) {
  const before = await get();
  if (before && before.state !== "done") await runs.end(before.run, "interrupted");
  const tab = from ?? (await bookmarksTab());
  await runs.endOfTab("", tab);
  const run = await runs.begin({ role: "sync", kind, user: "", tab, isFromTop: true });
  const now = Date.now();
  /** @type {Sync} */
  const sync = {
    state: "running", kind, run: run.id, tab, browserSession: await browserSession(), awaitsTop: true, why: "",
    startedAt: now, changedAt: now, ranMs: 0, seen: 0, inserted: 0, oldest: 0,
  };
  await (order = order.then(() => chrome.storage.local.set({ sync })));
  // From the top: what the page asked for before belongs to another run.
  await chrome.tabs.reload(tab);
}

/** The tab with the bookmarks, or a new one. */
async function bookmarksTab() {
  const [found] = await chrome.tabs.query({ url: TABS });
  const tab = found ?? (await chrome.tabs.create({ url: BOOKMARKS }));
  if (found?.id !== undefined) await chrome.tabs.update(found.id, { active: true });
  return tab.id ?? -1;
}

/** @param {Sync["why"]} why */
export function pause(why) {
  return update((sync) => (sync.state === "running" ? { state: "paused", why } : null));
}

/** @param {number} [from] the tab whose panel continues it */
export async function resume(from) {
  const sync = await get();
  if (!sync || sync.state === "done" || sync.state === "running") return;
  if (sync.state === "gave_up") {
    await start(sync.kind, from);
    return;
  }
  const isSameTab = sync.browserSession === (await browserSession()) && (await isOpen(sync.tab));
  const tab = isSameTab && (from === undefined || from === sync.tab) ? sync.tab : (from ?? (await bookmarksTab()));
  const reopened = await runs.update(sync.run, () => ({ isEnded: false, tab }));
  if (!reopened) {
    await start(sync.kind, tab);
    return;
  }
  const isMoved = tab !== sync.tab || !isSameTab;
  const session = await browserSession();
  await update(() => ({ state: "running", why: "", tab, browserSession: session, awaitsTop: isMoved }));
  if (isMoved) await chrome.tabs.reload(tab);
}

/** @param {number} tab */
async function isOpen(tab) {
  return (await chrome.tabs.query({ url: TABS })).some((one) => one.id === tab);
}

/**
 * Ends it before the end of the list.
 * @param {Sync["why"]} why
 */
export async function stop(why) {
  const state = why === "stalled" ? "gave_up" : "interrupted";
  const before = await get();
  // The end of the list may have come in a form that nothing here knows: the list seems to go on then.
  const isUnread = why === "stalled" && before !== null && (await runs.get(before.run))?.isUnread === true;
  const said = isUnread ? "unread" : why;
  const sync = await update((now) => (["running", "paused"].includes(now.state) ? { state, why: said } : null));
  if (sync?.state === state) await runs.end(sync.run, why === "stalled" ? "gave_up" : "interrupted");
}

/**
 * @param {number} tab
 * @param {string} user
 * @param {boolean} isTop
 * @returns {Promise<Run | null>} the run of the sync, if it runs in this tab
 */
export async function runOf(tab, user, isTop) {
  const sync = await get();
  if (!sync || sync.tab !== tab || !["running", "paused"].includes(sync.state)) return null;
  if (sync.awaitsTop && !isTop) return null;
  const run = await runs.get(sync.run);
  if (!run || run.isEnded) return null;
  if (run.user && user && run.user !== user) {
    await stop("user");
    return null;
  }
  if (sync.awaitsTop) await update(() => ({ awaitsTop: false }));
  return run;
}

/**
 * @param {string} run
 * @param {number} seen
 * @param {number} oldest
 */
export async function notePage(run, seen, oldest) {
  await update((sync) => (sync.run === run ? { seen, oldest } : null));
  if ((await queue.fullness()) >= 1) await stopForFullQueue();
}

/**
 * @param {string} run
 * @param {number} count
 */
export function noteInserted(run, count) {
  return update((sync) => (sync.run === run && count ? { inserted: sync.inserted + count } : null));
}

/**
 * @param {string} run
 * @param {"end" | "caught_up"} reason
 */
export async function noteEnd(run, reason) {
  const sync = await update((now) => (now.run === run && now.state !== "done" ? { state: "done", why: reason } : null));
  // The next sync comes after this one in the queue. If a page is missing, the server says so.
  if (sync?.run === run) await chrome.storage.local.set({ has_read_all: true });
}

/**
 * The server did not get the list without a gap, or could not read all of it, so the sync is not complete.
 * @param {string} run
 * @param {"gap" | "unread"} why
 */
export function noteGap(run, why) {
  return update((sync) => (sync.run === run && sync.state === "done" ? { state: "interrupted", why } : null));
}

export function stopForFullQueue() {
  return pause("full");
}

/** Goes on by itself if only the full queue held it up. */
export async function goOnWithRoom() {
  const sync = await get();
  if (sync?.state !== "paused" || sync.why !== "full" || (await queue.fullness()) > ROOM) return;
  await update((now) => (now.why === "full" ? { state: "running", why: "" } : null));
}

/** A tab that is hidden, frozen or crashed scrolls no more, and does not say so. */
export async function pauseIdle() {
  const sync = await get();
  const run = sync?.state === "running" ? await runs.get(sync.run) : undefined;
  if (run && Date.now() - Math.max(run.pageAt, sync?.changedAt ?? 0) > IDLE_MS) await pause("idle");
}

/** @param {number} tab */
export async function noteClosedTab(tab) {
  const sync = await get();
  if (sync?.tab === tab && ["running", "paused"].includes(sync.state)) await stop("tab");
  await runs.endOfTab(sync?.run ?? "", tab);
}

/** After a restart of the browser, no tab is scrolled any more. */
export async function noteStart() {
  const sync = await get();
  const { browser_session: known } = await chrome.storage.session.get("browser_session");
  const session = await browserSession();
  if (known) return;
  if (sync && sync.browserSession !== session && ["running", "paused"].includes(sync.state)) await stop("tab");
  await runs.endAll(sync?.run ?? "");
}
