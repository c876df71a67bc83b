// What our parts in X's pages share: a place of their own that the page's styles do not reach,
// elements without markup from data, and the address as X changes it.
// @ts-check
"use strict";
{
  const STYLES = `
    :host { all: initial; }
    .box { position: fixed; inset-block-end: 5rem; inset-inline-end: 1rem; z-index: 2147483000; width: 17.5rem;
      box-sizing: border-box; padding: 0.9rem 1rem 1rem; border-radius: 12px; color: var(--ink); background: var(--raised);
      font: 14px/1.45 -apple-system, BlinkMacSystemFont, "Segoe UI", Inter, Roboto, "Noto Sans", system-ui, sans-serif;
      box-shadow: 0 0 0 1px var(--line), 0 2px 6px oklch(0 0 0 / 0.08), 0 14px 40px oklch(0 0 0 / 0.2);
      --ink: light-dark(oklch(0.252 0.022 256), oklch(0.925 0.008 95));
      --soft: light-dark(oklch(0.462 0.02 256), oklch(0.742 0.014 250));
      --raised: light-dark(oklch(1 0 0), oklch(0.224 0.018 256));
      --well: light-dark(oklch(0.958 0.005 98), oklch(0.29 0.014 256));
      --line: light-dark(oklch(0.907 0.006 98), oklch(0.34 0.018 256));
      --line-strong: light-dark(oklch(0.64 0.014 256), oklch(0.56 0.02 256));
      --blue: light-dark(oklch(0.44 0.118 250), oklch(0.8 0.092 242));
      --fill: light-dark(oklch(0.44 0.118 250), oklch(0.71 0.122 244));
      --on-blue: light-dark(oklch(0.99 0.003 100), oklch(0.18 0.03 256));
      --bad: light-dark(oklch(0.48 0.16 25), oklch(0.79 0.11 25)); }
    .box[hidden], [hidden] { display: none; }
    h2 { margin: 0; font: 400 1.15rem/1.2 "Iowan Old Style", "Palatino Linotype", Palatino, P052, Georgia, serif; }
    p { margin: 0.35rem 0 0; color: var(--soft); }
    .small { font-size: 12.5px; }
    .bad { color: var(--bad); }
    .row { display: flex; gap: 0.5rem; margin-block-start: 0.75rem; }
    button { font: inherit; font-weight: 500; min-height: 2.25rem; padding: 0.3rem 0.9rem; border: 1px solid var(--line);
      border-radius: 7px; color: var(--ink); background: var(--raised); cursor: pointer; }
    button.main { flex: 1; color: var(--on-blue); background: var(--fill); border-color: transparent; }
    button.quiet { border-color: transparent; color: var(--soft); }
    button.close { position: absolute; inset-block-start: 0.5rem; inset-inline-end: 0.5rem; min-height: 1.75rem;
      padding: 0 0.55rem; border-color: transparent; color: var(--soft); }
    button:hover { border-color: var(--line-strong); }
    button:focus-visible, input:focus-visible { outline: 2px solid var(--blue); outline-offset: 2px; }
    label { display: block; margin-block: 0.6rem 0.2rem; font-weight: 500; }
    input { box-sizing: border-box; width: 100%; min-height: 2.25rem; padding: 0.3rem 0.6rem; font: inherit; color: inherit;
      background: var(--raised); border: 1px solid var(--line-strong); border-radius: 7px; }
  `;

  /** X has its own dark themes, whatever the system prefers. */
  const scheme = () => {
    const parts = (getComputedStyle(document.body).backgroundColor.match(/[0-9.]+/g) ?? []).map(Number);
    const [red = 255, green = 255, blue = 255, alpha = 1] = parts;
    if (alpha < 0.5) return "light dark";
    return red * 0.299 + green * 0.587 + blue * 0.114 < 128 ? "dark" : "light";
  };

  /** @param {ShadowRoot} root @param {string} styles */
  const dress = (root, styles) => {
    try {
      const sheet = new CSSStyleSheet();
      sheet.replaceSync(styles);
      root.adoptedStyleSheets = [sheet];
    } catch {
      // Firefox does not let an extension's script share such a sheet with a page.
      const style = document.createElement("style");
      style.textContent = styles;
      root.append(style);
    }
  };

  // In CSS pixels, for the largest text size of X.
  const LARGEST = { width: 340, height: 480, button: 64 };
  const SMALLEST = 16;
  /** What a page can do to an element without moving it. @type {[string, string][]} */
  const PLAIN = [
    ["opacity", "1"], ["visibility", "visible"], ["transform", "none"], ["translate", "none"], ["scale", "none"], ["rotate", "none"],
    ["filter", "none"], ["clip-path", "none"], ["mask-image", "none"], ["mix-blend-mode", "normal"], ["zoom", "1"],
  ];
  /** Elements of which the browser says that the page covers or hides them. @type {WeakSet<Element>} */
  const covered = new WeakSet();
  // Chromium says whether something is painted over an element; other browsers ignore the wish.
  const watcher = new IntersectionObserver((entries) => {
    for (const { target, isVisible } of /** @type {(IntersectionObserverEntry & {isVisible?: boolean})[]} */ (entries)) {
      if (isVisible === false) covered.add(target);
      else covered.delete(target);
    }
  }, /** @type {IntersectionObserverInit} */ ({ threshold: [0, 1], trackVisibility: true, delay: 100 }));

  /**
   * A page could hide a button under the pointer of the person.
   * @param {HTMLElement} element
   */
  const isShown = (element) => {
    const root = element.getRootNode();
    if (!(root instanceof ShadowRoot) || covered.has(element)) return false;
    const { left, top, right, bottom, width, height } = element.getBoundingClientRect();
    if (left < 0 || top < 0 || right > window.innerWidth || bottom > window.innerHeight) return false;
    if (width < SMALLEST || height < SMALLEST || width > LARGEST.width || height > LARGEST.height) return false;
    if (element instanceof HTMLButtonElement && height > LARGEST.button) return false;
    for (let one = /** @type {Element | null} */ (root.host); one; one = one.parentElement) {
      const style = getComputedStyle(one);
      if (PLAIN.some(([name, value]) => ![value, ""].includes(style.getPropertyValue(name)))) return false;
    }
    return true;
  };

  globalThis.bowerbirdFrame = (name, styles) => {
    const host = document.createElement("div");
    host.id = `bowerbird-${name}`;
    host.style.setProperty("color-scheme", scheme());
    const root = host.attachShadow({ mode: "closed" });
    dress(root, STYLES + styles);
    document.documentElement.append(host);
    return { host, root };
  };

  globalThis.bowerbirdElement = (name, fields = {}, ...children) => {
    const made = document.createElement(name);
    for (const [field, value] of Object.entries(fields)) {
      if (typeof value === "function") {
        // Only the person can press a button, and only one that they see.
        made.addEventListener(field, (event) => { if (event.isTrusted && isShown(made)) value(event); });
        if (field === "click") watcher.observe(made);
      } else if (value !== false && value !== undefined) made.setAttribute(field, value === true ? "" : String(value));
    }
    made.append(...children);
    return made;
  };

  /** @type {((path: string) => void)[]} */
  const listeners = [];
  let path = "";
  const look = () => {
    if (location.pathname === path) return;
    path = location.pathname;
    for (const listener of listeners) listener(path);
  };
  globalThis.bowerbirdOnPath = (listener) => {
    listeners.push(listener);
    listener(location.pathname);
  };
  path = location.pathname;
  // X changes the address without loading a page, and tells nobody.
  setInterval(look, 500);
}
