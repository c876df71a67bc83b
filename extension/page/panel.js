// The panel on the bookmarks page: starts, pauses and resumes a sync, and scrolls while it runs.
// @ts-check
"use strict";
{
  /** @typedef {Pick<View, "state" | "waiting" | "isFull" | "sync" | "perMinute" | "hasReadAll" | "list" | "isComplete" | "unread" | "trouble"> & {hasProblem: boolean, safe: number, isHere: boolean}} PanelView */
  const POLL_MS = 1_000;
  // As a person would scroll; X needs a moment to show a page.
  const STEP_MS = 350;
  const JITTER_MS = 350;
  const NUDGE_MS = 8_000;
  const GIVE_UP_MS = 60_000;
  const CHANGED = "X changed something";

  const number = new Intl.NumberFormat("en");
  const day = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "long", year: "numeric" });
  const clock = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit", hourCycle: "h23" });
  const make = globalThis.bowerbirdElement;
  /** @type {{host: HTMLElement, root: ShadowRoot} | null} */
  let frame = null;
  let shown = "";
  let isClosed = false;
  let isScrolling = false;
  let isPressed = false;
  let progressAt = 0;
  let openedAt = 0;
  /** @type {PanelView | null} */
  let view = null;
  /** @type {ReturnType<typeof setInterval> | undefined} */
  let polling;

  /** @param {string} type @param {Record<string, unknown>} [fields] */
  const ask = (type, fields = {}) => globalThis.bowerbirdAsk({ type, ...fields });

  const isOnList = () => /^\/i\/bookmarks(\/all)?\/?$/.test(location.pathname);

  /** @param {string} name @param {string} text @param {string} type @param {Record<string, unknown>} [fields] */
  const button = (name, text, type, fields = {}) =>
    make("button", { class: name, type: "button", "data-do": type, click: async () => { await ask(type, fields); await look(); } }, text);

  /** @param {Sync} sync */
  const numbers = (sync) => {
    const rate = view?.perMinute ? `, ${number.format(view.perMinute)} per minute` : "";
    const lines = [make("p", {}, `${number.format(sync.seen)} posts seen, ${number.format(sync.inserted)} of them new${rate}`)];
    if (sync.oldest) lines.push(make("p", { class: "small" }, `Back to ${day.format(sync.oldest)}`));
    return lines;
  };

  /** @param {PanelView} now @returns {{texts: Node[], buttons: Node[]}} */
  const content = (now) => {
    const { sync, hasReadAll, isHere } = now;
    const title = (/** @type {string} */ text) => make("h2", {}, text);
    const line = (/** @type {string} */ text, name = "") => make("p", { class: name }, text);
    if (sync?.state === "running" && !isHere) {
      return { texts: [title("Reading your bookmarks"), line("A sync is running in another tab.")], buttons: [] };
    }
    if (sync?.state === "running") {
      const texts = [title("Reading your bookmarks"), ...numbers(sync), line("Leave this tab open and in front.", "small")];
      return { texts, buttons: [button("main", "Pause", "pause")] };
    }
    if (sync && sync.state !== "done") {
      const isOver = sync.state === "gave_up";
      const until = clock.format(sync.until);
      const paused = isOver ? "Stopped" : `Paused at ${number.format(sync.seen)}`;
      const changed = sync.why === "unread" && now.unread ? globalThis.bowerbirdChanged(now.safe, now.unread.isKept) : "";
      const heading = sync.why in troubles ? named(sync.why, sync.until) : changed ? CHANGED : paused;
      const said = changed || globalThis.bowerbirdWhy(sync, clock.format(sync.changedAt), until);
      const texts = [title(heading), line(said), ...numbers(sync)];
      return { texts, buttons: [button("main", isOver ? "Start" : sync.until ? "Try now" : "Resume", "resume")] };
    }
    return { texts: [title(summary(now)), ...result(now).map((text) => line(text)), ...(isOfThisPage(now) && sync ? numbers(sync) : [])], buttons: starts(hasReadAll) };
  };

  /** @param {PanelView} now */
  const isOfThisPage = ({ sync, isHere }) => sync !== null && isHere && sync.changedAt >= openedAt;

  const troubles = globalThis.bowerbirdTroubles;
  /** @param {string} kind @param {number} until */
  const named = (kind, until) => `${troubles[/** @type {TroubleKind} */ (kind)]}${kind === "limit" ? ` until ${clock.format(until)}` : ""}`;

  /** What counts most: a problem comes before what waits, and that before a result. @param {PanelView} now */
  const summary = ({ state, hasProblem, waiting, isComplete, list, hasReadAll, unread, trouble }) => {
    if (hasProblem && state === "error") return "Nothing is sent at the moment";
    if (trouble) return named(trouble.kind, trouble.until);
    if (waiting.items) return "Sending";
    if (unread) return CHANGED;
    if (isComplete) return "Up to date";
    return list || hasReadAll ? "Not read to the end" : "Read all bookmarks";
  };

  /** @param {PanelView} now */
  const result = (now) => {
    const { sync, hasReadAll, unread, safe } = now;
    if (unread) return [globalThis.bowerbirdChanged(safe, unread.isKept)];
    if (!sync) return [hasReadAll ? "New bookmarks are read when you open this page." : "Send all your bookmarks to your library. This page will scroll by itself."];
    if (sync.why === "end" && !sync.seen) return [globalThis.bowerbirdEmpty];
    if (isOfThisPage(now)) return [sync.why === "end" ? "The end of the list is reached." : "Everything below is in your library already."];
    const at = new Date(sync.changedAt).toDateString() === new Date().toDateString() ? clock.format(sync.changedAt) : day.format(sync.changedAt);
    return [`Last sync ${at}: ${number.format(sync.seen)} ${sync.seen === 1 ? "post" : "posts"}.`];
  };

  /** @param {boolean} hasReadAll */
  const starts = (hasReadAll) => {
    const whole = button("quiet", "Whole list", "start", { kind: "full" });
    return [button("main", "Start", "start"), ...(hasReadAll ? [whole] : [])];
  };

  /** @param {PanelView} now @returns {Node[]} */
  const notes = ({ state, waiting, hasProblem, isFull }) => {
    const lines = [];
    if (waiting.posts) lines.push(make("p", { class: "small" }, `${number.format(waiting.posts)} ${waiting.posts === 1 ? "post waits" : "posts wait"} to be sent.`));
    if (isFull) lines.push(make("p", { class: "small bad" }, "The queue is full. Nothing is lost, but nothing more is read until your library answers."));
    if (hasProblem && state === "error") lines.push(make("p", { class: "small bad" }, "Open Bowerbird in the toolbar to see why nothing is sent."));
    return lines;
  };

  const render = () => {
    const isVisible = view !== null && view.state !== "off" && isOnList() && !isClosed;
    if (!isVisible || !view) {
      if (frame) frame.host.remove();
      frame = null;
      shown = "";
      return;
    }
    frame ??= globalThis.bowerbirdFrame("panel", "");
    const key = JSON.stringify(view);
    // New elements under the finger of the person would take the click away.
    if (key === shown || isPressed) return;
    shown = key;
    const hadFocus = frame.root.activeElement !== null;
    const close = make("button", { class: "close", type: "button", "aria-label": "Hide", click: () => { isClosed = true; render(); } }, "×");
    const { texts, buttons } = content(view);
    const status = make("div", { role: "status" }, ...texts, ...notes(view));
    // At the bottom, where nothing moves them.
    const row = make("div", { class: "row" }, ...buttons);
    const box = make("section", { class: "box", "aria-label": "Bowerbird", pointerdown: () => { isPressed = true; } }, status, row, close);
    frame.root.querySelector(".box")?.remove();
    frame.root.append(box);
    // The buttons are new: the focus goes to the one in the same place.
    if (hadFocus) /** @type {HTMLElement | null} */ (box.querySelector("button.main"))?.focus();
  };

  const look = async () => {
    if (!chrome.runtime?.id) {
      clearInterval(polling);
      return;
    }
    // Once: it is asked again in a second.
    const answer = await chrome.runtime.sendMessage({ type: "panel" }).catch(() => null);
    view = answer?.state ? answer : view;
    render();
    if (view?.sync?.state === "running" && view.isHere && isOnList()) scroll();
  };

  /** @param {number} ms */
  const pause = (ms) => new Promise((resolve) => { setTimeout(resolve, ms); });
  const isRunning = () => view?.sync?.state === "running" && view.isHere && isOnList();

  const scroll = async () => {
    if (isScrolling) return;
    isScrolling = true;
    // A list that goes on is not scrolled through from its top.
    await globalThis.bowerbirdPlaced;
    progressAt = Date.now();
    let nudgedAt = Date.now();
    while (isRunning()) {
      // The answer to the last page may be that the rest is known.
      if (view?.sync?.kind === "incremental" && view.waiting.items && !view.hasProblem) {
        await pause(STEP_MS);
        await look();
        // The library is slow, not X.
        progressAt = Date.now();
        continue;
      }
      window.scrollTo({ top: document.documentElement.scrollHeight, behavior: "instant" });
      await pause(STEP_MS + Math.random() * JITTER_MS);
      // A hidden tab shows no posts, so X asks for none.
      if (document.hidden) progressAt = Date.now();
      if (Date.now() - Math.max(progressAt, nudgedAt) > NUDGE_MS) {
        nudgedAt = Date.now();
        window.scrollBy({ top: -window.innerHeight * 2, behavior: "instant" });
        await pause(STEP_MS);
      }
      if (Date.now() - progressAt > GIVE_UP_MS) {
        await ask("stalled");
        await look();
      }
    }
    isScrolling = false;
  };

  globalThis.bowerbirdEvents.addEventListener("captured", (event) => {
    if (/** @type {CustomEvent} */ (event).detail.operation !== "Bookmarks") return;
    progressAt = Date.now();
    if (isOnList()) look();
  });

  for (const name of ["pointerup", "pointercancel"]) {
    // The click follows.
    window.addEventListener(name, () => setTimeout(() => { isPressed = false; }), true);
  }

  let wasOnList = false;
  globalThis.bowerbirdOnPath(() => {
    clearInterval(polling);
    const { signIn, locked } = globalThis.bowerbirdX;
    const kind = signIn.test(location.pathname) ? "signed_out" : locked.test(location.pathname) ? "locked" : "";
    // The list, or the tab of a sync, led here.
    if (kind) ask("trouble", { kind });
    else if (wasOnList && !isOnList()) ask("left");
    wasOnList = isOnList();
    openedAt = Date.now();
    isClosed = false;
    render();
    if (!wasOnList) return;
    look();
    polling = setInterval(look, POLL_MS);
  });
}
