// What could not be saved, for the popup.
// @ts-check

/** @param {string} sentence */
export async function noteRefused(sentence) {
  await chrome.storage.local.set({ refused: { sentence, at: Date.now() } });
}
