// How the popup talks to the background worker.
// @ts-check

/**
 * @typedef {object} Actions
 * @property {(type: string, fields?: Record<string, unknown>) => Promise<any>} run asks the worker, then shows the new state
 * @property {() => void} connectAgain
 * @property {() => void} close
 */

/**
 * @param {string} type
 * @param {Record<string, unknown>} [fields]
 * @returns {Promise<any>}
 */
export async function ask(type, fields = {}) {
  const send = () => chrome.runtime.sendMessage({ type, ...fields });
  // The worker was stopped before it answered. What the popup shows, it asks for again in a second.
  return send().catch(send).catch(() => null);
}

/** @param {string} address */
export async function openTab(address) {
  if (!/^(https?|chrome-extension|moz-extension):/.test(address)) return;
  await chrome.tabs.create({ url: address });
  window.close();
}
