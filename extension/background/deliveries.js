// How each kind of item is sent, and what the answer changes.
// @ts-check

import * as runs from "./runs.js";
import { Refused, post } from "./server.js";
import * as sync from "./sync.js";
import * as unread from "./unread.js";

const MAX_ATTEMPTS = 5;
// The run is not there any more, is finished, or has another page with this number.
const RESTARTS = new Set([404, 409, 422]);

/** Something was arranged: the same item can be sent now. */
export class Again extends Error {}

/** The library does not start a run. Without one no page can be sent, so the pages wait. */
export class NotStarted extends Error {
  /** @param {Refused} refused */
  constructor(refused) {
    super(refused.message);
    this.retryAfterS = refused.retryAfterS;
  }
}

/** The person has to confirm that the posts of another X account go to this library. */
export class OtherUser extends Error {
  /** @param {string} sentence @param {string} user */
  constructor(sentence, user) {
    super(sentence);
    this.user = user;
  }
}

/**
 * @param {Connection} library
 * @param {Item} item
 * @returns {Promise<string>} a sentence for the person, or nothing
 */
export async function deliver(library, item) {
  if (item.type === "save") return save(library, item);
  if (item.type === "page") await sendPage(library, item);
  else if (item.type === "finish") await finish(library, item);
  else await sendEvent(library, item);
  return "";
}

/**
 * @param {Connection} library
 * @param {Item & SaveItem} item
 */
async function save(library, { link, labels, key }) {
  const named = labels.length ? { labels } : {};
  try {
    checkSaved(await post(library, "/bookmarks", { links: [link], ...named }, key));
    return "";
  } catch (error) {
    // On some plans labels cannot be given here. The post itself is always taken.
    if (!(error instanceof Refused) || error.status !== 402 || !labels.length) throw error;
    checkSaved(await post(library, "/bookmarks", { links: [link] }, `${key}.plain`));
    return `Saved without labels. ${error.message}`;
  }
}

/** @param {any} data what became of each link */
function checkSaved(data) {
  const failed = data?.results?.find?.((/** @type {any} */ one) => one?.ok === false);
  if (!failed) return;
  const { error } = failed;
  const sentence = typeof error === "string" ? error : (error?.message ?? error?.error ?? "The library refused the post.");
  throw new Refused(400, String(error?.code ?? ""), String(sentence), 0);
}

/**
 * @param {Connection} library
 * @param {Item & PageItem} item
 */
async function sendPage(library, item) {
  const run = await runs.get(item.run);
  // The run was forgotten with the library that it belonged to.
  if (!run) return;
  const runId = run.runId || (await start(library, run, item.user));
  let answer;
  try {
    answer = await post(library, `/runs/${runId}/pages`, item.body);
  } catch (error) {
    if (error instanceof Refused && error.isFinal && RESTARTS.has(error.status) && run.attempt < MAX_ATTEMPTS) {
      await runs.update(run.id, (now) => ({ runId: "", attempt: now.attempt + 1 }));
      throw new Again();
    }
    throw error;
  }
  const inserted = Number(answer?.inserted) || 0;
  const isUnread = answer?.is_unknown_form === true;
  await runs.update(run.id, (now) => ({
    inserted: now.inserted + inserted,
    isStopped: now.isStopped || answer?.stop === true,
    isUnread: now.isUnread || isUnread,
  }));
  await unread.note(item.operation, run.id, isUnread, answer?.is_kept === true);
  await sync.noteInserted(run.id, inserted);
  if (run.role !== "side") await noteListed(run, answer);
  if (answer?.stop !== true || run.role === "side") return;
  const reason = answer.stop_reason === "caught_up" ? "caught_up" : "end";
  await runs.settle(run.tab, true);
  await runs.end(run.id, reason);
  await sync.noteEnd(run.id, reason);
}

/**
 * @param {Connection} library
 * @param {Pick<Run, "id" | "kind" | "attempt" | "refusals">} run
 * @param {string} user
 * @returns {Promise<string>} the server's id
 */
async function start(library, run, user) {
  const body = {
    source: "x",
    kind: run.kind,
    source_user_id: user,
    client: `Bowerbird extension ${chrome.runtime.getManifest().version}`,
    confirm_source_user: await isConfirmed(user),
  };
  let started;
  try {
    // With a confirmation it is another request, so it needs another key.
    const key = `${run.id}.${run.attempt}.${run.refusals ?? 0}${body.confirm_source_user ? ".confirmed" : ""}`;
    started = await post(library, "/runs", body, key);
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    if (error.code === "SOURCE_USER_MISMATCH") throw new OtherUser(error.message, user);
    if (!error.isFinal) throw error;
    // The library gives the same answer to the same key, so the next try needs another one.
    await runs.update(run.id, (now) => ({ refusals: (now.refusals ?? 0) + 1 }));
    // Another body was sent with this key before, for example by an older version of the extension.
    if (error.status === 422 && (run.refusals ?? 0) < MAX_ATTEMPTS) throw new Again();
    throw new NotStarted(error);
  }
  await runs.update(run.id, () => ({ runId: String(started.run_id) }));
  await noteUser(user);
  if (started.stop_below_sort_index !== null) await chrome.storage.local.set({ has_read_all: true });
  return String(started.run_id);
}

