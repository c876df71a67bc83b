// What the popup, the panel and the badge show.
// @ts-check

import * as connection from "./connection.js";
import * as queue from "./queue.js";
import * as sender from "./sender.js";
import { get, post } from "./server.js";
import * as sync from "./sync.js";
import * as unread from "./unread.js";

/** @returns {Promise<View>} */
export async function view() {
  const library = await connection.get();
  const [waiting, fullness, sending, synced, unreadPages, trouble, kept] = await Promise.all([
    queue.totals(),
    queue.fullness(),
    sender.state(),
    sync.get(),
    unread.get(),
    sync.trouble(),
    chrome.storage.local.get(["known", "refused", "last_sent_at", "has_read_all", "list", "latest", "reads_opened", "usernames", "ignored_users", "is_viewer_unknown"]),
  ]);
  const isFull = fullness >= 1;
  return {
    state: stateOf(Boolean(library), sender.isAlarming(sending) || isFull, synced),
    host: library ? new URL(library.address).host : "",
    email: library?.email ?? "",
    libraryUrl: library?.library_url ?? "",
    keysUrl: library?.keys_url ?? "",
    waiting,
    isFull,
    sync: synced,
    perMinute: rate(synced),
    problem: sending.problem,
    retryAt: sending.retryAt,
    refused: kept.refused ?? null,
    known: kept.known ?? null,
    lastSentAt: kept.last_sent_at ?? 0,
    hasReadAll: kept.has_read_all === true,
    list: kept.list ?? null,
    isComplete: kept.list?.isProved === true && !waiting.items && !sending.problem && !unreadPages && !trouble,
    unread: unreadPages,
    trouble,
    latest: kept.latest ?? [],
    readsOpened: kept.reads_opened === true,
    isViewerUnknown: kept.is_viewer_unknown === true,
    userName: nameOf(kept.usernames, sending.problem?.user ?? ""),
    ignored: (kept.ignored_users ?? []).map((/** @type {string} */ user) => ({ user, name: nameOf(kept.usernames, user) })),
  };
}

/**
 * @param {Record<string, string> | undefined} names
 * @param {string} user
 */
const nameOf = (names, user) => (names?.[user] ? `@${names[user]} (${user})` : user);

/**
 * @param {boolean} isConnected
 * @param {boolean} isStuck
 * @param {Sync | null} synced
 * @returns {View["state"]}
 */
function stateOf(isConnected, isStuck, synced) {
  if (!isConnected) return "off";
  if (isStuck) return "error";
  if (synced?.state === "running") return "syncing";
  return synced && synced.state !== "done" ? "paused" : "done";
}

/** @param {Sync | null} synced */
function rate(synced) {
  if (!synced) return 0;
  const ran = synced.ranMs + (synced.state === "running" ? Date.now() - synced.changedAt : 0);
  return ran > 5_000 ? Math.round((synced.seen * 60_000) / ran) : 0;
}

/** Tells the library that the posts which are missing on X were removed there. */
export async function confirmRemovals() {
  const library = await connection.get();
  await refresh();
  const { known } = await chrome.storage.local.get("known");
  for (const run of library ? (known?.heldRuns ?? []) : []) {
    await post(/** @type {Connection} */ (library), `/runs/${encodeURIComponent(run)}/finish`, { reason: "end", confirm_removals: true });
  }
  await refresh();
}

/** Asks the library how many posts it has, and whether removals wait for a confirmation. */
export async function refresh() {
  const library = await connection.get();
  if (!library) return;
  const isCurrent = async () => (await connection.get())?.token === library.token;
  try {
    const status = await get(library, "/status");
    /** @type {{run_id: string, posts: number}[]} */
    const removals = status.held_removals ?? [];
    const held = removals.reduce((sum, one) => sum + Number(one.posts), 0);
    const heldRuns = removals.map((one) => String(one.run_id));
    /** @type {Known} */
    const known = { posts: Number(status.totals?.posts) || 0, held, heldRuns, boundUser: String(status.source_user_id ?? ""), at: Date.now() };
    if (await isCurrent()) await chrome.storage.local.set({ known });
  } catch (error) {
    // The queue tells the person what is wrong. A token without a queue is checked here.
    if (await isCurrent()) await sender.noteFailure(error);
  }
}
