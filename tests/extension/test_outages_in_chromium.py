"""What waits to be sent survives: a server that is away, a killed worker, a closed browser."""

from tests.extension.browsers import wait_for, wait_for_text
from tests.extension.chromium import Chromium
from tests.extension.fake_x import X
from tests.extension.patience import wait_until
from tests.extension.person import Person, wait_for_panel


def test_a_server_that_is_away_gets_everything_in_order_when_it_is_back(person: Person) -> None:
    account = person.x.world.sign_in(saved=100)
    tab = person.bookmarks()
    wait_until(lambda: person.waiting() == 0 and person.library.post_ids())
    person.library.way.cut()

    person.sync(tab)
    new = [person.x.world.add_post() for _ in range(3)]
    for post in new:
        tab.go(f"{X}/{post.author.username}/status/{post.id}")
        tab.click("[data-testid=bookmark]")
        wait_for(tab, "() => document.querySelector('[data-testid=removeBookmark]')")
    popup = person.popup()
    shown = wait_for_text(popup, "Your library does not answer")
    popup.close()
    assert "none is lost" in shown
    before = len(person.library.way.requests)
    person.library.way.open()

    person.library.wait_for(account.in_order())
    moments = person.library.moments(before)
    assert moments == sorted(moments)
    assert [event["post_id"] for event in person.library.events(before)] == [p.id for p in new]
    wait_until(lambda: person.waiting() == 0)


def test_answers_that_get_lost_change_nothing(person: Person) -> None:
    person.x.world.sign_in(saved=60)
    person.library.way.answers_to_lose = 2

    person.sync()

    person.assert_same_library()
    assert person.library.way.answers_to_lose == 0
    # The run was started twice, with one effect.
    keys = [one.headers["idempotency-key"] for one in person.library.way.sent_to("/ingest/v1/runs")]
    assert len(keys) > len(set(keys))


def test_a_server_that_is_being_repaired_gets_everything_later(person: Person) -> None:
    person.x.world.sign_in(saved=60)
    person.library.way.failing_with = 503
    person.sync()
    popup = person.popup()
    wait_for_text(popup, "Your library does not answer")

    person.library.way.failing_with = 0
    popup.click("button.main")

    person.assert_same_library()
    wait_for_text(popup, "up to date")


def test_a_closed_browser_sends_what_waited_when_it_starts_again(
    person: Person, chromium: Chromium
) -> None:
    account = person.x.world.sign_in(saved=120)
    person.library.way.cut()
    person.sync()
    wait_until(lambda: person.waiting() >= 7)

    chromium.restart()
    person.library.way.open()

    person.library.wait_for(account.in_order())
    wait_until(lambda: person.waiting() == 0)


# One part that counts for almost all of the room, and that the library refuses when it is sent.
FILL_QUEUE = """() => new Promise((resolve) => {
  indexedDB.open("bowerbird").onsuccess = ({ target }) => {
    const bytes = 149_980_000;
    const change = target.result.transaction(["items", "totals"], "readwrite");
    const part = { type: "save", user: "", link: "nothing", labels: [], key: "large", posts: 0 };
    change.objectStore("items").add({ ...part, bytes });
    change.objectStore("totals").put({ items: 1, posts: 0, bytes }, "queue");
    change.oncomplete = () => { target.result.close(); resolve(); };
  };
})"""


def test_a_full_queue_pauses_the_sync_and_says_so(person: Person) -> None:
    person.x.world.sign_in(saved=400)
    person.library.way.cut()
    person.browser.desk().evaluate(FILL_QUEUE)
    tab = person.bookmarks()
    person.start(tab)

    wait_for_panel(tab, "The queue is full.")
    popup = person.popup()
    shown = wait_for_text(popup, "The queue is full")
    popup.close()
    listed = tab.evaluate("() => Number(document.documentElement.dataset.listed)")
    assert "none is lost" in shown
    assert listed < 400
    person.library.way.open()
    person.ask("retry")

    # It goes on by itself when there is room.
    wait_for_panel(tab, "Up to date")
    person.assert_same_library()


def test_a_revoked_device_says_so_and_sends_what_waited_after_another_pairing(
    person: Person,
) -> None:
    account = person.x.world.sign_in(saved=25)
    tab = person.sync()
    person.assert_same_library()
    for device_id in person.library.device_ids():
        person.library.server.run("device", "revoke", person.library.email, device_id)
    post = person.x.world.add_post()

    tab.go(f"{X}/{post.author.username}/status/{post.id}")
    tab.click("[data-testid=bookmark]")

    popup = person.popup()
    shown = wait_for_text(popup, "This browser was disconnected")
    popup.close()
    # The post page, which may complete a post of the library, waits too.
    assert "wait" in shown
    person.connect_again()
    person.library.wait_for(account.in_order())


# Of a version that the worker does not open.
BREAK_DATABASE = """() => new Promise((resolve) => {
  indexedDB.open("bowerbird", 2).onsuccess = ({ target }) => { target.result.close(); resolve(); };
})"""
REPAIR_DATABASE = """() => new Promise((resolve) => {
  indexedDB.deleteDatabase("bowerbird").onsuccess = () => resolve();
})"""


def test_an_answer_that_the_worker_could_not_store_is_handed_over_again(person: Person) -> None:
    person.x.world.sign_in(saved=3)
    post = person.x.world.add_post()
    tab = person.browser.open(f"{X}/{post.author.username}/status/{post.id}")
    desk = person.browser.desk()
    desk.evaluate(BREAK_DATABASE)
    assert "error" in person.ask("view")

    tab.click("[data-testid=bookmark]")
    wait_for(tab, "() => document.querySelector('[data-testid=removeBookmark]')")
    desk.evaluate(REPAIR_DATABASE)

    person.library.wait_for([post.id])
    # If every try fails, the person is told.
    person.ask("lost")
    wait_for_text(person.popup(), "This browser could not store an answer of X.")
