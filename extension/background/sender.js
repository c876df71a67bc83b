// Sends what waits, in order and one at a time. A failure is tried again later, by an alarm.
// @ts-check

import * as connection from "./connection.js";
import * as deliveries from "./deliveries.js";
import * as queue from "./queue.js";
import { Refused, holdRequests, releaseRequests } from "./server.js";
import { goOnWithRoom } from "./sync.js";
import { SHORTEST_ALARM_MS, wakeAt } from "./turns.js";

export const ALARM = "send";
const FIRST_WAIT_MS = 2_000;
const LONGEST_WAIT_MS = 300_000;
// A request that fails once or twice is no reason to disturb the person.
const QUIET_FAILURES = 2;
const QUIET_MS = 60_000;

/** @type {Sending} */
const NONE = { failures: 0, retryAt: 0, problem: null };

/** @type {Promise<void> | null} */
let draining = null;
let isWanted = false;
let isHeld = false;
/** @type {(() => void)[]} */
const watchers = [];
/** @type {Map<number, (outcome: SaveOutcome) => void>} */
const waiting = new Map();

/** @param {() => void} watcher called when something was sent, or could not be */
export function onChange(watcher) {
  watchers.push(watcher);
}

/** @returns {Promise<Sending>} */
export async function state() {
  return (await chrome.storage.local.get("sending")).sending ?? NONE;
}

/**
 * Whether the person should know about the problem.
 * @param {Sending} sending
 */
export function isAlarming({ problem, failures }) {
  if (!problem || problem.kind === "revoked" || problem.kind === "other_user") return problem !== null;
  return failures > QUIET_FAILURES || Date.now() - problem.since > QUIET_MS;
}

/** @param {Sending} sending */
async function setState(sending) {
  await chrome.storage.local.set({ sending });
  for (const watcher of watchers) watcher();
}

/** Sends everything that waits. Safe to call at any time. */
export function drain() {
  isWanted = true;
  draining ??= work();
  return draining;
}

/**
 * Changes the library while nothing is sent: an answer of the old one must not be noted for the
 * new one. What was being sent stays in the queue.
 * @param {() => Promise<void>} change
 */
export async function between(change) {
  isHeld = true;
  holdRequests();
  try {
    await draining?.catch(() => {});
    await change();
  } finally {
    isHeld = false;
    releaseRequests();
    drain();
  }
}

async function work() {
  try {
    while (isWanted) {
      isWanted = false;
      while (await sendOne());
    }
  } finally {
    // In the same step as the last look: otherwise a call in between would find it busy, and wait for nothing.
    draining = null;
  }
}

/** @returns {Promise<boolean>} whether there may be more to send */
async function sendOne() {
  if (isHeld) return false;
  const library = await connection.get();
  const sending = await state();
  const kind = sending.problem?.kind;
  if (!library || kind === "revoked" || kind === "other_user") return false;
  const item = await queue.first();
  if (!item) {
    if (sending !== NONE && sending.problem) await setState(NONE);
    await chrome.alarms.clear(ALARM);
    await goOnWithRoom();
    return false;
  }
  if (Date.now() < sending.retryAt) {
    wakeAt(ALARM, sending.retryAt, drain);
    return false;
  }
  // If the worker is stopped in the middle, the alarm starts it again.
  await chrome.alarms.create(ALARM, { when: Date.now() + SHORTEST_ALARM_MS });
  let sentence;
  try {
    sentence = await deliveries.deliver(library, item);
  } catch (error) {
    return isHeld ? false : fail(error, item, sending);
  }
  await done(item, { state: "sent", sentence });
  return true;
}

/**
 * @param {Item} item
 * @param {SaveOutcome} outcome
 */
async function done(item, outcome) {
  await queue.remove(item);
  await chrome.storage.local.set({ last_sent_at: Date.now() });
  await setState(NONE);
  waiting.get(item.id)?.(outcome);
  await goOnWithRoom();
}

/**
 * @param {unknown} error
 * @param {Item} item
 * @param {Sending} before
 * @returns {Promise<boolean>}
 */
async function fail(error, item, before) {
  const since = before.problem?.since ?? Date.now();
  if (error instanceof deliveries.Again) return true;
  if (error instanceof deliveries.OtherUser) {
    await setState({ ...NONE, problem: { kind: "other_user", sentence: error.message, since, user: error.user } });
    return false;
  }
  if (error instanceof Refused && error.status === 401) {
    await setState({ ...NONE, problem: { kind: "revoked", sentence: error.message, since } });
    return false;
  }
  if (error instanceof Refused && error.isFinal) {
    // The same request would be refused again. The rest of the queue goes on.
    await queue.noteRefused(`Your library refused it: ${error.message}`);
    await done(item, { state: "refused", sentence: error.message });
    return true;
  }
  const failures = before.failures + 1;
  const wait = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** (failures - 1)) * (0.8 + Math.random() * 0.4);
  const isBusy = error instanceof Refused || error instanceof deliveries.NotStarted;
  const asked = isBusy ? error.retryAfterS * 1_000 : 0;
  const retryAt = Date.now() + Math.max(wait, asked);
  const sentence = error instanceof Error ? error.message : String(error);
  await setState({ failures, retryAt, problem: { kind: isBusy ? "busy" : "unreachable", sentence, since } });
  waiting.get(item.id)?.({ state: "waiting", sentence: "" });
  wakeAt(ALARM, retryAt, drain);
  return false;
}

/**
 * A request outside the queue failed. Only a token that is not valid any more says something.
 * @param {unknown} error
 */
export async function noteFailure(error) {
  if (!(error instanceof Refused) || error.status !== 401) return;
  const { problem } = await state();
  if (problem?.kind === "revoked") return;
  await setState({ ...NONE, problem: { kind: "revoked", sentence: error.message, since: Date.now() } });
}

/** Tries again at once, because the person or the network says so. */
export async function retryNow() {
  const now = await state();
  if (now.problem?.kind === "revoked") await setState(NONE);
  else if (now.problem?.kind !== "other_user") await setState({ ...now, retryAt: 0 });
  await drain();
}

/** After a decision of the person, whatever stopped the queue. */
export async function unblock() {
  await setState(NONE);
  await drain();
}

/**
 * Waits a moment for an item, so that the person sees what became of it.
 * @param {number} id
 * @param {number} ms
 * @returns {Promise<SaveOutcome>}
 */
export async function outcomeOf(id, ms) {
  /** @type {Promise<SaveOutcome>} */
  const outcome = new Promise((resolve) => {
    waiting.set(id, resolve);
    setTimeout(() => resolve({ state: "waiting", sentence: "" }), ms);
  });
  drain();
  return outcome.finally(() => waiting.delete(id));
}
