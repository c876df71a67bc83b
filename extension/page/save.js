// The button on the page of a post on X: saves the post with labels, also without a bookmark on X.
// @ts-check
"use strict";
{
  const STYLES = `
    .opener { position: fixed; inset-block-end: 5rem; inset-inline-end: 1rem; z-index: 2147483000; min-height: 2.5rem;
      box-shadow: 0 2px 10px oklch(0 0 0 / 0.2); }
    .opener.box { width: auto; padding: 0.35rem 1rem; font-weight: 500; border-radius: 99rem; }
  `;
  const make = globalThis.bowerbirdElement;
  /** @type {{host: HTMLElement, root: ShadowRoot} | null} */
  let frame = null;
  let current = "";

  /** @param {Record<string, unknown>} message */
  const ask = (message) => globalThis.bowerbirdAsk(message);

  /** @param {Node} content */
  const show = (content) => {
    frame ??= globalThis.bowerbirdFrame("save", STYLES);
    for (const old of frame.root.querySelectorAll(".box")) old.remove();
    frame.root.append(content);
  };

  const close = () => {
    const opener = make("button", { class: "box opener", type: "button", click: open }, "Save to Bowerbird");
    show(opener);
    return opener;
  };

  /** @param {string} text @returns {string[]} */
  const names = (text) => text.split(",").map((name) => name.trim()).filter(Boolean);

  const open = () => {
    const input = /** @type {HTMLInputElement} */ (make("input", { id: "labels", autocomplete: "off", placeholder: "birds, to read" }));
    const said = make("p", { class: "small", role: "status" });
    // No form: a script of the page could submit it. It cannot press a button.
    const act = async () => {
      if (save.disabled) return;
      save.disabled = true;
      said.textContent = "Saving…";
      const shown = globalThis.bowerbirdOpened(current);
      const outcome = await ask({ type: "save", link: location.href, labels: names(input.value), shown });
      said.textContent = outcome?.sentence || globalThis.bowerbirdSaid[outcome?.state] || "Not saved. Reload the page and try again.";
      save.disabled = outcome?.state === "sent" || outcome?.state === "waiting";
    };
    const save = /** @type {HTMLButtonElement} */ (make("button", { class: "main", type: "button", click: act }, "Save"));
    const cancel = make("button", { class: "quiet", type: "button", click: () => close().focus() }, "Close");
    const keydown = (/** @type {KeyboardEvent} */ event) => {
      if (event.key === "Escape") close().focus();
      if (event.key === "Enter" && event.target === input) act();
      // X has shortcuts of single letters.
      event.stopPropagation();
    };
    const form = make(
      "section",
      { class: "box", "aria-label": "Save this post to Bowerbird", keydown },
      make("h2", {}, "Save this post"),
      make("label", { for: "labels" }, "Labels, separated by commas"),
      input, said, make("div", { class: "row" }, save, cancel),
    );
    show(form);
    input.focus();
  };

  globalThis.bowerbirdOnPath(async (path) => {
    const post = globalThis.bowerbirdX.post.exec(path)?.[1] ?? "";
    if (post === current && frame) return;
    current = post;
    frame?.host.remove();
    frame = null;
    if (!post) return;
    const view = await ask({ type: "panel" });
    if (view?.state && view.state !== "off" && current === post) close();
  });
}
