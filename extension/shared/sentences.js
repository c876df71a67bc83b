// Sentences that the popup and our parts in X's pages both say. Loaded like x.js.
// @ts-check
"use strict";
globalThis.bowerbirdWhy = ({ why }, at) => {
  /** @type {Record<string, string>} */
  const sentences = {
    you: `Paused by you at ${at}. What was seen is safe, and the sync continues where it stopped.`,
    full: "The queue is full. The sync continues when your library has taken some of it.",
    tab: `The bookmarks tab was closed at ${at}, before the end of the list. What was seen is safe.`,
    left: `You left the bookmarks page at ${at}, before the end of the list. What was seen is safe.`,
    user: "X is signed in to another account now.",
    gap: "Some pages did not reach your library, so the list may be incomplete. What was sent is safe.",
    unread: "X has changed its pages, so your library could not read all of them. Your posts are safe.",
    idle: `Nothing has come from X since ${at}. Bring the bookmarks tab to the front, then resume.`,
    stalled: `X stopped sending posts at ${at}. Wait a few minutes before you start again.`,
  };
  return sentences[why] ?? "";
};

/** What became of a post that was saved. */
globalThis.bowerbirdSaid = {
  sent: "Saved in your library.",
  waiting: "It waits here, and is sent when your library answers.",
};
