"""The popup: pairing, what it says in each state, and that everybody can use it."""

import json
from typing import Any

import pytest
from playwright.sync_api import Page

from tests.extension.browsers import wait_for, wait_for_text
from tests.extension.chromium import Chromium, ChromiumTab
from tests.extension.fake_x import X
from tests.extension.library import Refusal
from tests.extension.patience import wait_until
from tests.extension.person import Person, wait_for_panel
from tests.web.accessibility import CONTRAST, RUN, script, violations

# 2026-11-02T10:42:00Z
SINCE = 1_793_616_120_000
SYNC: dict[str, Any] = {
    "state": "running",
    "kind": "full",
    "run": "one",
    "tab": 1,
    "browserSession": "",
    "why": "",
    "until": 0,
    "heardAt": 0,
    "startedAt": SINCE,
    "changedAt": SINCE,
    "ranMs": 60_000,
    "seen": 1_260,
    "inserted": 1_204,
    "oldest": 1_710_417_600_000,
}
LATEST = [
    {"text": "The question is never: is it valuable?", "author": "Tomasz Kowal"},
    {"text": "雨の日の古本屋がいちばん静かだ。", "author": "佐藤みどり"},
]


def problem(kind: str, **fields: Any) -> dict[str, Any]:
    said = {"kind": kind, "sentence": "It said no.", "since": SINCE, **fields}
    return {"sending": {"failures": 3, "retryAt": 4_000_000_000_000, "problem": said}}


# What the extension has stored, and what the popup must say then.
STATES: dict[str, tuple[dict[str, Any], list[str]]] = {
    "done": (
        {
            "known": {"posts": 3_084, "held": 0, "boundUser": "7", "at": SINCE},
            "latest": LATEST,
            "has_read_all": True,
            "list": {"run": "one", "posts": 3_084, "isProved": True},
        },
        ["up to date", "3,084 posts in your library", "Tomasz Kowal", "Open the library"],
    ),
    "nothing read": (
        {"known": {"posts": 813, "held": 0, "boundUser": "", "at": SINCE}},
        ["connected", "Nothing read yet", "813 posts in your library", "Read all bookmarks"],
    ),
    "beginning of the list": (
        {"list": {"run": "one", "posts": 60, "isProved": False}},
        ["connected", "60 bookmarks sent.", "The list was not read to its end"],
    ),
    "changed": (
        {
            "known": {"posts": 1_248, "held": 0, "boundUser": "7", "at": SINCE},
            "has_read_all": True,
            "list": {"run": "one", "posts": 60, "isProved": True},
            "unread": {
                "Bookmarks": {"run": "one", "since": SINCE, "pages": 12, "isKept": True},
                "BookmarkFolderTimeline": {
                    "run": "two",
                    "since": SINCE,
                    "pages": 1,
                    "isKept": True,
                },
            },
        },
        [
            "kept for later",
            "X changed something; 1,248 posts are safe, the new ones are kept until Bowerbird",
            "13 pages of bookmarks could not be read",
            "Nothing was marked as deleted or removed",
        ],
    ),
    "syncing": (
        {"sync": SYNC},
        ["syncing", "1,260", "1,204 of them new", "14 March 2024", "Pause"],
    ),
    "paused": ({"sync": {**SYNC, "state": "paused", "why": "you"}}, ["paused", "1,260", "by you"]),
    "interrupted": (
        {"sync": {**SYNC, "state": "interrupted", "why": "tab"}},
        ["Interrupted at 1,260", "before the end of the list", "Resume"],
    ),
    "gave up": (
        {"sync": {**SYNC, "state": "gave_up", "why": "stalled"}},
        ["Stopped at 1,260", "X stopped sending posts"],
    ),
    "silent": (
        {"sync": {**SYNC, "state": "gave_up", "why": "silent"}},
        ["Stopped at 1,260", "for more than two days", "press Start"],
    ),
    "limit": (
        {"sync": {**SYNC, "state": "paused", "why": "limit", "until": 4_000_000_000_000}},
        ["waiting", "X asks to wait until", "goes on by itself", "Try now", "Stop here"],
    ),
    "signed out": (
        {
            "sync": {**SYNC, "state": "paused", "why": "signed_out"},
            "trouble": {"kind": "signed_out", "until": 0, "tries": 1, "at": SINCE},
        },
        ["needs you", "X is signed out", "Sign in on x.com", "Resume"],
    ),
    "locked": (
        {"trouble": {"kind": "locked", "until": 0, "tries": 1, "at": SINCE}},
        ["needs you", "X has locked the account", "do what X asks"],
    ),
    "down": (
        {"trouble": {"kind": "down", "until": SINCE, "tries": 1, "at": SINCE}},
        ["connected", "X does not answer", "tries again by itself"],
    ),
    "empty list": (
        {"has_read_all": True, "list": {"run": "one", "posts": 0, "isProved": True}},
        ["up to date", "X shows no bookmarks for this account"],
    ),
    "revoked": (
        problem("revoked"),
        ["needs you", "This browser was disconnected", "Connect again"],
    ),
    "another account": (
        problem("other_user", user="4242"),
        ["needs you", "Another X account", "4242", "Send them too", "Leave them out"],
    ),
}


