// Makes elements of the popup. Texts are texts, never markup.
// @ts-check

import "../shared/sentences.js";

/** @type {Record<string, string>} */
const ICONS = {
  sync: "M16.25 8A6.4 6.4 0 0 0 5 5.9L3.5 7.5M3.5 3.8v3.7h3.7M3.75 12a6.4 6.4 0 0 0 11.25 2.1l1.5-1.6M16.5 16.2v-3.7h-3.7",
  pause: "M7.25 5v10M12.75 5v10",
  play: "M7 4.75l8.25 5.25L7 15.25z",
  settings: "M3 6h6.5M14 6h3M3 14h2.5M10 14h7M13.75 6a2 2 0 1 1-4 0a2 2 0 0 1 4 0zM9.75 14a2 2 0 1 1-4 0a2 2 0 0 1 4 0z",
  warn: "M10 3.75l6.9 12H3.1zM10 8.25v3.5M10 13.6v.2",
};

/**
 * @param {string} name
 * @param {Record<string, unknown>} [fields] attributes, and listeners by the name of their event
 * @param {...(Node | string)} children
 * @returns {HTMLElement}
 */
export function make(name, fields = {}, ...children) {
  const made = document.createElement(name);
  for (const [field, value] of Object.entries(fields)) {
    if (typeof value === "function") made.addEventListener(field, /** @type {EventListener} */ (value));
    else if (value !== false && value !== undefined) made.setAttribute(field, value === true ? "" : String(value));
  }
  made.append(...children);
  return made;
}

/** @param {string} name */
export function icon(name) {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("viewBox", "0 0 20 20");
  svg.setAttribute("class", "icon");
  svg.setAttribute("aria-hidden", "true");
  const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
  path.setAttribute("d", ICONS[name] ?? "");
  svg.append(path);
  return svg;
}

/**
 * @param {"" | "warn" | "bad"} kind
 * @param {...(Node | string)} content
 */
export function note(kind, ...content) {
  const signs = kind ? [icon("warn")] : [];
  return make("div", { class: `note ${kind}` }, ...signs, make("div", {}, ...content));
}

/** @param {View} view */
export function viewerNote(view) {
  return view.isViewerUnknown
    ? [note("warn", "X does not say which account is signed in. The posts of a second X account would be sent without asking you.")]
    : [];
}

/**
 * @param {string} text
 * @param {string} name
 * @param {() => unknown} act
 * @param {string} [sign]
 */
export function button(text, name, act, sign) {
  const content = sign ? [icon(sign), text] : [text];
  return /** @type {HTMLButtonElement} */ (make("button", { type: "button", class: `btn ${name}`, click: act }, ...content));
}

const whole = new Intl.NumberFormat("en");
const clock = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit", hourCycle: "h23" });
const date = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "long", year: "numeric" });

/** @param {number} value */
export const number = (value) => whole.format(value);

/** @param {number} value @param {string} one @param {string} many */
export const counted = (value, one, many) => `${number(value)} ${value === 1 ? one : many}`;

/**
 * Some parts have no posts of their own, such as the end of a list.
 * @param {Totals} waiting
 */
export const waits = ({ posts }) => (posts ? counted(posts, "post waits", "posts wait") : "The rest of a list waits");

/** @param {number} moment */
export const day = (moment) => date.format(moment);

/** @param {number} moment */
export function time(moment) {
  return new Date(moment).toDateString() === new Date().toDateString() ? clock.format(moment) : date.format(moment);
}

/** What X says, and until when. @param {{kind: TroubleKind, until: number}} trouble */
export const troubleName = ({ kind, until: end }) => `${globalThis.bowerbirdTroubles[kind]}${kind === "limit" ? ` until ${time(end)}` : ""}`;

/** @param {number} moment */
export function ago(moment) {
  const minutes = Math.floor((Date.now() - moment) / 60_000);
  if (minutes < 1) return "just now";
  if (minutes < 60) return `${counted(minutes, "minute", "minutes")} ago`;
  const hours = Math.floor(minutes / 60);
  return hours < 24 ? `${counted(hours, "hour", "hours")} ago` : `on ${date.format(moment)}`;
}

/** @param {number} moment */
export function until(moment) {
  const seconds = Math.max(0, Math.round((moment - Date.now()) / 1_000));
  return seconds < 60 ? counted(seconds, "second", "seconds") : counted(Math.ceil(seconds / 60), "minute", "minutes");
}
