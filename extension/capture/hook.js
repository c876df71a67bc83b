// Runs in the page's own world, before its scripts. Copies the answers about bookmarks that X's
// page asked for; the page gets its answer as if this script did not exist. It sends no request,
// and changes one thing in the page's own: a sync that goes on lets X's page ask for the part of
// the list where it stopped. Never reads request headers, cookies or storage.
// @ts-check
"use strict";
{
  // The same names as in shared/x.js: Chromium loads a script into only one world of a page.
  // X adds versions to them.
  const OPERATIONS = new Set([
    "Bookmarks", "BookmarkFolderTimeline", "BookmarkSearchTimeline", "BookmarkFoldersSlice",
    "CreateBookmark", "DeleteBookmark", "TweetDetail", "TweetResultByRestId",
  ]);
  const PATH = /^\/i\/api\/graphql\/[^/]+\/([A-Za-z]+?)(?:_?[vV][0-9]+)?\/?$/;
  const CHANGES = new Set(["CreateBookmark", "DeleteBookmark"]);
  const MAX_ANSWER = 8_000_000;
  const MAX_REQUEST = 20_000;
  // About 500 posts.
  const MAX_SEEN = 8_000_000;

  /**
   * A request of X's page. The operation is empty if it is none of those above.
   * @typedef {{operation: string, name: string, url: string, isMoved: boolean}} Asked
   * @param {unknown} address
   * @returns {Asked | null}
   */
  const wanted = (address) => {
    const text = String(address);
    // Most requests end here, before anything is parsed.
    if (!text.includes("/i/api/graphql/")) return null;
    try {
      const url = new URL(text, location.href);
      const name = PATH.exec(url.pathname)?.[1] ?? "";
      const operation = OPERATIONS.has(name) ? name : "";
      const isMoved = operation === "Bookmarks" && isContinued(url);
      return name ? { operation, name, url: url.href, isMoved } : null;
    } catch {
      return null;
    }
  };

  /** Where the sync goes on, and the place in the list that X's page asks for instead. */
  let [goesOnAt, asksFor] = ["", ""];

  /** Leads a request for the second page to where the sync goes on. @param {URL} url */
  const isContinued = (url) => {
    if (!goesOnAt) return false;
    const variables = JSON.parse(url.searchParams.get("variables") ?? "{}");
    const { cursor } = variables;
    // The first page of the list is the page's own.
    if (!cursor || (asksFor && asksFor !== cursor)) return false;
    asksFor = cursor;
    url.searchParams.set("variables", JSON.stringify({ ...variables, cursor: goesOnAt }));
    return true;
  };

  window.addEventListener("message", (event) => {
    if (event.source !== window || event.data?.bowerbird !== "continue") return;
    event.stopImmediatePropagation();
    goesOnAt = String(event.data.cursor);
  });

  /** Answers that show posts, the latest first. They stay here until one of their posts is saved. @type {string[]} */
  const seen = [];
  let seenSize = 0;

  /** @param {string} body */
  const remember = (body) => {
    if (body.length > MAX_SEEN || !body.includes('"rest_id"')) return;
    seen.unshift(body);
    seenSize += body.length;
    while (seenSize > MAX_SEEN) seenSize -= seen.pop()?.length ?? 0;
  };

  /** The answer that shows the post which a change names. @param {string} operation @param {string} sent */
  const shownFor = (operation, sent) => {
    const id = operation === "CreateBookmark" ? /"tweet_id"\s*:\s*"([0-9]{1,19})"/.exec(sent)?.[1] : undefined;
    const names = new RegExp(`"rest_id"\\s*:\\s*"${id}"`);
    return id ? seen.find((body) => names.test(body)) : undefined;
  };

  /**
   * X may rename its list of bookmarks. Lists of a part of them, and other lists, are left alone.
   * @param {Asked} request
   * @param {string} body
   */
  const isRenamedList = ({ name, url }, body) =>
    /bookmark|saved/i.test(name) && !/folder|collection|search|delete|create|clear/i.test(name) &&
    /^\/i\/bookmarks(\/all)?\/?$/.test(location.pathname) && !/rawQuery|collection_id/.test(url) && /cursor/i.test(body);

  /** The X account that the page is signed in to, as the page itself says. */
  const viewer = () => {
    try {
      const state = /** @type {any} */ (window).__INITIAL_STATE__;
      const user = String(state?.session?.user_id ?? "");
      const username = String(state?.entities?.users?.entities?.[user]?.screen_name ?? "");
      return /^[0-9]{1,20}$/.test(user) ? { user, username } : { user: "", username: "" };
    } catch {
      return { user: "", username: "" };
    }
  };

  /**
   * @param {Asked} request
   * @param {string} sent
   * @param {string} body
   * @param {number} status
   * @param {string | null} resetsAt when X's limit ends, in seconds
   */
  const hand = (request, sent, body, status, resetsAt) => {
    const isGood = status >= 200 && status <= 299;
    // Only once: the person may read the list in this tab later.
    if (isGood && request.isMoved) goesOnAt = "";
    if (body.length > (isGood ? MAX_ANSWER : MAX_REQUEST)) return;
    const operation = request.operation || (isGood && isRenamedList(request, body) ? "Bookmarks" : "");
    if (operation && (isGood || operation === "Bookmarks")) {
      const shown = shownFor(operation, sent);
      const captured = { operation, url: request.url, sent, body, shown, status, resetsAt, ...viewer(), at: Date.now() };
      window.postMessage({ bowerbird: "captured", captured }, location.origin);
    }
    if (isGood) remember(body);
  };

  /** @param {unknown} body */
  const asText = (body) => (typeof body === "string" && body.length <= MAX_REQUEST ? body : "");

  /**
   * The body of a change names the post. The page sends it as a text, or in a Request.
   * @param {string} operation
   * @param {RequestInfo | URL} input
   * @param {RequestInit | undefined} init
   * @returns {Promise<string>}
   */
  const sentBody = async (operation, input, init) => {
    if (init?.body !== undefined) return asText(init.body);
    const copies = CHANGES.has(operation) && input instanceof Request && !input.bodyUsed;
    return copies ? asText(await input.clone().text()) : "";
  };

  const pageFetch = window.fetch;
  /**
   * @this {unknown}
   * @param {RequestInfo | URL} input
   * @param {RequestInit} [init]
   * @returns {Promise<Response>}
   */
  const watchedFetch = function fetch(input, init) {
    const request = wanted(input instanceof Request ? input.url : input);
    if (!request) return Reflect.apply(pageFetch, this, arguments);
    const sent = sentBody(request.operation, input, init).catch(() => "");
    const moved = () => [input instanceof Request ? new Request(request.url, input) : request.url, init];
    /** @type {Promise<Response>} */
    const answer = Reflect.apply(pageFetch, this, request.isMoved ? moved() : arguments);
    answer.then(
      (response) => {
        // Copied before the page can read it, and read later.
        const copy = response.clone();
        const resetsAt = response.headers.get("x-rate-limit-reset");
        Promise.all([sent, copy.text()]).then(([text, body]) => hand(request, text, body, response.status, resetsAt), () => {});
      },
      () => {},
    );
    return answer;
  };
  window.fetch = watchedFetch;

  /** @type {WeakMap<XMLHttpRequest, Asked | null>} */
  const opened = new WeakMap();
  const pageOpen = XMLHttpRequest.prototype.open;
  const pageSend = XMLHttpRequest.prototype.send;

  /** @param {XMLHttpRequest} request */
  const textOf = (request) => {
    if (request.responseType === "" || request.responseType === "text") return request.responseText;
    return request.responseType === "json" ? JSON.stringify(request.response) : "";
  };

  /**
   * @this {XMLHttpRequest}
   * @param {any[]} parts
   */
  const watchedOpen = function open(...parts) {
    const request = wanted(parts[1]);
    opened.set(this, request);
    if (request?.isMoved) parts[1] = request.url;
    return Reflect.apply(pageOpen, this, parts);
  };
  XMLHttpRequest.prototype.open = watchedOpen;

  XMLHttpRequest.prototype.send = function send(body) {
    const request = opened.get(this);
    if (request) {
      const sent = asText(body);
      // loadend comes after the page's own handlers of load.
      this.addEventListener("loadend", () => {
        // The request was ended before its answer.
        if (!this.status) return;
        try {
          hand(request, sent, textOf(this), this.status, this.getResponseHeader("x-rate-limit-reset"));
        } catch {
          // The page used the object again.
        }
      }, { once: true });
    }
    return Reflect.apply(pageSend, this, [body]);
  };
}
