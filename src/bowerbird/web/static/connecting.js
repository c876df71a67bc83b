// Opens the page that names the connected browser, as soon as one has used the link.
// @ts-check

const EVERY_MILLISECONDS = 3_000;

/**
 * Asks only while somebody looks at the page, and not after the link has expired.
 * @param {HTMLAnchorElement} check
 */
function follow(check) {
  const until = Date.now() + Number(check.dataset.connecting) * 60_000;
  let isAsking = false;

  const stop = () => {
    clearInterval(timer);
    document.removeEventListener("visibilitychange", look);
  };

  const ask = async () => {
    const answer = await fetch(`${check.href}/state`, { cache: "no-store" });
    // Signed out, or another link was created since.
    if (answer.status === 401 || answer.status === 404) return stop();
    if (!answer.ok) return;
    /** @type {{ state: string }} */
    const { state } = await answer.json();
    if (state === "waiting") return;
    stop();
    if (state === "connected") location.replace(check.href);
  };

  function look() {
    if (Date.now() > until) stop();
    else if (!document.hidden && !isAsking) {
      isAsking = true;
      // A server that does not answer may answer the next time.
      ask().catch(() => undefined).finally(() => { isAsking = false; });
    }
  }

  const timer = setInterval(look, EVERY_MILLISECONDS);
  document.addEventListener("visibilitychange", look);
}

const check = document.querySelector("a[data-connecting]");
if (check instanceof HTMLAnchorElement) follow(check);
