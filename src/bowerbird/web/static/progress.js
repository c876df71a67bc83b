// Keeps the progress of jobs up to date while somebody looks, and opens the page again when one of
// them ends, or another page (data-then). A page that stays (data-stays) shows the last words instead.
// @ts-check

const EVERY_MILLISECONDS = 1_500;

/**
 * @typedef {{ id: string, done: number, total: number, text: string }} Job
 * @typedef {{ mark: string, jobs: Job[] }} State
 */

/** @param {Job} job */
function show(job) {
  const bar = document.querySelector(`progress[data-job="${CSS.escape(job.id)}"]`);
  if (bar instanceof HTMLProgressElement) {
    bar.max = Math.max(job.total, 1);
    bar.value = job.done;
  }
  const text = document.querySelector(`[data-text="${CSS.escape(job.id)}"]`);
  if (text) text.textContent = job.text;
}

/** Whether something was typed, which would be lost. */
function isTyped() {
  /** @type {NodeListOf<HTMLInputElement>} */
  const fields = document.querySelectorAll("input.in");
  return [...fields].some((field) => field.value !== field.defaultValue);
}

/** @param {HTMLElement} followed */
async function look(followed) {
  const { follow, then } = followed.dataset;
  const answer = await fetch(follow ?? "", { cache: "no-store" });
  if (answer.status === 404 || answer.status === 401) {
    // What the page shows may be shown only once.
    return then ? followed.removeAttribute("data-follow") : location.reload();
  }
  if (!answer.ok) return;
  /** @type {State} */
  const state = await answer.json();
  for (const job of state.jobs) show(job);
  if (state.mark === followed.dataset.mark) return;
  if (then) location.replace(then);
  else if ("stays" in followed.dataset) followed.removeAttribute("data-follow");
  else if (!isTyped()) location.reload();
}

setInterval(() => {
  // A search while typing brings another one.
  const followed = document.querySelector("[data-follow]");
  // A server that does not answer may answer the next time.
  if (followed instanceof HTMLElement && !document.hidden) look(followed).catch(() => undefined);
}, EVERY_MILLISECONDS);
