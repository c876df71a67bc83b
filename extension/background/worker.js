// The background worker. It can be stopped at any time: everything that must last is in the
// database or in the storage, and it goes on with what waits whenever it starts.
// @ts-check

import * as badge from "./badge.js";
import { answer } from "./messages.js";
import { PATTERNS } from "./links.js";
import { noteRefused } from "./queue.js";
import * as runs from "./runs.js";
import { save } from "./saving.js";
import * as sender from "./sender.js";
import * as sync from "./sync.js";
import { inOrder, TIDY, watch } from "./turns.js";

const MENU = "save";

chrome.runtime.onMessage.addListener((message, from, reply) => {
  answer(message, from).then(
    (value) => reply(value),
    (error) => reply({ error: error instanceof Error ? error.message : String(error) }),
  );
  // The reply comes later.
  return true;
});

chrome.alarms.onAlarm.addListener(async ({ name }) => {
  if (name === TIDY) await inOrder(tidy);
  if (name === sync.ALARM) await inOrder(sync.goOn);
  await sender.drain();
});

chrome.tabs.onRemoved.addListener(async (tab) => {
  await inOrder(() => sync.noteClosedTab(tab));
  await sender.drain();
});

chrome.contextMenus.onClicked.addListener(async (info, tab) => {
  const outcome = await save(info.linkUrl ?? info.pageUrl, [], tab?.id);
  if (outcome.state === "refused" || outcome.state === "off") {
    await noteRefused(outcome.sentence);
  }
  await badge.showOutcome(outcome);
});

chrome.runtime.onInstalled.addListener(() => {
  chrome.contextMenus.removeAll(() => {
    const entry = { title: "Save this post to Bowerbird", documentUrlPatterns: PATTERNS };
    chrome.contextMenus.create({ id: MENU, contexts: ["page"], ...entry });
    chrome.contextMenus.create({ id: `${MENU}-link`, contexts: ["link"], title: entry.title, targetUrlPatterns: PATTERNS });
  });
});

// Starts the worker with the browser. What it does is below.
chrome.runtime.onStartup.addListener(() => {});

async function tidy() {
  const synced = await sync.get();
  await sync.pauseIdle();
  await runs.endIdle(synced?.run ?? "");
  if (!(await runs.all()).some((run) => !run.isEnded)) await chrome.alarms.clear(TIDY);
}

sender.onChange(() => { badge.show(); });
self.addEventListener("online", () => { sender.retryNow(); });
// Firefox lets the person take the permission back in its own settings.
chrome.permissions.onRemoved.addListener(async ({ data_collection: taken }) => {
  if (taken?.includes("browsingActivity")) await chrome.storage.local.set({ reads_opened: false });
});
// Scripts in pages, ours too, must not read the token.
chrome.storage.local.setAccessLevel?.({ accessLevel: "TRUSTED_CONTEXTS" });

// The browser may have forgotten the alarm. Before the message that started the worker, which may begin a sync.
watch();
inOrder(sync.noteStart).then(() => sender.drain()).then(() => badge.show());
