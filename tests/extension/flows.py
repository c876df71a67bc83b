"""What the extension does alike in Chromium and in Firefox, each as one test of both."""

from tests.extension.browsers import wait_for, wait_for_text
from tests.extension.fake_x import X
from tests.extension.library import body_of
from tests.extension.patience import wait_until
from tests.extension.person import Person, wait_for_panel

# An opened post that is not a bookmark: only the name of the account is noted.
LAST_MESSAGE = """() => {
  const url = `${location.origin}/i/api/graphql/forged/TweetDetail?variables=%7B%7D`;
  window.forge({ operation: "TweetDetail", url, body: "{}", username: "last" });
}"""
# Each body twice: a repeated one is left out.
FLOOD = """() => {
  for (let turn = 0; turn < 400; turn += 1) {
    const url = `${location.origin}/i/api/graphql/forged/TweetDetail?variables=%7B%7D`;
    const body = JSON.stringify({ data: { turn: Math.floor(turn / 2) } });
    window.forge({ operation: "TweetDetail", url, body });
  }
}"""


def sync_a_thousand_posts(person: Person) -> None:
    person.x.world.sign_in(saved=1_000)

    person.sync()

    person.assert_same_library()
    wait_until(lambda: person.library.ends_of_syncs()[-1:] == [("full", "end")])
    # 50 pages with posts, and the page that ends the list.
    assert len(person.x.asked_for("Bookmarks")) >= 51
    # The extension sends no request of its own to X.
    assert all(asked.is_of_page for asked in person.x.asked)


def kill_the_worker_during_a_sync(person: Person) -> None:
    person.x.world.sign_in(saved=300)
    tab = person.bookmarks()
    # The start of the sync starts it again.
    person.browser.kill_worker()
    # The list must not end before the worker does.
    person.x.most_listed = 60
    person.start(tab)

    for listed, then in ((60, 140), (140, 220), (220, None)):
        reached = f"() => Number(document.documentElement.dataset.listed) >= {listed}"
        wait_for(tab, reached)
        person.browser.kill_worker()
        assert tab.evaluate("() => document.documentElement.dataset.state") != "end"
        person.x.most_listed = then

    wait_for_panel(tab, "Up to date", patience_s=60)
    person.assert_same_library()
    wait_until(lambda: person.library.ends_of_syncs()[-1:] == [("full", "end")])


def confirm_a_second_x_account(person: Person) -> None:
    first = person.x.world.sign_in(saved=25)
    person.sync().close()
    person.assert_same_library()
    second = person.x.world.sign_in(saved=25)

    person.bookmarks()
    popup = person.popup()
    wait_for_text(popup, "Another X account")
    assert set(person.library.post_ids()) == set(first.saved)
    popup.click("button.main")

    # A visit sends the pages that it shows; the first has 20 posts.
    both = {*first.saved, *second.in_order()[:20]}
    wait_until(lambda: both <= set(person.library.post_ids()))


def send_malformed_messages(person: Person) -> None:
    account = person.x.world.sign_in(saved=5)
    person.sync().close()
    person.assert_same_library()

    tab = person.browser.open(f"{X}/hostile")
    assert tab.evaluate("() => window.attack()") == "undefined"
    assert tab.evaluate("() => Object.keys(window).filter((name) => /bower/i.test(name))") == []
    tab.evaluate(LAST_MESSAGE)
    # Its name is noted, so the worker has read the messages before.
    wait_until(lambda: "last" in person.stored("usernames").values())
    wait_until(lambda: person.waiting() == 0)

    assert person.library.post_ids() == account.in_order()
    assert person.ask("view")["state"] == "done"
    new = person.x.world.add_post()
    tab.go(f"{X}/{new.author.username}/status/{new.id}")
    before = account.in_order()
    tab.click("[data-testid=bookmark]")
    person.library.wait_for([new.id, *before])


def forge_posts(person: Person) -> None:
    account = person.x.world.sign_in(saved=5)
    person.sync().close()
    person.assert_same_library()
    before = len(person.library.way.requests)

    tab = person.browser.open(f"{X}/hostile")
    forged = tab.evaluate("() => window.forge({})")
    # A script that runs in X's page can make up what X answers.
    wait_until(lambda: set(person.library.post_ids()) == {forged, *account.saved})
    tab.evaluate("() => window.forge({ user: '' })")
    wait_until(lambda: person.ask("view")["isViewerUnknown"])
    tab.evaluate("() => window.forge({ user: '4242' })")

    # Another account waits for the person, and nothing goes to another address.
    wait_until(lambda: (person.ask("view")["problem"] or {}).get("kind") == "other_user")
    sent = person.library.way.requests[before:]
    bodies = b"".join(body_of(one) for one in sent if one.method == "POST")
    assert b"evil.example" not in bodies
    assert b'confirm_source_user":true' not in bodies
    assert {one.headers["authorization"] for one in sent if one.method == "POST"} == {
        f"Bearer {person.stored('connection')['token']}"
    }


def flood_the_queue(person: Person) -> None:
    person.x.world.sign_in(saved=5)
    person.sync().close()
    person.assert_same_library()
    person.set(reads_opened=True)
    wait_until(lambda: person.waiting() == 0)
    person.library.way.cut()
    tab = person.browser.open(f"{X}/hostile")

    tab.evaluate(FLOOD)
    tab.evaluate("() => window.forge({})")
    # It was sent last, so everything before it was read.
    wait_until(lambda: person.ask("view")["waiting"]["posts"] > 0)

    # The bound is 60 per minute, and the minute may change in between.
    assert 60 <= person.waiting() < 130


def read_a_changed_list(person: Person) -> None:
    account = person.x.world.sign_in(saved=45)
    tab = person.sync()
    person.assert_same_library()
    wait_until(lambda: person.ask("view")["isComplete"])
    before = person.library.posts()
    account.save(person.x.world.add_post().id)
    person.x.renamed = {"tweet_results": "post_results"}

    person.start(tab, "button.quiet[data-do=start]")

    wait_for_panel(tab, "X has changed its pages", patience_s=60)
    wait_until(lambda: person.ask("view")["unread"])
    tab.close()
    popup = person.popup()
    for sentence in ("pages of bookmarks could not be read", "45 posts", "kept in your library"):
        shown = wait_for_text(popup, sentence)
    assert "up to date" not in shown.lower()
    assert person.library.posts() == before

    person.x.renamed = {}
    person.sync(button="button[data-do=resume]")
    person.assert_same_library()
    wait_until(lambda: person.ask("view")["isComplete"])
    wait_for_text(popup, "46 posts in your library")


def kept_pages(person: Person) -> int:
    count: int = person.library.get("/ingest/v1/status")["data"]["totals"]["kept_pages"]
    return count


def visit_a_list_of_another_form(person: Person, names: dict[str, str]) -> None:
    person.x.world.sign_in(saved=25)
    person.sync().close()
    person.assert_same_library()
    before = person.library.posts()
    wait_until(lambda: person.ask("view")["isComplete"])
    person.x.renamed = names

    person.bookmarks()

    wait_for_text(person.popup(), "X has changed its pages")
    view = person.ask("view")
    assert (view["isComplete"], view["list"]["isProved"]) == (False, False)
    assert person.library.posts() == before
    assert view["unread"]["isKept"]
    wait_until(lambda: person.ask("view")["unread"]["pages"] == kept_pages(person))
