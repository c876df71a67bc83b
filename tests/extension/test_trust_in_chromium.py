"""What the extension must not do: mix accounts, believe pages, send secrets, or slow X down."""

import re

import pytest

from tests.extension.browsers import wait_for_text
from tests.extension.chromium import Chromium
from tests.extension.fake_x import SECRETS, X
from tests.extension.library import body_of
from tests.extension.patience import wait_until
from tests.extension.person import Person


def test_a_second_x_account_can_be_left_out(person: Person) -> None:
    first = person.x.world.sign_in(saved=25)
    person.sync().close()
    person.assert_same_library()
    person.x.world.sign_in(saved=25)

    tab = person.bookmarks()
    popup = person.popup()
    wait_for_text(popup, "Another X account")
    popup.click("button:not(.main):text('Leave them out')")

    wait_for_text(popup, "up to date")
    assert person.waiting() == 0
    tab.close()
    assert set(person.library.post_ids()) == set(first.saved)


def test_a_script_of_the_page_cannot_reach_the_buttons(person: Person) -> None:
    person.x.world.sign_in(saved=5)
    post = person.x.world.add_post()
    tab = person.browser.open(f"{X}/{post.author.username}/status/{post.id}")
    wait_until(lambda: tab.text_in("save"))

    assert tab.evaluate("() => document.querySelector('#bowerbird-save').shadowRoot === null")


# What a page can do so that the person does not see which button they press.
HIDDEN = {
    "transparent": "(host) => { host.style.opacity = '0'; }",
    "transparent page": "() => { document.documentElement.style.opacity = '0.01'; }",
    "stretched": "(host) => { host.style.cssText = 'display: block; transform: scale(1.2)'; }",
    "large": "() => { document.documentElement.style.fontSize = '60px'; }",
    "covered": """() => {
      const cover = document.createElement("div");
      cover.style.cssText = "position: fixed; inset: 0; z-index: 2147483647; background: white;"
        + "pointer-events: none";
      document.documentElement.append(cover);
    }""",
}


# The browser says a moment later that something is covered: first to the extension, which asks
# more often, then to this observer.
WATCH = """new Promise((begun) => {
  const host = document.querySelector("#bowerbird-save");
  const button = chrome.dom.openOrClosedShadowRoot(host).querySelector("button");
  globalThis.noticed = new Promise((resolve) => {
    const look = ([one]) => (one.isVisible ? begun() : resolve());
    new IntersectionObserver(look, { trackVisibility: true, delay: 300 }).observe(button);
  });
})"""


@pytest.mark.parametrize("way", HIDDEN)
def test_a_button_that_the_page_hides_does_nothing(
    person: Person, chromium: Chromium, way: str
) -> None:
    person.x.world.sign_in(saved=5)
    post = person.x.world.add_post()
    tab = chromium.open(f"{X}/{post.author.username}/status/{post.id}")
    wait_until(lambda: tab.text_in("save"))

    tab.in_extension(WATCH)
    tab.evaluate(f"() => ({HIDDEN[way]})(document.querySelector('#bowerbird-save'))")
    if way == "covered":
        tab.in_extension("noticed")
    tab.click_in("save", "button")

    assert tab.text_in("save") == "Save to Bowerbird"


def test_an_opened_post_that_is_not_a_bookmark_is_sent_only_if_the_person_wants_it(
    person: Person,
) -> None:
    account = person.x.world.sign_in(saved=2)
    bookmark = account.in_order()[0]
    other = person.x.world.add_post().id

    def opened() -> list[str]:
        pages = [page for page in person.library.pages() if page["op"] == "TweetDetail"]
        return re.findall(r"focalTweetId%22%3A%22(\d+)", " ".join(p["request_url"] for p in pages))

    tab = person.browser.open(f"{X}/someone/status/{other}")
    wait_until(lambda: person.x.asked_for("TweetDetail"))
    tab.go(f"{X}/someone/status/{bookmark}")
    wait_until(opened)
    assert opened() == [bookmark]
    popup = person.popup()
    popup.click("button[aria-label=Settings]")
    popup.click("#opened")
    wait_until(lambda: person.ask("view")["readsOpened"])
    tab.go(f"{X}/someone/status/{other}")

    wait_until(lambda: opened() == [bookmark, other])
    # The library stores only posts that it has already.
    assert person.library.post_ids() == []


def test_no_secret_of_x_reaches_the_library(person: Person) -> None:
    account = person.x.world.sign_in(saved=45)
    person.x.world.add_folder("Birds", account.in_order()[:3])
    tab = person.sync()
    person.assert_same_library()
    post = person.x.world.add_post()
    tab.go(f"{X}/{post.author.username}/status/{post.id}")
    tab.click("[data-testid=bookmark]")
    wait_until(lambda: post.id in person.library.post_ids())

    requests = person.library.way.requests
    assert len(requests) > 5
    for request in requests:
        whole = request.raw + body_of(request)
        assert not [secret for secret in SECRETS if secret.encode() in whole]
        assert not {"cookie", "x-csrf-token", "referer"} & request.headers.keys()
        assert re.match(r"Bearer dev_|$", request.headers.get("authorization", ""))


def test_requests_of_x_wait_neither_for_the_extension_nor_for_the_library(person: Person) -> None:
    person.x.world.sign_in(saved=45)
    person.library.way.hanging = ".*"
    tab = person.browser.open(f"{X}/home")

    for transport in ("fetch", "xhr"):
        # The page has its answer, and the library none of it.
        assert tab.evaluate("(by) => window.asked('Bookmarks', by)", transport) == 20
    wait_until(lambda: person.waiting() > 0)
    person.library.way.hanging = ""

    wait_until(person.library.pages)
