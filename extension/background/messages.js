// Answers the messages of the popup and of our scripts in X's pages.
// @ts-check

import { NotConnected } from "./addresses.js";
import * as badge from "./badge.js";
import { take } from "./captures.js";
import * as connection from "./connection.js";
import * as queue from "./queue.js";
import { labels, save } from "./saving.js";
import * as sender from "./sender.js";
import { Refused, Unreachable } from "./server.js";
import * as sync from "./sync.js";
import { inOrder, watch } from "./turns.js";
import { confirmRemovals, refresh, view } from "./view.js";

const TROUBLES = new Set(["limit", "signed_out", "locked", "down"]);

/** @typedef {(message: any, tab: number | undefined) => Promise<unknown>} Handler */

/** What our scripts in a page may ask for. @type {Record<string, Handler>} */
const FROM_PAGES = {
  captured: async ({ captured }, tab = -1) => {
    const taken = await take(captured, tab);
    if (taken.isKept) {
      watch();
      sender.drain();
      badge.show();
    }
    return taken;
  },
  lost: async () => {
    await queue.noteRefused("This browser could not store an answer of X. Open the post or the bookmarks page again.");
    await badge.show();
  },
  panel: async (_, tab) => {
    const all = await view();
    // It says how many posts are safe.
    if (all.unread && !all.known) await refresh();
    return panelOf(all.unread && !all.known ? await view() : all, tab);
  },
  // In order: a page of the list that arrived before belongs to the visit that ends here.
  start: ({ kind }, tab) => inOrder(async () => sync.start(kind === "full" ? "full" : await usualKind(), tab)),
  pause: () => inOrder(() => sync.pause("you")),
  resume: (_, tab) => inOrder(() => sync.resume(tab)),
  // In order: a sync that opens a tab does not know its number before.
  cursor: (_, tab) => inOrder(() => sync.placeIn(tab)),
  trouble: ({ kind, until }, tab) => inOrder(async () => {
    if (TROUBLES.has(kind) && (await connection.get())) await sync.noteTrouble(kind, Number(until) || 0, tab);
  }),
  left: (_, tab) => inOrder(() => sync.noteLeft(tab)),
  stalled: async (_, tab) => {
    await inOrder(() => sync.noteSilence(tab));
    await badge.show();
    await sender.drain();
  },
  save: ({ link, labels: names, shown, tab: from }, tab) => save(link, names, tab ?? from, shown),
};

/** What only the popup may ask for. @type {Record<string, Handler>} */
const FROM_POPUP = {
  view: () => view(),
  labels: () => labels(),
  refresh: async () => { await refresh(); return view(); },
  connect: async ({ text }) => connect(String(text)),
  disconnect: async () => {
    // In order: what arrived before is forgotten, and what arrives later finds no library.
    await inOrder(() => sender.between(async () => {
      await connection.forget();
      await queue.clear();
    }));
    await badge.show();
    return view();
  },
  stop: async () => { await inOrder(() => sync.stop("you")); await sender.drain(); },
  retry: () => sender.retryNow(),
  dismiss: () => chrome.storage.local.remove("refused"),
  confirm_user: async () => decide("confirmed_users"),
  ignore_user: async () => decide("ignored_users"),
  take_user: async ({ user }) => {
    const { ignored_users: ignored = [] } = await chrome.storage.local.get("ignored_users");
    await chrome.storage.local.set({ ignored_users: ignored.filter((/** @type {string} */ one) => one !== user) });
  },
  confirm_removals: () => confirmRemovals(),
  read_opened: ({ reads }) => chrome.storage.local.set({ reads_opened: reads === true }),
};

/**
 * @param {any} message
 * @param {chrome.Sender} from
 * @returns {Promise<unknown>}
 */
export async function answer(message, from) {
  if (from.id !== chrome.runtime.id) throw new Error("Unknown sender.");
  const isPage = !String(from.url ?? "").startsWith(chrome.runtime.getURL(""));
  const handler = FROM_PAGES[message?.type] ?? (isPage ? undefined : FROM_POPUP[message?.type]);
  if (!handler) throw new Error("Unknown message.");
  return handler(message, isPage ? from.tab?.id : undefined);
}

/** @returns {Promise<RunKind>} the first sync reads everything, later ones what is new */
async function usualKind() {
  const { has_read_all: hasReadAll } = await chrome.storage.local.get("has_read_all");
  return hasReadAll === true ? "incremental" : "full";
}

/**
 * The page's scripts get no more than the panel shows.
 * @param {View} all
 * @param {number | undefined} tab
 */
function panelOf(all, tab) {
  const { state, waiting, isFull, sync: synced, perMinute, hasReadAll, list, isComplete, unread, trouble } = all;
  const isHere = synced !== null && synced.tab === tab;
  const hasProblem = all.problem !== null;
  const safe = all.known?.posts ?? 0;
  return { state, waiting, isFull, sync: synced, perMinute, hasProblem, hasReadAll, list, isComplete, unread, trouble, safe, isHere };
}

/** @param {string} text */
async function connect(text) {
  try {
    const redeemed = await connection.redeem(text);
    await inOrder(() => sender.between(() => connection.keep(redeemed)));
  } catch (error) {
    return { error: explain(error) };
  }
  // Everything that waited for a library, or for a new token of the same one.
  await sender.unblock();
  await refresh();
  await badge.show();
  return { error: "" };
}

/** @param {unknown} error @returns {string} */
function explain(error) {
  if (error instanceof NotConnected) return error.message;
  if (error instanceof Refused && error.status === 404) {
    return "The code is not valid any more. A code works once, for ten minutes. Make a new one.";
  }
  if (error instanceof Refused && error.status === 429) {
    const minutes = Math.max(1, Math.ceil(error.retryAfterS / 60));
    return `Too many tries. Try again in ${minutes} ${minutes === 1 ? "minute" : "minutes"}.`;
  }
  if (error instanceof Unreachable) return "The library does not answer at this address.";
  return error instanceof Error ? error.message : String(error);
}

/** @param {"confirmed_users" | "ignored_users"} list */
async function decide(list) {
  const { problem } = await sender.state();
  const user = problem?.kind === "other_user" ? problem.user : undefined;
  if (user === undefined) return;
  const stored = await chrome.storage.local.get(list);
  await chrome.storage.local.set({ [list]: [...new Set([...(stored[list] ?? []), user])] });
  if (list === "ignored_users") await queue.removeOf(user);
  await sender.unblock();
  await badge.show();
}
