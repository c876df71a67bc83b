// The sync: the extension scrolls through the person's own bookmarks page, and X asks for its pages.
//
//   running      until X shows the end, or the library knows the rest: done
//   paused       by the person, a full queue, another page, silence, or X, which ends by itself if `until` is set
//   interrupted  the tab is gone, or a page is missing; the run goes on for six days
//   gave_up      X shows nothing more; the run goes on if the person starts it
//
// The state is stored, and pages ask for it: the bridge as it loads, the panel every second. The alarm
// "go on" ends a wait, and the alarm "tidy" notices a page that says nothing.
// @ts-check

import * as queue from "./queue.js";
import * as runs from "./runs.js";
import { inOrder, wakeAt, watch } from "./turns.js";

const BOOKMARKS = "https://x.com/i/bookmarks";
const TABS = ["https://x.com/i/bookmarks*", "https://twitter.com/i/bookmarks*"];
// A sync that waited for room goes on when half of it is free.
const ROOM = 0.5;
const IDLE_MS = 300_000;
export const ALARM = "go on";
// As long as X's limits last, unless it says when they end.
const LIMIT_MS = 900_000;
const LONGEST_LIMIT_MS = 86_400_000;
const CLOCKS_MS = 2_000;
const DOWN_MS = 60_000;
const LONGEST_DOWN_MS = 86_400_000;
// The pauses double, up to the longest one: two days and a half together.
const MOST_TRIES = 12;
const LASTS_MS = 6 * 86_400_000;

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
 * Begins a sync, or goes on with one of this kind that did not reach its end.
 * @param {RunKind} kind
 * @param {number} [from] the tab whose panel started it
 */
export async function start(kind, from) {
  const before = await get();
  const isOpenEnded = before !== null && !["running", "done"].includes(before.state) && before.kind === kind;
  if (isOpenEnded && (await unfinished(before))) await resume(from);
  else await begin(kind, from);
}

/**
 * @param {RunKind} kind
 * @param {number} [from]
 */
async function begin(kind, from) {
  const before = await get();
  if (before && before.state !== "done") await runs.end(before.run, "interrupted");
  // From the top: what the page asked for before belongs to another run.
  const tab = await showList(from);
  await runs.endOfTab("", tab);
  const run = await runs.begin({ role: "sync", kind, user: "", tab, isFromTop: true });
  const now = Date.now();
  /** @type {Sync} */
  const sync = {
    state: "running", kind, run: run.id, tab, browserSession: await browserSession(), why: "", until: 0,
    startedAt: now, changedAt: now, heardAt: 0, ranMs: 0, seen: 0, inserted: 0, oldest: 0,
  };
  await (order = order.then(() => chrome.storage.local.set({ sync })));
  watch();
}

/**
 * The run of a sync, if it can go on where it stopped.
 * @param {Sync} sync
 * @returns {Promise<Run | null>}
 */
async function unfinished({ run: id, why }) {
  const run = await runs.get(id);
  // The library forgets the pages of a run after a week, and then cannot tell that none is missing.
  const isKnown = run !== undefined && Date.now() - run.startedAt < LASTS_MS;
  return isKnown && run.cursor !== null && !run.isUnread && why !== "gap" ? run : null;
}

/**
 * Loads the list into a tab: this one, one that shows bookmarks, or a new one. What its page says
 * waits until the sync knows the tab, because all of it is done in order. A new tab gets its address
 * at once: a second one, which comes while the browser still opens the first, may get lost.
 * @param {number} [tab]
 * @returns {Promise<number>} the tab
 */
async function showList(tab) {
  const [found] = tab === undefined ? await chrome.tabs.query({ url: TABS }) : [];
  const known = tab ?? found?.id;
  if (known === undefined) return (await chrome.tabs.create({ url: BOOKMARKS })).id ?? -1;
  await chrome.tabs.update(known, { url: BOOKMARKS, ...(found ? { active: true } : {}) });
  return known;
}

/** @param {Sync["why"]} why */
export function pause(why) {
  return update((sync) => (sync.state === "running" ? { state: "paused", why } : null));
}

