// Sentences that the popup and our parts in X's pages both say. Loaded like x.js.
// @ts-check
"use strict";
globalThis.bowerbirdWhy = ({ why }, at, until = "") => {
  /** @type {Record<string, string>} */
  const sentences = {
    you: `Paused by you at ${at}. What was seen is safe, and the sync continues where it stopped.`,
    full: "The queue is full. The sync continues when your library has taken some of it.",
    tab: `The bookmarks tab was closed at ${at}, before the end of the list. What was seen is safe, and the sync continues where it stopped.`,
    left: `You left the bookmarks page at ${at}, before the end of the list. What was seen is safe, and the sync continues where it stopped.`,
    user: "X is signed in to another account now.",
    gap: "Some pages did not reach your library, so the list may be incomplete. What was sent is safe.",
    unread: "X has changed its pages, so your library could not read all of them. Your posts are safe.",
    empty: "X shows an empty list, although it had posts before. Nothing was removed from your library. Look at the list on X, and whether the right account is signed in, then start again.",
    idle: `Nothing has come from X since ${at}. Bring the bookmarks tab to the front, then resume.`,
    stalled: `X stopped sending posts at ${at}. Wait a few minutes before you start again. The sync continues where it stopped.`,
    silent: "X has not answered as it should for more than two days, so Bowerbird has stopped trying. Look at x.com, then press Start. What was seen is safe, and the sync continues where it stopped.",
    limit: `X shows only so many posts in a while, and that limit is reached. It ends at ${until}. Reading goes on by itself then, where it stopped, also if you close the browser. What was seen is safe.`,
    down: `X does not answer as it should. Bowerbird tries again by itself at ${until}. What was seen is safe.`,
    signed_out: "X is signed out, so it shows no bookmarks. Sign in on x.com, then press Resume. What was seen is safe, and the sync continues where it stopped.",
    locked: "X has locked or suspended this account, so it shows no bookmarks. Open x.com and do what X asks there, then press Resume. What is in your library stays there.",
  };
  return sentences[why] ?? "";
};

/** X has changed its answers. @param {number} safe how many posts the library has */
globalThis.bowerbirdChanged = (safe, isKept) => {
  const count = safe ? `${new Intl.NumberFormat("en").format(safe)} ${safe === 1 ? "post is" : "posts are"}` : "your posts are";
  const posts = `${count} safe`;
  return isKept
    ? `X changed something; ${posts}, the new ones are kept until Bowerbird understands them.`
    : `X changed something; ${posts}. Your library could not keep all of the new ones: read your bookmarks again after its next update.`;
};

/** What X says while nothing is read, in a few words. @type {Record<TroubleKind, string>} */
globalThis.bowerbirdTroubles = {
  limit: "X asks to wait",
  down: "X does not answer",
  signed_out: "X is signed out",
  locked: "X has locked the account",
};

/** X shows a list without posts. */
globalThis.bowerbirdEmpty =
  "X shows no bookmarks for this account. If you expected some, look which account is signed in on X. New ones follow as you save them.";

/** What became of a post that was saved. */
globalThis.bowerbirdSaid = {
  sent: "Saved in your library.",
  waiting: "It waits here, and is sent when your library answers.",
};