def shown(chromium: Chromium) -> ChromiumTab:
    tab = chromium.open_without_policy(f"{chromium.extension_url}/popup/popup.html")
    tab.run(lambda page: page.set_viewport_size({"width": 360, "height": 480}))
    return tab


def token_of(person: Person) -> str:
    token: str = person.stored("connection")["token"]
    return token


def problems(page: Page) -> list[str]:
    page.emulate_media(color_scheme="light", reduced_motion="reduce")
    found = violations(page)
    page.emulate_media(color_scheme="dark")
    found += violations(page, options=CONTRAST)
    width = page.evaluate("() => document.documentElement.scrollWidth")
    return found + ([f"{width} pixels wide"] if width > 360 else [])


def closed_violations(tab: ChromiumTab, part: str) -> list[str]:
    """What axe finds in a closed root, which it sees only in the extension's own world."""
    open_roots = """Object.defineProperty(Element.prototype, "shadowRoot", {
      configurable: true, get() { return chrome.dom.openOrClosedShadowRoot(this); },
    })"""
    tab.in_extension(f"{open_roots}; {script()}; 0")
    found: list[str] = tab.in_extension(f"({RUN})([{json.dumps(part)}, {{}}])")
    return found


@pytest.mark.parametrize("state", STATES)
def test_the_popup_says_its_state_in_plain_words_and_axe_finds_no_problem(
    person: Person, chromium: Chromium, state: str
) -> None:
    stored, sentences = STATES[state]
    # Otherwise the popup asks the library how many posts it has.
    person.library.way.cut()
    person.set(**stored)
    tab = shown(chromium)

    for sentence in sentences:
        wait_for_text(tab, sentence)

    assert tab.run(problems) == []


def test_the_popup_says_that_the_library_is_away_and_axe_finds_no_problem(
    person: Person, chromium: Chromium
) -> None:
    person.x.world.sign_in(saved=20)
    person.library.way.cut()
    person.bookmarks()
    tab = shown(chromium)

    for sentence in ("waiting", "does not answer", "20 posts wait here", "Connect again"):
        wait_for_text(tab, sentence)

    assert tab.run(problems) == []


def test_axe_finds_no_problem_in_what_the_extension_adds_to_pages_of_x(
    person: Person, chromium: Chromium
) -> None:
    person.x.world.sign_in(saved=5)
    post = person.x.world.add_post()
    tab = chromium.open_without_policy(f"{X}/i/bookmarks")
    wait_for_panel(tab, "Start")

    found = closed_violations(tab, "#bowerbird-panel")
    tab.go(f"{X}/{post.author.username}/status/{post.id}")
    tab.click_in("save", "button")
    wait_until(lambda: "Save this post" in tab.text_in("save"))

    assert found + closed_violations(tab, "#bowerbird-save") == []


def test_a_new_extension_asks_for_a_library_and_axe_finds_no_problem(
    person: Person, chromium: Chromium
) -> None:
    person.forget()
    tab = shown(chromium)

    wait_for_text(tab, "not connected")

    assert tab.run(problems) == []


def test_a_connect_line_connects_the_extension(person: Person) -> None:
    person.forget()
    person.x.world.sign_in(saved=5)
    before = len(person.library.device_ids())

    person.connect()

    assert len(person.library.device_ids()) == before + 1
    person.sync()
    person.assert_same_library()


def test_connect_again_in_the_settings_connects_again(person: Person) -> None:
    before = len(person.library.device_ids())
    tab = person.popup()
    wait_for_text(tab, "Nothing read yet")

    tab.click("button[aria-label=Settings]")
    tab.click("text=Connect again")
    wait_for_text(tab, "Connection link")
    # It stays there while the popup looks for news.
    person.set(last_sent_at=SINCE)
    tab.type("#line", person.library.connect_line())
    tab.click("button[type=submit]")

    wait_for_text(tab, "to 127.0.0.1")
    assert len(person.library.device_ids()) == before + 1


