// Reads as much of X's answers as the progress needs. The server reads the posts themselves.
// @ts-check

/** @param {any} value @returns {any[]} */
const list = (value) => (Array.isArray(value) ? value : []);

/** @param {any} value @returns {bigint | null} */
function index(value) {
  return /^[0-9]{1,19}$/.test(String(value)) ? BigInt(value) : null;
}

/** @param {any} document */
function instructionsOf(document) {
  for (const [name, value] of Object.entries(document?.data ?? {})) {
    if (!/^(bookmark_|search_by_raw_query)/.test(name)) continue;
    const holder = /** @type {any} */ (value)?.bookmarks_search_timeline ?? value;
    const found = holder?.timeline?.instructions ?? holder?.instructions;
    if (Array.isArray(found)) return found;
  }
  return null;
}

/**
 * @typedef {object} Listed
 * @property {{id: string, index: bigint | null, result: any}[]} posts
 * @property {boolean} isEnd whether the list ends with this page
 * @property {string} cursor what X's page asks for the next page with; empty if that is not known
 * @property {boolean} isKnown whether it is a list at all
 */

/**
 * A page without posts but with a cursor is not the end: X leaves out deleted posts.
 * @param {any} document
 * @param {string} cursorIn
 * @returns {Listed} nothing if X has changed its answers: the library finds out what they are
 */
export function readList(document, cursorIn) {
  const instructions = instructionsOf(document);
  if (!instructions) return { posts: [], isEnd: false, cursor: "", isKnown: false };
  let cursor = "";
  let stopsIfEmpty = false;
  let isTerminated = false;
  let entries = 0;
  let cursors = 0;
  const posts = [];
  for (const instruction of instructions) {
    if (instruction?.type === "TimelineTerminateTimeline") {
      isTerminated ||= ["Bottom", "TopAndBottom"].includes(instruction.direction);
    }
    for (const entry of [...list(instruction?.entries), instruction?.entry].filter(Boolean)) {
      entries += 1;
      const content = entry?.content;
      const item = content?.itemContent;
      const holder = content?.cursorType ? content : item;
      cursors += Number(typeof holder?.cursorType === "string");
      if (holder?.cursorType === "Bottom") {
        cursor = String(holder.value ?? "");
        stopsIfEmpty = (holder.stopOnEmptyResponse ?? item?.stopOnEmptyResponse) === true;
      }
      const result = item?.tweet_results?.result;
      const id = /(?:^|-)(?:tweet|tombstone)-([0-9]{1,19})$/.exec(String(entry.entryId ?? ""))?.[1] ?? result?.rest_id;
      if (id) posts.push({ id, index: index(entry.sortIndex), result });
    }
  }
  const isRepeated = cursor === cursorIn;
  // An unknown entry may be a cursor or a post.
  const isWhole = entries > 0 && entries === cursors + posts.length && !document.errors;
  const isEnd = isTerminated || (isWhole && (!cursor || isRepeated || (stopsIfEmpty && !posts.length)));
  return { posts, isEnd, cursor, isKnown: true };
}

/**
 * The moment of saving that a sortIndex contains.
 * @param {string} sortIndex
 */
export function savedAt(sortIndex) {
  return sortIndex ? Number(BigInt(sortIndex) >> 20n) : 0;
}

/** @param {any} result @returns {Post | null} */
export function shortly(result) {
  const tweet = result?.tweet ?? result;
  const user = tweet?.core?.user_results?.result;
  const text = tweet?.note_tweet?.note_tweet_results?.result?.text ?? tweet?.legacy?.full_text;
  if (typeof text !== "string") return null;
  const author = user?.core?.name ?? user?.legacy?.name ?? "";
  return { text: plain(text).slice(0, 160), author: String(author).slice(0, 80) };
}

/** @param {string} text X escapes these three, and shortens links */
function plain(text) {
  const unescaped = text.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&amp;", "&");
  return unescaped.replace(/https:\/\/t\.co\/\S+/g, "").trim();
}

/**
 * Finds a post in any answer that shows it.
 * @param {any} value
 * @param {string} postId
 * @param {number} [depth]
 * @returns {any}
 */
export function findPost(value, postId, depth = 0) {
  if (typeof value !== "object" || value === null || depth > 24) return null;
  if (value.rest_id === postId && value.legacy) return value;
  for (const inner of Object.values(value)) {
    const found = findPost(inner, postId, depth + 1);
    if (found) return found;
  }
  return null;
}
