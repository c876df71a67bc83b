// Takes what hook.js copied, checks it, and hands it to the background worker.
// Any script of the page can send such messages, so nothing in them is trusted.
// @ts-check
"use strict";
{
  const OPERATIONS = new Set(globalThis.bowerbirdX.operations);
  const OPENED = new Set(globalThis.bowerbirdX.opened);
  const PATH = /^\/i\/api\/graphql\/([A-Za-z0-9_-]{1,64})\/[A-Za-z]+(?:_?[vV][0-9]+)?\/?$/;
  // Everything else in the variables is left out, such as the words of a search.
  const VARIABLES = ["cursor", "count", "bookmark_collection_id", "tweet_id", "tweetId", "focalTweetId"];
  const MAX_BODY = 8_000_000;
  const MAX_PER_MINUTE = 1_200;
  // A person opens fewer posts; a page that makes them up must not fill the queue in minutes.
  const MAX_OPENED_PER_MINUTE = 60;
  const REMEMBERED = 6;
  const RETRIES = [300, 1_500, 5_000, 15_000];
  // The numbers of X's errors.
  const SIGNED_OUT = [32, 89, 215, 239, 353];
  const LOCKED = [63, 64, 326];

  /** The posts that the person opened last. @type {Captured[]} */
  let recent = [];
  let minute = 0;
  let taken = 0;
  let takenOpened = 0;
  /** The last answer of each operation. @type {Map<string, string>} */
  const last = new Map();
  let delivering = Promise.resolve();

  const events = new EventTarget();
  globalThis.bowerbirdEvents = events;
  globalThis.bowerbirdOpened = (postId) => recent.find((one) => one.body.includes(`"${postId}"`)) ?? null;

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
    const { operation, url, sent, body, shown, user, username, at } = record(message);
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
      ...(typeof shown === "string" && shown.length <= MAX_BODY ? { shown } : {}),
    };
  };

  /**
   * Why X shows no list.
   * @param {number} status
   * @param {string} body
   * @returns {TroubleKind | null}
   */
  const troubleOf = (status, body) => {
    const { errors, data } = body.length <= 20_000 && body.includes('"errors"') ? parsed(body) : {};
    const reported = Array.isArray(errors) ? errors.map(record) : [];
    const isGood = status >= 200 && status <= 299;
    // X also reports errors beside a list.
    if (isGood && (!reported.length || Object.values(record(data)).some(Boolean))) return null;
    const has = (/** @type {number[]} */ codes) => reported.some(({ code }) => codes.includes(Number(code)));
    const says = (/** @type {RegExp} */ words) => reported.some(({ message }) => words.test(String(message)));
    if (status === 429 || has([88])) return "limit";
    if (has(LOCKED) || says(/suspended|locked/i)) return "locked";
    if (status === 401 || status === 403 || has(SIGNED_OUT)) return "signed_out";
    return status >= 500 || isGood ? "down" : null;
  };

  /**
   * @param {unknown} message
   * @returns {{kind: TroubleKind, until: number} | null}
   */
  const troubleIn = (message) => {
    const { operation, status, resetsAt, body } = record(message);
    if (operation !== "Bookmarks" || typeof status !== "number" || typeof body !== "string") return null;
    const kind = troubleOf(status, body);
    return kind && { kind, until: kind === "limit" ? Number(resetsAt) * 1_000 || 0 : 0 };
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

  /**
   * Asks the worker, and asks again if it was stopped before it answered.
   * @param {Record<string, unknown>} message
   * @param {(answer: any) => boolean} isAnswer
   */
  const ask = async (message, isAnswer = () => true) => {
    for (const wait of [...RETRIES, 0]) {
      try {
        const answer = await chrome.runtime.sendMessage(message);
        if (isAnswer(answer)) return answer;
      } catch {
        // The worker is being started, or the extension was updated: then the page needs a reload.
        if (!chrome.runtime?.id) return null;
      }
      await pause(wait);
    }
    return null;
  };
  globalThis.bowerbirdAsk = ask;

  /** @param {Captured} captured */
  const deliver = async (captured) => {
    // Anything else means that the worker failed, or was stopped, before it had stored the answer.
    const answer = await ask({ type: "captured", captured }, (one) => typeof one?.isKept === "boolean");
    if (answer) events.dispatchEvent(new CustomEvent("captured", { detail: { operation: captured.operation, ...answer } }));
    else if (chrome.runtime?.id) chrome.runtime.sendMessage({ type: "lost" }).catch(() => {});
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
    const trouble = troubleIn(message.captured);
    const isRefused = Number(record(message.captured).status) >= 400;
    if (!trouble && (!captured || isRefused || isRepeated(captured))) return;
    if (isTooMuch(captured?.operation ?? "")) return;
    if (captured && OPENED.has(captured.operation)) recent = [captured, ...recent].slice(0, REMEMBERED);
    // One after the other, in the order of the page.
    delivering = delivering.then(async () => {
      if (captured && !isRefused) await deliver(captured);
      if (trouble) await ask({ type: "trouble", ...trouble });
    });
  });

  // A sync that goes on in this tab. X's page has not asked for its list yet, or for its beginning.
  globalThis.bowerbirdPlaced = ask({ type: "cursor" }, (cursor) => typeof cursor === "string").then((cursor) => {
    if (cursor) window.postMessage({ bowerbird: "continue", cursor }, location.origin);
  });
}
