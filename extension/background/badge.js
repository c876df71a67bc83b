// The badge of the toolbar button: how much waits to be sent, or that the person is needed.
// @ts-check

import { view } from "./view.js";

const BLUE = "#123e63";
const RED = "#a12d2d";

export async function show() {
  const { state, waiting, problem, sync } = await view();
  const isStuck = state === "error" || (sync?.state === "gave_up" && state !== "off");
  const count = waiting.items > 999 ? "999+" : String(waiting.items);
  const text = isStuck ? "!" : waiting.items ? count : "";
  await chrome.action.setBadgeText({ text });
  await chrome.action.setBadgeBackgroundColor({ color: isStuck ? RED : BLUE });
  await chrome.action.setBadgeTextColor?.({ color: "#ffffff" });
  const waits = waiting.items ? `, ${waiting.items} waiting to be sent` : "";
  await chrome.action.setTitle({ title: problem ? "Bowerbird needs you" : `Bowerbird${waits}` });
}