/** @param {LastList} list */
async function noteList(list) {
  await chrome.storage.local.set({ list });
}

/**
 * A list that was read to its end stays so if somebody opens it and sees new bookmarks above known ones.
 * @param {Run} run
 * @param {any} answer
 */
async function noteListed(run, answer) {
  const { list } = await chrome.storage.local.get("list");
  const isConnected = run.role === "list" && answer?.inserted < answer?.received && !answer?.unreadable;
  if (!list?.isProved || !isConnected) await noteList({ run: run.id, posts: run.seen, isProved: false });
}

/** @param {string} user */
async function isConfirmed(user) {
  const { confirmed_users: confirmed = [] } = await chrome.storage.local.get("confirmed_users");
  return /** @type {string[]} */ (confirmed).includes(user);
}

/** @param {string} user the X account that the server now takes the events of this device for */
async function noteUser(user) {
  if (user) await chrome.storage.local.set({ bound_user: user });
}

/**
 * @param {Connection} library
 * @param {string} runId
 * @param {EndReason} reason
 * @returns {Promise<any>} null if the library does not know the run any more, or has finished it
 */
async function finishIfKnown(library, runId, reason) {
  try {
    return await post(library, `/runs/${runId}/finish`, { reason });
  } catch (error) {
    if (error instanceof Refused && error.isFinal && (error.status === 404 || error.status === 409)) return null;
    throw error;
  }
}

/**
 * Whether the sync went on after this interruption: the end of the run comes later.
 * @param {Run} run
 * @param {FinishItem} item
 */
function isContinued(run, { reason, ends }) {
  return reason === "interrupted" && (!run.isEnded || (run.ends ?? 0) !== (ends ?? 0));
}

/**
 * @param {Connection} library
 * @param {Item & FinishItem} item
 */
async function finish(library, item) {
  const run = await runs.get(item.run);
  if (!run || isContinued(run, item)) return;
  let answer;
  try {
    // Otherwise the library has none of its pages.
    answer = run.runId ? await finishIfKnown(library, run.runId, item.reason) : null;
  } catch (error) {
    if (error instanceof Refused && error.isFinal) await forgetIfOver(item);
    throw error;
  }
  if (answer?.is_held) {
    const { known } = await chrome.storage.local.get("known");
    const held = Number(answer.removed_candidates) - Number(answer.removed);
    await chrome.storage.local.set({ known: { posts: 0, boundUser: "", at: 0, ...known, held } });
  }
  const isRead = item.reason === "caught_up" || item.reason === "end";
  if (answer && run.kind === "full" && item.reason === "end") {
    await chrome.storage.local.set({ has_read_all: answer.proved_end === true });
    if (answer.proved_end === false) await sync.noteGap(run.id, run.isUnread ? "unread" : run.seen ? "gap" : "empty");
  } else if (answer && isRead && run.isUnread) {
    await sync.noteGap(run.id, "unread");
  }
  // The library proves only whole lists. That it knows the rest was its own answer to a page.
  const isKnown = run.isStopped && !run.isUnread;
  if (answer && isRead && run.isFromTop && (run.kind === "full" ? answer.proved_end === true : isKnown)) {
    await noteList({ run: run.id, posts: run.seen, isProved: true });
  }
  await forgetIfOver(item);
}

/**
 * A sync may go on while the library answers. Then the pages that wait belong to the same run.
 * @param {FinishItem} item
 */
async function forgetIfOver(item) {
  // First: a sync that is done has ended its run before.
  const synced = await sync.get();
  const run = await runs.get(item.run);
  const canGoOn = item.reason === "interrupted" && synced?.run === item.run && synced.state !== "done";
  if (run && !canGoOn && !isContinued(run, item)) await runs.forget(run.id);
}

/**
 * @param {Connection} library
 * @param {Item & EventItem} item
 */
async function sendEvent(library, item) {
  const { bound_user: bound = "" } = await chrome.storage.local.get("bound_user");
  // Events do not name their X account: the server takes them for the account of the last run.
  if (item.user && item.user !== bound) await bind(library, item.user);
  await post(library, "/events", [item.event]);
}

/**
 * @param {Connection} library
 * @param {string} user
 */
async function bind(library, user) {
  const run = await runs.ofSide(user);
  if (run.runId) await finishIfKnown(library, run.runId, "end");
  const next = await runs.update(run.id, (now) => ({ runId: "", attempt: now.attempt + (now.runId ? 1 : 0) }));
  if (next) await start(library, next, user);
}