def test_a_used_line_and_a_wrong_address_are_explained(person: Person) -> None:
    person.forget()
    line = person.library.connect_line()
    person.connect(line)
    person.forget()
    tab = person.popup()

    for text in ("hello", "hello world", "#K7QM-2XRD"):
        tab.type("#line", text)
        tab.click("button[type=submit]")
        wait_for_text(tab, "This is neither a connection link nor an address.")
        tab.type("#line", "http://library.example")
        tab.click("button[type=submit]")
        wait_for_text(tab, "must begin with https://")
    tab.type("#line", line)
    tab.click("button[type=submit]")
    wait_for_text(tab, "not valid any more")
    tab.type("#line", "http://127.0.0.1:9/#K7QM-2XRD")
    tab.click("button[type=submit]")
    wait_for_text(tab, "does not answer at this address")
    tab.type("#line", "http://library.example/#K7QM-2XRD")
    tab.click("button[type=submit]")

    wait_for_text(tab, "must begin with https://")
    connected = dict.fromkeys(
        ("token", "device_id", "email", "library_url", "keys_url"), "https://a.example"
    )
    connected |= {"token": "dev_forged", "ingest_url": "http://evil.example/ingest/v1"}
    answer = json.dumps({"status": True, "data": connected})
    person.library.way.refusals = [Refusal("/connect/redeem", 200, body=answer)]
    tab.type("#line", f"{person.library.way.address}/#K7QM-2XRD")
    tab.click("button[type=submit]")

    wait_for_text(tab, "Nothing was connected.")
    assert person.ask("view")["state"] == "off"


def test_only_an_address_opens_the_page_that_makes_the_line(
    person: Person, chromium: Chromium
) -> None:
    person.forget()
    tab = person.popup()

    tab.type("#line", person.library.way.address)
    tab.click("button[type=submit]")

    # Nobody is signed in, so the library asks for that first.
    chromium.wait_for_page(f"{person.library.way.address}/sign-in?next=/connect")


def test_the_popup_says_up_to_date_only_after_the_whole_list(person: Person) -> None:
    person.x.world.sign_in(saved=100)
    popup = person.popup()
    wait_for_text(popup, "Nothing read yet")

    tab = person.bookmarks()
    wait_until(lambda: person.waiting() == 0 and person.library.post_ids())
    wait_for_text(popup, "The list was not read to its end")
    wait_for_panel(tab, "Not read to the end")
    person.sync(tab)

    wait_for_text(popup, "up to date")
    wait_for_text(popup, "100 posts in your library")
    wait_for_panel(tab, "Up to date")
    tab.close()
    tab = person.bookmarks()
    wait_for_panel(tab, "Last sync")
    wait_for_panel(tab, ": 100 posts.")


def test_a_visit_that_sees_the_whole_list_is_enough(person: Person) -> None:
    person.x.world.sign_in(saved=5)

    person.bookmarks()

    wait_for_text(person.popup(), "up to date")


def test_the_settings_say_that_a_revoked_browser_was_connected(person: Person) -> None:
    person.library.way.cut()
    person.set(**problem("revoked"))
    tab = person.popup()
    wait_for_text(tab, "This browser was disconnected")

    tab.click("button[aria-label=Settings]")

    wait_for_text(tab, "Was connected to 127.0.0.1")


def test_disconnecting_forgets_the_token_and_what_waits(person: Person) -> None:
    person.x.world.sign_in(saved=20)
    person.library.way.cut()
    person.bookmarks()
    wait_for_text(person.popup(), "Your library does not answer")
    tab = person.popup()

    tab.click("button[aria-label=Settings], footer button")
    tab.click("text=Disconnect…")
    tab.click("text=Disconnect >> nth=-1")

    wait_for_text(tab, "not connected")
    assert person.waiting() == 0
    stored = tab.evaluate("async () => JSON.stringify(await chrome.storage.local.get(null))")
    assert "dev_" not in stored
    wait_for(tab, "() => document.querySelector('#line') !== null")


def test_what_was_being_sent_says_nothing_about_the_next_library(person: Person) -> None:
    way = person.library.way
    account = person.x.world.sign_in(saved=5)
    way.hanging = "/ingest/.*"
    person.bookmarks()
    wait_until(lambda: way.requests)

    assert person.ask("disconnect")["state"] == "off"
    person.connect_directly()
    way.hanging = ""
    # Posts are sent one after the other, so this one is the last.
    saved = person.ask("save", link=f"{X}/someone/status/{account.in_order()[0]}", labels=[])

    assert saved["state"] == "sent"
    assert person.library.pages() == []
    wait_for_text(person.popup(), "Nothing read yet")


def test_what_was_being_sent_is_sent_by_the_device_that_was_connected_meanwhile(
    person: Person,
) -> None:
    way = person.library.way
    person.x.world.sign_in(saved=5)
    before, line = token_of(person), person.library.connect_line()
    way.hanging = "/ingest/.*"
    person.bookmarks()
    wait_until(lambda: way.requests)

    message = {"type": "connect", "text": line}
    # Not waited for: the answer comes when everything is sent.
    person.browser.desk().evaluate("(it) => { chrome.runtime.sendMessage(it); }", message)
    wait_until(lambda: token_of(person) != before)
    way.hanging = ""
    person.library.wait_for(person.x.world.viewer.in_order())

    tokens = {one.headers["authorization"] for one in way.sent_to("/ingest/v1/runs.*")}
    assert tokens == {f"Bearer {token_of(person)}"}
