// Puts captured answers into the queue: pages into runs, changes as events.
// @ts-check

import "../shared/x.js";
import * as connection from "./connection.js";
import { findPost, readList, savedAt, shortly } from "./listing.js";
import { QueueFull, add } from "./queue.js";
import * as runs from "./runs.js";
import * as sync from "./sync.js";
import { inOrder } from "./turns.js";

const MAX_BYTES = 8 * 1024 * 1024 - 4_096;
const SHOWN = 2;
const UNKNOWN_EVERY_MS = 60_000;
const CHANGES = new Set(globalThis.bowerbirdX.changes);
const OPENED = new Set(globalThis.bowerbirdX.opened);

/**
 * Stores a captured answer. Answers are stored one after the other, in the order they came.
 * @param {Captured} captured
 * @param {number} tab
 * @returns {Promise<{isKept: boolean, isFull: boolean, isEnd: boolean}>}
 */
export function take(captured, tab) {
  return inOrder(() => store(captured, tab));
}

/**
 * Stores an answer that shows a post which the person saves.
 * @param {Captured} captured
 */
export function takeShown(captured) {
  return inOrder(async () => {
    // A list would become a visit of the bookmarks page.
    if (!OPENED.has(captured.operation) || !(await connection.get())) return;
    try {
      await storeSide(captured);
    } catch (error) {
      if (!(error instanceof QueueFull)) throw error;
    }
  });
}

/**
 * @param {Captured} captured
 * @param {number} tab
 */
async function store(captured, tab) {
  const dropped = { isKept: false, isFull: false, isEnd: false };
  if (!(await connection.get())) return dropped;
  await noteViewer(captured);
  let document;
  try {
    document = JSON.parse(captured.body);
  } catch {
    return dropped;
  }
  if (await isIgnored(captured, document)) return dropped;
  try {
    if (captured.operation === "Bookmarks") return await storeListed(captured, document, tab);
    if (CHANGES.has(captured.operation)) await storeChange(captured, document);
    else await storeSide(captured);
    return { ...dropped, isKept: true };
  } catch (error) {
    if (!(error instanceof QueueFull)) throw error;
    await sync.stopForFullQueue();
    return { ...dropped, isFull: true };
  }
}

/**
 * The name of the X account, so that a question about it can name it, and whether the page says it.
 * @param {Captured} captured
 */
async function noteViewer({ user, username }) {
  const { usernames = {}, is_viewer_unknown: wasUnknown = false } = await chrome.storage.local.get(["usernames", "is_viewer_unknown"]);
  if (wasUnknown !== !user) await chrome.storage.local.set({ is_viewer_unknown: !user });
  if (!user || !username) return;
  if (usernames[user] !== username) await chrome.storage.local.set({ usernames: { ...usernames, [user]: username } });
}

/**
 * @param {Captured} captured
 * @param {any} document
 */
async function isIgnored(captured, document) {
  const kept = await chrome.storage.local.get(["ignored_users", "reads_opened"]);
  const ignored = /** @type {string[]} */ (kept.ignored_users ?? []);
  if (ignored.includes(captured.user)) return true;
  return OPENED.has(captured.operation) && kept.reads_opened !== true && !isBookmark(captured, document);
}

/**
 * Whether the post that the person opened is one of their bookmarks.
 * @param {Captured} captured
 * @param {any} document
 */
function isBookmark({ variables }, document) {
  const opened = String(variables.focalTweetId ?? variables.tweetId ?? "");
  return findPost(document, opened)?.legacy.bookmarked === true;
}

/**
 * @param {Captured} captured
 * @param {any} document
 * @param {number} tab
 */
async function storeListed(captured, document, tab) {
  const cursorIn = String(captured.variables.cursor ?? "");
  const listed = readList(document, cursorIn);
  const request = `${captured.user} ${cursorIn}`;
  if (!listed.isKnown && (await isRepeated(request))) return { isKept: false, isFull: false, isEnd: false };
  const found = listed.posts.flatMap((post) => (post.index === null ? [] : [post.index]));
  const run = (await sync.runOf(tab, captured.user, cursorIn, lowestOf(found))) ?? (await runs.ofList(tab, captured.user, !cursorIn));
  if (listed.isKnown) await chrome.storage.local.remove("trouble");
  if (!run) return { isKept: false, isFull: false, isEnd: false };
  const lowest = run.lowest ? BigInt(run.lowest) : null;
  // The list goes down. A page that X shows again must not be counted again.
  const fresh = listed.posts.filter((post) => post.index !== null && (lowest === null || post.index < lowest));
  const low = lowestOf(lowest === null ? found : [lowest, ...found]);
  const isKept = await addPage(captured, run, fresh.length, {
    user: run.user || captured.user,
    seen: run.seen + fresh.length,
    lowest: low === null ? "" : String(low),
    // After an error of X, its page asks for the same part again.
    cursor: listed.cursor || (document?.errors ? run.cursor : null),
  });
  if (isKept) await chrome.storage.session.set({ unknown: listed.isKnown ? null : { request, at: Date.now() } });
  if (!cursorIn) await noteLatest(listed.posts.map((post) => shortly(post.result)));
  await sync.notePage(run.id, run.seen + fresh.length, savedAt(low === null ? "" : String(low)));
  if (listed.isEnd && isKept) {
    await runs.end(run.id, "end");
    await sync.noteEnd(run.id, "end");
  }
  return { isKept, isFull: false, isEnd: listed.isEnd };
}