/** @param {Sync} sync whether X's page still is where the sync stopped */
const isStill = ({ state, why }) => state === "paused" && ["you", "full"].includes(why);

/** X shows something else in this tab. @param {number | undefined} tab */
export function noteLeft(tab) {
  return update((sync) => (sync.tab === tab && (sync.state === "running" || isStill(sync)) ? { state: "paused", why: "left" } : null));
}

/** @param {number} [from] the tab whose panel continues it */
export async function resume(from) {
  const sync = await get();
  if (!sync || sync.state === "done" || sync.state === "running") return;
  if (!(await unfinished(sync))) {
    await begin(sync.kind, from);
    return;
  }
  const session = await browserSession();
  const isSameTab = sync.browserSession === session && (from ?? sync.tab) === sync.tab && (await isOpen(sync.tab));
  // A new page is led to where the sync stopped: see `placeIn`. If it cannot be opened, nothing has changed.
  const isNew = !(isSameTab && isStill(sync));
  const tab = isNew ? await showList(isSameTab ? sync.tab : from) : sync.tab;
  await runs.update(sync.run, () => ({ isEnded: false, tab }));
  await update(() => ({ state: "running", why: "", until: 0, tab, browserSession: session, isLoading: isNew }));
  watch();
}

/**
 * Where X's page in this tab has to go on, or nothing.
 * @param {number | undefined} tab
 */
export async function placeIn(tab) {
  const sync = await get();
  if (!sync || sync.tab !== tab || !["running", "paused"].includes(sync.state)) return "";
  await update(() => ({ isLoading: false }));
  return (await runs.get(sync.run))?.cursor ?? "";
}

/** @param {Sync | null} sync whether it goes on by itself */
const isWaiting = (sync) => sync?.state === "paused" && sync.until > 0;

/** @returns {Promise<Trouble | null>} why X shows no list, since it last did not */
export async function trouble() {
  return (await chrome.storage.local.get("trouble")).trouble ?? null;
}

/**
 * X refuses to show the list. A sync waits, and goes on by itself if time helps.
 * @param {TroubleKind} kind
 * @param {number} given the moment that X named
 * @param {number | undefined} tab
 */
export async function noteTrouble(kind, given, tab) {
  const before = await trouble();
  const tries = before?.kind === kind ? before.tries : 0;
  const until = untilOf(kind, given, tries);
  // X's page asks again and again.
  const isKnown = before?.kind === kind && (!until || before.until > Date.now());
  const isOver = kind === "down" && !isKnown && tries >= MOST_TRIES;
  if (isOver && (await isRunningIn(tab))) {
    await chrome.storage.local.remove("trouble");
    await stop("silent");
    return;
  }
  const now = isKnown ? before : { kind, until, tries: tries + 1, at: Date.now() };
  if (!isKnown) await chrome.storage.local.set({ trouble: now });
  await update((sync) => (sync.tab === tab && sync.state === "running" ? { state: "paused", why: kind, until: now.until } : null));
  await wait();
}

/**
 * @param {TroubleKind} kind
 * @param {number} given
 * @param {number} tries
 */
function untilOf(kind, given, tries) {
  const now = Date.now();
  if (kind === "down") return now + Math.min(DOWN_MS * 2 ** tries, LONGEST_DOWN_MS);
  if (kind !== "limit") return 0;
  const isLikely = given > now - LIMIT_MS && given < now + LONGEST_LIMIT_MS;
  // The clocks of X and of this computer differ a little.
  return isLikely ? Math.max(given, now) + CLOCKS_MS : now + LIMIT_MS;
}

/** Wakes a sync that waits for X. */
async function wait() {
  const sync = await get();
  if (sync && isWaiting(sync)) wakeAt(ALARM, sync.until, goOnInOrder);
}

const goOnInOrder = () => inOrder(goOn);

