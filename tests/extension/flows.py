"""What the extension does alike in Chromium and in Firefox. `ALIKE` lists it."""

from functools import partial

from tests.extension.browsers import Tab, wait_for, wait_for_text
from tests.extension.fake_x import Limit, X
from tests.extension.library import body_of
from tests.extension.patience import wait_until
from tests.extension.person import Person, wait_for_panel
from tests.extension.x_account import Form

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

    wait_for_panel(tab, "Up to date")
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

    wait_for_panel(tab, "X changed something; 45 posts are safe")
    wait_until(lambda: person.ask("view")["unread"])
    tab.close()
    popup = person.popup()
    said = "X changed something; 45 posts are safe, the new ones are kept until Bowerbird "
    shown = wait_for_text(popup, f"{said}understands them.")
    assert "pages of bookmarks could not be read" in shown
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

    wait_for_text(person.popup(), "X changed something; 25 posts are safe")
    view = person.ask("view")
    assert (view["isComplete"], view["list"]["isProved"]) == (False, False)
    assert person.library.posts() == before
    assert view["unread"]["isKept"]
    wait_until(lambda: person.ask("view")["unread"]["pages"] == kept_pages(person))


def sync_over_several_limits(person: Person) -> None:
    person.x.world.sign_in(saved=400)
    person.x.limit = Limit(pages=8, lasts_s=3)
    tab = person.bookmarks()
    person.start(tab)

    wait_until(lambda: person.ask("view")["isComplete"])

    person.assert_same_library()
    assert person.x.limit.reached >= 2
    # Each limit costs the first page again, and no other one: 21 pages with the last one.
    asked = len(person.x.asked_for("Bookmarks"))
    assert asked < 21 + 6 * person.x.limit.reached
    assert all(one.is_of_page for one in person.x.asked)
    wait_until(lambda: person.library.ends_of_syncs()[-1:] == [("full", "end")])


def end_limit(person: Person) -> None:
    """The moment that X named has passed, as far as the extension knows when it looks again."""
    # Otherwise the extension may write what it has stored over this.
    wait_until(lambda: person.waiting() == 0)
    sync = person.stored("sync")
    person.set(sync={**sync, "until": sync["changedAt"]})
    person.x.limit = None


def restart_during_a_limit(person: Person) -> None:
    person.x.world.sign_in(saved=200)
    person.x.limit = Limit(pages=6, lasts_s=600)
    tab = person.bookmarks()
    person.start(tab)
    wait_for_panel(tab, "X asks to wait until")
    assert 0 < person.ask("view")["sync"]["seen"] < 200
    end_limit(person)

    person.browser.restart()

    wait_until(lambda: person.ask("view")["isComplete"])
    person.assert_same_library()


def _has_saved(tab: Tab, count: int) -> bool:
    saved = "() => document.querySelectorAll('[data-testid=removeBookmark]').length"
    return bool(tab.evaluate(saved) == count)


def save_from_a_feed(person: Person, path: str) -> None:
    person.x.world.sign_in()
    posts = [person.x.world.add_post(form) for form in (Form.PLAIN, Form.WRAPPED, Form.LONG)]
    person.x.world.feed = [post.id for post in posts]
    requests = len(person.library.way.requests)
    tab = person.browser.open(
        f"{X}/{person.x.world.viewer.username if path == 'profile' else path}"
    )

    for place in range(len(posts)):
        tab.click("[data-testid=bookmark]")
        # X's page shows it when X has answered. Until then, a click would be on the same one.
        wait_until(partial(_has_saved, tab, place + 1))

    wait_until(lambda: len(person.library.post_ids()) == len(posts))
    texts_in = {post["tweet_details"]["text"] for post in person.library.posts()}
    assert texts_in == {post.text for post in posts}
    # Only the posts that were saved are sent, not the list around them.
    assert person.library.pages(requests) == []


def read_an_article(person: Person) -> None:
    account = person.x.world.sign_in()
    post = person.x.world.add_post(Form.ARTICLE)
    account.save(post.id)
    person.sync().close()
    person.assert_same_library()
    assert person.library.posts()[0]["tweet_details"]["article"].get("plain_text") is None

    person.browser.open(f"{X}/{post.author.username}/article/{post.id}")

    def text() -> str | None:
        found: str | None = person.library.posts()[0]["tweet_details"]["article"].get("plain_text")
        return found

    wait_until(lambda: text() == f"The whole article {post.id}.")


def read_a_list_of_another_form(person: Person) -> None:
    visit_a_list_of_another_form(person, {"bookmark_timeline_v2": "saved_posts"})


def save_from_the_home_timeline(person: Person) -> None:
    save_from_a_feed(person, "home")


# Each is a test in both browsers.
ALIKE = (
    sync_a_thousand_posts,
    kill_the_worker_during_a_sync,
    confirm_a_second_x_account,
    send_malformed_messages,
    forge_posts,
    flood_the_queue,
    sync_over_several_limits,
    restart_during_a_limit,
    read_a_list_of_another_form,
    save_from_the_home_timeline,
    read_an_article,
)
