// The badge of the toolbar button: how much waits to be sent, that something is wrong, or what
// became of a post that was saved from the menu.
// @ts-check

import { view } from "./view.js";

const BLUE = "#123e63";
const RED = "#a12d2d";
const OUTCOME_MS = 4_000;

let outcomeUntil = 0;

export async function show() {
  if (Date.now() < outcomeUntil) return;
  const { state, waiting, sync } = await view();
  const isStuck = state === "error" || (sync?.state === "gave_up" && state !== "off");
  const count = waiting.posts > 999 ? "999+" : String(waiting.posts);
  const waits = waiting.posts ? `, ${waiting.posts} ${waiting.posts === 1 ? "post waits" : "posts wait"} to be sent` : "";
  await draw(isStuck ? "!" : waiting.posts ? count : "", isStuck, isStuck ? "Bowerbird: press to see what is wrong" : `Bowerbird${waits}`);
}

/**
 * The menu has no place for an answer, so the badge shows it for some seconds.
 * @param {SaveOutcome} outcome
 */
export async function showOutcome({ state, sentence }) {
  const isTaken = state === "sent" || state === "waiting";
  outcomeUntil = Date.now() + OUTCOME_MS;
  setTimeout(() => { outcomeUntil = 0; show(); }, OUTCOME_MS);
  await draw(isTaken ? "✓" : "!", !isTaken, sentence || (state === "sent" ? "Saved in your library" : "Saved here, and sent later"));
}

/**
 * @param {string} text
 * @param {boolean} isBad
 * @param {string} title
 */
async function draw(text, isBad, title) {
  await chrome.action.setBadgeText({ text });
  await chrome.action.setBadgeBackgroundColor({ color: isBad ? RED : BLUE });
  await chrome.action.setBadgeTextColor?.({ color: "#ffffff" });
  await chrome.action.setTitle({ title });
}
