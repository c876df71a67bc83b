// Takes what hook.js copied, checks it, and hands it to the background worker.
// Any script of the page can send such messages, so nothing in them is trusted.
// @ts-check
"use strict";
{
  const OPERATIONS = new Set(globalThis.bowerbirdX.operations);
  const OPENED = new Set(globalThis.bowerbirdX.opened);
  const POSTS = new Set([...OPENED, "Bookmarks"]);
  const PATH = /^\/i\/api\/graphql\/([A-Za-z0-9_-]{1,64})\/[A-Za-z]+(?:_?[vV][0-9]+)?\/?$/;
  // Everything else in the variables is left out, such as the words of a search.
  const VARIABLES = ["cursor", "count", "bookmark_collection_id", "tweet_id", "tweetId", "focalTweetId"];
  const MAX_BODY = 8_000_000;
  const MAX_PER_MINUTE = 1_200;
  // A person opens fewer posts; a page that makes them up must not fill the queue in minutes.
  const MAX_OPENED_PER_MINUTE = 60;
  const REMEMBERED = 6;
  const RETRIES = [300, 1_500, 5_000, 15_000];

  /** Answers that show single posts: a post that is saved later is found in them. @type {Captured[]} */
  let recent = [];
  let minute = 0;
  let taken = 0;
  let takenOpened = 0;
  /** The last answer of each operation. @type {Map<string, string>} */
  const last = new Map();
  let delivering = Promise.resolve();

  const events = new EventTarget();
  globalThis.bowerbirdEvents = events;
  globalThis.bowerbirdShown = (postId, operations = POSTS) =>
    recent.find((one) => operations.has(one.operation) && one.body.includes(`"${postId}"`)) ?? null;
  globalThis.bowerbirdOpened = (postId) => globalThis.bowerbirdShown(postId, OPENED);

  /** @param {unknown} value @returns {Record<string, unknown>} */
  const record = (value) =>
    typeof value === "object" && value !== null && !Array.isArray(value)
      ? /** @type {Record<string, unknown>} */ (value)
      : {};

  /** @param {string} text @returns {Record<string, unknown>} */
  const parsed = (text) => {
    try {
      return record(JSON.parse(text));
    } catch {
      return {};
    }
  };

  /**
   * @param {URL} url
   * @param {string} sent
   */
  const variablesOf = (url, sent) => {
    const asked = url.searchParams.get("variables");
    const all = asked ? parsed(asked) : record(parsed(sent).variables);
    /** @type {Record<string, string | number>} */
    const kept = {};
    for (const name of VARIABLES) {
      const value = all[name];
      if (typeof value === "string" && value.length <= 4_000) kept[name] = value;
      if (typeof value === "number") kept[name] = value;
    }
    return kept;
  };

  /** @param {unknown} message @returns {Captured | null} */
  const checked = (message) => {
    const { operation, url, sent, body, user, username, at } = record(message);
    if (typeof operation !== "string" || !OPERATIONS.has(operation)) return null;
    if (typeof url !== "string" || url.length > 64_000 || typeof sent !== "string") return null;
    if (typeof body !== "string" || body.length > MAX_BODY || !/^\s*[[{]/.test(body)) return null;
    if (typeof user !== "string" || !/^[0-9]{0,20}$/.test(user)) return null;
    let address;
    try {
      address = new URL(url);
    } catch {
      return null;
    }
    const path = PATH.exec(address.pathname);
    if (address.origin !== location.origin || !path?.[1] || sent.length > 20_000) return null;
    const now = Date.now();
    const moment = typeof at === "number" && Math.abs(now - at) < 60_000 ? at : now;
    return {
      operation,
      queryId: path[1],
      variables: variablesOf(address, sent),
      body,
      user,
      username: typeof username === "string" && /^[A-Za-z0-9_]{1,20}$/.test(username) ? username : "",
      at: moment,
    };
  };

  /** A page that sends messages in a loop must not fill the queue. */
  const isTooMuch = (/** @type {string} */ operation) => {
    const now = Math.floor(Date.now() / 60_000);
    if (now !== minute) [minute, taken, takenOpened] = [now, 0, 0];
    taken += 1;
    takenOpened += Number(OPENED.has(operation));
    return taken > MAX_PER_MINUTE || (OPENED.has(operation) && takenOpened > MAX_OPENED_PER_MINUTE);
  };

  /** An opened post that comes again as it was says nothing new. @param {Captured} captured */
  const isRepeated = ({ operation, body }) => {
    if (!OPENED.has(operation)) return false;
    const isSame = last.get(operation) === body;
    last.set(operation, body);
    return isSame;
  };

  /** @param {number} ms */
  const pause = (ms) => new Promise((resolve) => { setTimeout(resolve, ms); });

  /** @param {Captured} captured */
  const deliver = async (captured) => {
    for (const wait of [...RETRIES, 0]) {
      try {
        const answer = record(await chrome.runtime.sendMessage({ type: "captured", captured }));
        // Anything else means that the worker failed, or was stopped, before it had stored the answer.
        if (typeof answer.isKept === "boolean") {
          const detail = { operation: captured.operation, ...answer };
          events.dispatchEvent(new CustomEvent("captured", { detail }));
          return;
        }
      } catch {
        // The worker is being started, or the extension was updated: then the page needs a reload.
        if (!chrome.runtime?.id) return;
      }
      await pause(wait);
    }
    chrome.runtime.sendMessage({ type: "lost" }).catch(() => {});
  };

  /**
   * The post of a change, if an earlier answer has it.
   * @param {Captured} change
   */
  const withPost = (change) => {
    const shown = globalThis.bowerbirdShown(String(change.variables.tweet_id ?? ""));
    return shown && change.operation === "CreateBookmark" ? { ...change, shown: shown.body } : change;
  };

  // For a post that is saved from the popup or the menu.
  chrome.runtime.onMessage.addListener((message, _, reply) => {
    if (message?.type === "shown") reply(globalThis.bowerbirdOpened(String(message.post)));
    return false;
  });

  window.addEventListener("message", (event) => {
    if (event.source !== window || event.origin !== location.origin) return;
    const message = record(event.data);
    if (message.bowerbird !== "captured") return;
    event.stopImmediatePropagation();
    const captured = checked(message.captured);
    if (!captured || isRepeated(captured) || isTooMuch(captured.operation)) return;
    if (POSTS.has(captured.operation)) recent = [captured, ...recent].slice(0, REMEMBERED);
    const complete = withPost(captured);
    // One after the other, in the order of the page.
    delivering = delivering.then(() => deliver(complete));
  });
}
