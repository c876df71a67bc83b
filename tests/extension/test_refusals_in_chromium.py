"""What the library refuses: what is repeated, what is dropped, and what the person is told."""

from functools import partial

from tests.extension.chromium import Chromium
from tests.extension.fake_x import X
from tests.extension.library import Refusal
from tests.extension.patience import wait_until
from tests.extension.person import Person

RUNS = "/ingest/v1/runs"
PAGES = r"/ingest/v1/runs/[^/]+/pages"
FINISH = r"/ingest/v1/runs/[^/]+/finish"
RUNS_LEFT = """() => new Promise((resolve) => {
  indexedDB.open("bowerbird").onsuccess = ({ target }) => {
    const counted = target.result.transaction("runs").objectStore("runs").count();
    counted.onsuccess = () => { target.result.close(); resolve(counted.result); };
  };
})"""
IN_PROGRESS = "IDEMPOTENCY_IN_PROGRESS"


def all_sent(person: Person) -> bool:
    """Presses "Try now", so that a test does not wait for the next try."""
    person.ask("retry")
    return not person.library.way.refusals and person.waiting() == 0


def badge(person: Person) -> str:
    text: str = person.browser.desk().evaluate("() => chrome.action.getBadgeText({})")
    return text


# The badge shows an outcome for some seconds, which is too short to ask for it from here.
NOTE_BADGES = """() => {
  window.badges = new Set();
  const note = async () => window.badges.add(await chrome.action.getBadgeText({}));
  window.noting = setInterval(note, 50);
}"""


def test_a_refused_start_of_a_run_and_a_key_in_use_lose_nothing(person: Person) -> None:
    account = person.x.world.sign_in(saved=25)
    post = person.x.world.add_post()
    person.library.way.refusals = [
        Refusal(RUNS, 409, IN_PROGRESS),
        Refusal(RUNS, 422, "IDEMPOTENCY_KEY_REUSED"),
        Refusal(RUNS, 400, "INVALID_REQUEST"),
        Refusal(PAGES, 409, IN_PROGRESS),
        Refusal("/ingest/v1/bookmarks", 409, IN_PROGRESS),
    ]

    tab = person.bookmarks()
    wait_until(lambda: len(person.library.way.refusals) < 5)
    save = {"type": "save", "link": f"{X}/{post.author.username}/status/{post.id}", "labels": []}
    # Not waited for: the answer comes when the post is sent.
    person.browser.desk().evaluate("(save) => { chrome.runtime.sendMessage(save); }", save)
    sent = person.library.way.sent_to
    wait_until(lambda: sent("/ingest/v1/bookmarks") or person.waiting() >= 2)
    wait_until(lambda: all_sent(person))

    person.scroll_to_end(tab)
    wait_until(lambda: set(person.library.post_ids()) == {post.id, *account.saved})
    keys = [one.headers["idempotency-key"] for one in person.library.way.sent_to(RUNS)]
    # The first one is repeated; the library would answer 422 and 400 again.
    assert len(keys) >= 4
    assert len(set(keys)) == 3
    assert person.ask("view")["refused"] is None


def test_the_end_of_a_run_that_the_library_does_not_know_is_no_problem(person: Person) -> None:
    account = person.x.world.sign_in(saved=5)
    finishes = person.library.way.sent_to
    person.library.way.refusals = [Refusal(FINISH, 404, "NOT_FOUND")]

    person.sync()
    wait_until(lambda: finishes(FINISH) and person.waiting() == 0)
    assert person.browser.desk().evaluate(RUNS_LEFT) == 0
    # An opened post has a run of its own, which binds the device to its X account.
    tab = person.browser.open(f"{X}/someone/status/{account.in_order()[0]}")
    wait_until(lambda: "TweetDetail" in [page["op"] for page in person.library.pages()])
    person.library.way.refusals = [Refusal(FINISH, 409, "RUN_FINISHED")]
    person.set(bound_user="4242")
    tab.click("[data-testid=removeBookmark]")

    wait_until(lambda: person.library.events() and person.waiting() == 0)
    assert person.library.way.refusals == []
    assert person.ask("view")["refused"] is None


def test_what_a_proxy_answers_drops_nothing_and_does_not_disconnect(person: Person) -> None:
    account = person.x.world.sign_in(saved=5)
    person.library.way.refusals = [
        Refusal(RUNS, 401, body='{"error": "Sign in to the network first."}'),
        Refusal(PAGES, 400, body='{"error": {"message": "Blocked"}, "data": null}'),
    ]

    person.bookmarks()
    wait_until(lambda: len(person.library.way.refusals) < 2)
    wait_until(lambda: (person.ask("view")["problem"] or {}).get("kind") == "unreachable")
    wait_until(lambda: all_sent(person))

    person.library.wait_for(account.in_order())


def test_one_failed_request_does_not_alarm_the_person(person: Person) -> None:
    person.x.world.sign_in(saved=5)
    person.library.way.failing_with = 503
    # As after the second failure, long before the next try.
    later = 4_000_000_000_000
    problem = {"kind": "unreachable", "sentence": "", "since": later}
    person.set(sending={"failures": 2, "retryAt": later, "problem": problem})

    person.bookmarks()
    wait_until(lambda: badge(person).isdigit())
    assert person.ask("view")["state"] == "done"
    wait_until(lambda: not person.ask("retry") and person.ask("view")["state"] == "error")

    wait_until(lambda: badge(person) == "!")


def test_the_badge_says_what_became_of_a_post_that_was_saved_from_the_menu(
    person: Person, chromium: Chromium
) -> None:
    person.x.world.sign_in()
    post = person.x.world.add_post()

    desk = person.browser.desk()
    desk.evaluate(NOTE_BADGES)

    for address, sign in ((f"{X}/home", "!"), (f"{X}/someone/status/{post.id}", "✓")):
        chromium.choose_menu_entry(address)
        wait_until(partial(desk.evaluate, "(sign) => window.badges.has(sign)", sign))

    person.library.wait_for([post.id])
    desk.evaluate("() => clearInterval(window.noting)")
