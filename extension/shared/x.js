// What more than one part knows about X. Scripts in pages cannot import modules, so the manifest
// lists this one before them; modules import it for its effect.
// @ts-check
"use strict";
globalThis.bowerbirdX = Object.freeze({
  // By name: X changes the ids of its operations every few weeks.
  operations: [
    "Bookmarks", "BookmarkFolderTimeline", "BookmarkSearchTimeline", "BookmarkFoldersSlice",
    "CreateBookmark", "DeleteBookmark", "TweetDetail", "TweetResultByRestId",
  ],
  changes: ["CreateBookmark", "DeleteBookmark"],
  /** Answers that show the post that the person opened. */
  opened: ["TweetDetail", "TweetResultByRestId"],
  /** The path of a post or of an article, with its id. */
  post: /^\/(?:[A-Za-z0-9_]{1,20}|i\/web)\/(?:status(?:es)?|article)\/([1-9][0-9]{0,18})(?:\/|$)/,
  /** Pages that X shows instead of the list. */
  signIn: /^\/(?:i\/flow\/login|login|i\/flow\/signup)/,
  locked: /^\/account\/(?:access|suspended)/,
});