/** @param {bigint[]} indexes @returns {bigint | null} */
function lowestOf(indexes) {
  return indexes.reduce((/** @type {bigint | null} */ a, b) => (a === null || b < a ? b : a), null);
}

/**
 * Whether the last page was no list and answered the same request. X's page asks again and again
 * after an error, and no two errors are equal: each has an id of its own.
 * @param {string} request
 */
async function isRepeated(request) {
  const { unknown } = await chrome.storage.session.get("unknown");
  return unknown?.request === request && Date.now() - unknown.at < UNKNOWN_EVERY_MS;
}

/** @param {Captured} captured */
async function storeSide(captured) {
  await addPage(captured, await runs.ofSide(captured.user), 0, {});
}

/**
 * @param {Captured} captured
 * @param {Run} run
 * @param {number} posts
 * @param {Partial<Run>} change
 */
async function addPage(captured, run, posts, change) {
  const address = `https://x.com/i/api/graphql/${captured.queryId}/${captured.operation}`;
  const head = {
    seq: run.nextSeq,
    op: captured.operation,
    format: "x.graphql",
    request_url: `${address}?variables=${encodeURIComponent(JSON.stringify(captured.variables))}`,
    captured_at: new Date(captured.at).toISOString(),
  };
  // The answer goes in as it came: the server reads what a newer X may have added.
  const text = `${JSON.stringify(head).slice(0, -1)},"payload":${captured.body}}`;
  const raw = new TextEncoder().encode(text);
  if (raw.byteLength > MAX_BYTES) return false;
  const packed = await gzip(raw);
  const moved = { ...run, ...change, nextSeq: run.nextSeq + 1, pages: run.pages + 1, pageAt: Date.now() };
  await add(
    {
      type: "page", run: run.id, user: moved.user, operation: captured.operation,
      body: packed, posts, bytes: packed.byteLength,
    },
    moved,
  );
  return true;
}

/** @param {Uint8Array<ArrayBuffer>} bytes @returns {Promise<ArrayBuffer>} */
function gzip(bytes) {
  return new Response(new Blob([bytes]).stream().pipeThrough(new CompressionStream("gzip"))).arrayBuffer();
}

/**
 * @param {Captured} captured
 * @param {any} document
 */
async function storeChange(captured, document) {
  const postId = String(captured.variables.tweet_id ?? "");
  const isAdded = captured.operation === "CreateBookmark";
  const done = isAdded ? document?.data?.tweet_bookmark_put : document?.data?.tweet_bookmark_delete;
  if (!/^[1-9][0-9]{0,18}$/.test(postId) || !done) return;
  /** @type {BookmarkEvent} */
  const event = { type: isAdded ? "added" : "removed", post_id: postId, at: new Date(captured.at).toISOString() };
  const result = isAdded && captured.shown ? postIn(captured.shown, postId) : null;
  if (result) {
    event.payload = { data: { tweetResult: { result } } };
    await noteLatest([shortly(result)]);
  }
  const bytes = JSON.stringify(event).length;
  await add({ type: "event", user: captured.user, event, posts: 1, bytes });
}

/**
 * @param {string} body
 * @param {string} postId
 */
function postIn(body, postId) {
  try {
    return findPost(JSON.parse(body), postId);
  } catch {
    return null;
  }
}

/** @param {(Post | null)[]} found */
async function noteLatest(found) {
  const { latest = [] } = await chrome.storage.local.get("latest");
  const posts = [...found.filter((post) => post !== null), .../** @type {Post[]} */ (latest)];
  const unique = posts.filter((post, at) => posts.findIndex((other) => other.text === post.text) === at);
  await chrome.storage.local.set({ latest: unique.slice(0, SHOWN) });
}