export async function goOn() {
  const sync = await get();
  if (!sync || !isWaiting(sync)) return;
  if (Date.now() < sync.until) await wait();
  // It could only start again from the top, and only the person decides that.
  else if (Date.now() - sync.startedAt > LASTS_MS) await stop("stalled");
  // A browser that is starting may have no window for the tab yet.
  else await resume().catch(() => wakeAt(ALARM, Date.now() + CLOCKS_MS, goOnInOrder));
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
  const state = ["stalled", "silent"].includes(why) ? "gave_up" : "interrupted";
  const before = await get();
  // The end of the list may have come in a form that nothing here knows: the list seems to go on then.
  const isUnread = why === "stalled" && before !== null && (await runs.get(before.run))?.isUnread === true;
  const said = isUnread ? "unread" : why;
  const sync = await update((now) => (["running", "paused"].includes(now.state) ? { state, why: said, until: 0 } : null));
  if (sync?.state === state) await runs.end(sync.run, "interrupted");
}

/** @param {number | undefined} tab */
async function isRunningIn(tab) {
  const sync = await get();
  return sync?.tab === tab && sync?.state === "running";
}

/** The tab has scrolled for a while, and nothing more has come. @param {number | undefined} tab */
export async function noteSilence(tab) {
  const sync = await get();
  if (!sync || !(await isRunningIn(tab))) return;
  const run = await runs.get(sync.run);
  const isRead = run !== undefined && run.pageAt > sync.changedAt;
  if (!isRead && sync.heardAt < sync.changedAt) {
    await noteTrouble("down", 0, tab);
    return;
  }
  // X shows the list, but not from where the sync stopped: the next one begins at the top.
  if (!isRead) await runs.update(sync.run, () => ({ cursor: "" }));
  await stop("stalled");
}

/**
 * @param {number} tab
 * @param {string} user
 * @param {string} cursor
 * @param {bigint | null} lowest the place of the last post of the page
 * @returns {Promise<Run | null>} the run of the sync, if it runs in this tab and the page is its next one
 */
export async function runOf(tab, user, cursor, lowest) {
  const sync = await get();
  if (!sync || sync.tab !== tab || !["running", "paused"].includes(sync.state)) return null;
  const run = await runs.get(sync.run);
  if (!run || run.isEnded) return null;
  if (run.user && user && run.user !== user) {
    await stop("user");
    return null;
  }
  // The page that is about to be replaced may still scroll, further down than the sync has come.
  if (sync.isLoading) return null;
  const isBelow = lowest !== null && run.lowest !== "" && lowest < BigInt(run.lowest);
  if (typeof run.cursor === "string" && run.cursor !== cursor && !isBelow) {
    await update(() => ({ heardAt: Date.now() }));
    return null;
  }
  // X shows posts again, before it was expected.
  if (isWaiting(sync)) await update(() => ({ state: "running", why: "", until: 0 }));
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
 * @param {"gap" | "unread" | "empty"} why
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
  if (!sync || !run || Date.now() - Math.max(run.pageAt, sync.changedAt) <= IDLE_MS) return;
  // X's page did not even load.
  if (Math.max(run.pageAt, sync.heardAt) < sync.changedAt) await noteTrouble("down", 0, sync.tab);
  else await pause("idle");
}

/** @param {number} tab */
export async function noteClosedTab(tab) {
  const sync = await get();
  // A sync that waits for X opens another tab.
  if (sync?.tab === tab && ["running", "paused"].includes(sync.state) && !isWaiting(sync)) await stop("tab");
  await runs.endOfTab(sync?.run ?? "", tab);
}

/** After a restart of the browser, no tab is scrolled any more. */
export async function noteStart() {
  const sync = await get();
  const { browser_session: known } = await chrome.storage.session.get("browser_session");
  const session = await browserSession();
  if (!known) {
    const isOld = sync !== null && sync.browserSession !== session && ["running", "paused"].includes(sync.state);
    if (isOld && !isWaiting(sync)) await stop("tab");
    // Another tab may have its number now.
    if (isOld) await update(() => ({ tab: -1 }));
    await runs.endAll(sync?.run ?? "");
  }
  await wait();
}
