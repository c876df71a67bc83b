// Runs in the page's own world, before its scripts. Copies the answers about bookmarks that X's
// page asked for, and changes nothing: the page gets its answer as if this script did not exist.
// Never reads request headers, cookies or storage.
// @ts-check
"use strict";
{
  // The same names as in shared/x.js: Chromium loads a script into only one world of a page.
  // X adds versions to them.
  const OPERATION = new RegExp(
    "^/i/api/graphql/[^/]+/(Bookmarks|BookmarkFolderTimeline|BookmarkSearchTimeline|" +
      "BookmarkFoldersSlice|CreateBookmark|DeleteBookmark|TweetDetail|TweetResultByRestId)" +
      "(?:_?[vV][0-9]+)?/?$",
  );
  const CHANGES = new Set(["CreateBookmark", "DeleteBookmark"]);
  const MAX_ANSWER = 8_000_000;
  const MAX_REQUEST = 20_000;

  /**
   * @param {unknown} address
   * @returns {{operation: string, url: string} | null}
   */
  const wanted = (address) => {
    const text = String(address);
    // Most requests end here, before anything is parsed.
    if (!text.includes("/i/api/graphql/")) return null;
    try {
      const url = new URL(text, location.href);
      const found = OPERATION.exec(url.pathname);
      return found?.[1] ? { operation: found[1], url: url.href } : null;
    } catch {
      return null;
    }
  };

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
   * @param {{operation: string, url: string}} request
   * @param {string} sent
   * @param {string} body
   */
  const hand = (request, sent, body) => {
    if (body.length > MAX_ANSWER) return;
    const captured = { ...request, sent, body, ...viewer(), at: Date.now() };
    window.postMessage({ bowerbird: "captured", captured }, location.origin);
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
    /** @type {Promise<Response>} */
    const answer = Reflect.apply(pageFetch, this, arguments);
    answer.then(
      (response) => {
        if (!response.ok) return;
        // Copied before the page can read it, and read later.
        const copy = response.clone();
        Promise.all([sent, copy.text()]).then(([text, body]) => hand(request, text, body), () => {});
      },
      () => {},
    );
    return answer;
  };
  window.fetch = watchedFetch;

  /** @type {WeakMap<XMLHttpRequest, {operation: string, url: string} | null>} */
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
    opened.set(this, wanted(parts[1]));
    return Reflect.apply(pageOpen, this, parts);
  };
  XMLHttpRequest.prototype.open = watchedOpen;

  XMLHttpRequest.prototype.send = function send(body) {
    const request = opened.get(this);
    if (request) {
      const sent = asText(body);
      // loadend comes after the page's own handlers of load.
      this.addEventListener("loadend", () => {
        if (this.status < 200 || this.status > 299) return;
        try {
          hand(request, sent, textOf(this));
        } catch {
          // The page used the object again.
        }
      }, { once: true });
    }
    return Reflect.apply(pageSend, this, [body]);
  };
}
