"""Notes and highlights in a real browser, with and without scripts."""

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.support import make, serving
from tests.support.serving import Server
from tests.web.account.test_in_chromium import address
from tests.web.chromium import Chromium, follow, reload_until, wait_until
from tests.web.sessions import signed_in_state
from tests.web.sign_in.test_in_chromium import Watch

TEXT = (
    "👍 Ein Vogel https://example.org/a/very/long/path/of/an/address baut #Lauben aus <b>Blau</b>"
)
ARTICLE = {"title": "Stages", "plain_text": "A bower is no nest.\n\nNobody 🐦 sleeps there."}
# Selects from the first occurrence of some words to the end of the last ones.
SELECT = """([first, last]) => {
  const walk = (words) => {
    const post = document.querySelector("article");
    const nodes = document.createTreeWalker(post, NodeFilter.SHOW_TEXT);
    while (nodes.nextNode()) {
      const place = nodes.currentNode.data.indexOf(words);
      if (place >= 0) return [nodes.currentNode, place];
    }
    throw new Error(words);
  };
  const [from, start] = walk(first), [to, end] = walk(last);
  getSelection().setBaseAndExtent(from, start, to, end + last.length);
}"""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("notes")
    file = folder / "posts.json"
    posts = [
        make.post(post_id="1", text=TEXT),
        make.post(post_id="2", text="https://t.co/x", article=ARTICLE),
        make.post(post_id="3", text="without a script"),
        *(make.post(post_id=str(number), text="left early") for number in range(4, 16)),
    ]
    file.write_text(json.dumps(posts))
    with serving.serving(folder) as running:
        running.run("account", "create", "me@example.com")
        running.run("import", "me@example.com", str(file))
        yield running


@pytest.fixture(scope="module")
def state(server: Server) -> Any:
    return signed_in_state(server)


def visited(
    server: Server, chromium: Chromium, state: Any, visit: Any, **options: Any
) -> list[str]:
    """The problems of a visit with the cookies of somebody who is signed in."""

    def watched(page: Page) -> list[str]:
        watch = Watch(page, server)
        visit(page)
        return watch.problems

    return chromium.run(watched, storage_state=state, **options)


def stored(page: Page, server: Server, post_id: str) -> dict[str, Any]:
    answer = page.context.request.get(address(server, f"/p/{post_id}/json"))
    found: dict[str, Any] = answer.json()["data"]
    return found


def test_selected_words_are_marked_with_a_key_and_a_button(
    server: Server, chromium: Chromium, state: Any
) -> None:
    def visit(page: Page) -> None:
        page.goto(address(server, "/p/1"))
        page.evaluate(SELECT, ["baut", "<b>Bl"])
        page.keyboard.press("h")
        expect(page.get_by_role("status")).to_contain_text("The passage is marked.")
        expect(page.locator("article mark").first).to_have_text("baut ")
        [made] = stored(page, server, "1")["highlights"]
        assert made["quote"] == "baut #Lauben aus <b>Bl"
        assert TEXT[made["start"] : made["end"]] == made["quote"]

        page.goto(address(server, "/p/2"))
        page.evaluate(SELECT, ["no nest", "Nobody 🐦"])
        page.get_by_role("button", name="Highlight", exact=True).click()
        expect(page.locator("article mark")).to_have_text(["no nest.", "Nobody 🐦"])
        assert re.search(r"#h-\w+$", page.url)
        [made] = stored(page, server, "2")["highlights"]
        assert (made["field"], made["quote"]) == ("article", "no nest.\n\nNobody 🐦")

        page.get_by_role("button", name=re.compile("Remove the highlight")).click()
        expect(page.locator("article mark")).to_have_count(0)
        page.get_by_role("button", name="Undo").click()
        expect(page.locator("article mark")).to_have_count(2)

    assert visited(server, chromium, state, visit) == []


def test_a_note_is_saved_when_its_field_is_left(
    server: Server, chromium: Chromium, state: Any
) -> None:
    def visit(page: Page) -> None:
        page.goto(address(server, "/p/1"))
        field = page.get_by_label("Note about this post")
        field.fill("**Blue** <img src=x>")
        field.press("Tab")
        expect(page.locator("[data-state]")).to_have_text("Saved.")
        assert stored(page, server, "1")["note"] == "**Blue** <img src=x>"
        page.reload()
        expect(page.locator(".noted strong")).to_have_text("Blue")
        expect(page.locator(".noted")).to_contain_text("<img src=x>")
        page.get_by_text("Edit the note").click()
        field.fill("Later")
        # Closing the field leaves it, and shows the new note.
        page.get_by_text("Edit the note").click()
        expect(page.locator(".noted")).to_have_text("Later")

    assert visited(server, chromium, state, visit) == []


def wait_for_note(page: Page, server: Server, post_id: str, note: str) -> None:
    reload_until(page, lambda: stored(page, server, post_id).get("note") == note)


def test_a_note_is_saved_when_the_page_is_left_while_it_is_typed(
    server: Server, chromium: Chromium, state: Any
) -> None:
    def visit(page: Page) -> None:
        field = page.get_by_label("Note about this post")
        page.goto(address(server, "/p/4"))
        field.press_sequentially("Before a reload")
        page.reload()
        expect(field).to_have_value("Before a reload")
        wait_for_note(page, server, "4", "Before a reload")

        page.goto(address(server, "/p/5"))
        field.press_sequentially("Elsewhere")
        page.goto(address(server, "/labels"))
        wait_for_note(page, server, "5", "Elsewhere")
        page.goto(address(server, "/p/5"))
        expect(page.locator(".noted")).to_have_text("Elsewhere")
        # Nothing is left of it in the browser.
        key = page.locator("form[data-note]").get_attribute("data-draft")
        page.wait_for_function("(key) => localStorage.getItem(key) === null", arg=key)

    assert visited(server, chromium, state, visit) == []


def leave_by_address(page: Page, server: Server) -> None:
    page.goto(address(server, "/labels"))


def leave_backwards(page: Page, _: Server) -> None:
    page.go_back()


def leave_by_reload(page: Page, _: Server) -> None:
    # The page that comes back would send the note itself.
    page.evaluate("localStorage.clear()")
    page.reload()


def leave_by_closing(page: Page, _: Server) -> None:
    page.close()


@pytest.mark.parametrize(
    ("post_id", "leave"),
    [
        ("12", leave_by_address),
        ("13", leave_backwards),
        ("14", leave_by_reload),
        ("15", leave_by_closing),
    ],
)
def test_a_note_leaves_the_browser_with_its_page_while_the_service_worker_runs(
    server: Server, chromium: Chromium, state: Any, post_id: str, leave: Any
) -> None:
    def visit(page: Page) -> None:
        page.goto(address(server, "/labels"))
        page.evaluate("navigator.serviceWorker.ready.then(() => null)")
        page.goto(address(server, f"/p/{post_id}"))
        assert page.evaluate("navigator.serviceWorker.controller !== null")
        page.get_by_label("Note about this post").press_sequentially("Left early")
        other = page.context.new_page()
        leave(page, server)
        # This page opens nothing of the site, so that nothing there can send the note.
        wait_until(lambda: stored(other, server, post_id).get("note") == "Left early")

    visited(server, chromium, state, visit, has_service_worker=True)


def test_a_note_that_could_not_be_sent_is_there_when_the_page_is_opened_again(
    server: Server, chromium: Chromium, state: Any
) -> None:
    # More than browsers send for a page that is left.
    long = "\u5ead" * 12_000

    def visit(page: Page) -> None:
        field = page.get_by_label("Note about this post")
        page.goto(address(server, "/p/6"))
        page.context.set_offline(True)
        field.fill("Under way")
        field.press("Tab")
        expect(page.locator("[data-state]")).to_contain_text("Not saved")
        page.context.set_offline(False)
        page.goto(address(server, "/p/6"))
        expect(field).to_have_value("Under way")
        expect(page.locator("[data-state]")).to_have_text("Saved.")
        assert stored(page, server, "6")["note"] == "Under way"

        page.goto(address(server, "/p/7"))
        field.fill(long)
        page.goto(address(server, "/labels"))
        page.goto(address(server, "/p/7"))
        expect(field).to_have_value(long)
        wait_for_note(page, server, "7", long)

    visited(server, chromium, state, visit)


def test_an_old_draft_waits_for_the_button(server: Server, chromium: Chromium, state: Any) -> None:
    def visit(page: Page) -> None:
        page.goto(address(server, "/p/2"))
        field = page.get_by_label("Note about this post")
        # Somebody may have removed the note on another device since.
        page.evaluate("""() => {
          const key = document.querySelector("form[data-note]").dataset.draft;
          localStorage.setItem(key, JSON.stringify({ text: "Old", over: [""], at: 0 }));
        }""")
        page.reload()
        expect(field).to_have_value("Old")
        expect(page.locator("[data-state]")).to_contain_text("Press Save to keep it.")
        page.reload()
        expect(field).to_have_value("Old")
        assert not stored(page, server, "2").get("note")
        page.locator("#note").get_by_role("button", name="Save").click()
        expect(page.locator(".noted")).to_have_text("Old")

    assert visited(server, chromium, state, visit) == []


def test_a_note_is_saved_although_the_server_removes_the_space_at_its_end(
    server: Server, chromium: Chromium, state: Any
) -> None:
    def visit(page: Page) -> None:
        page.goto(address(server, "/p/8"))
        field = page.get_by_label("Note about this post")
        key = page.locator("form[data-note]").get_attribute("data-draft")
        field.press_sequentially("abc ")
        page.reload()
        wait_for_note(page, server, "8", "abc")
        # As a page leaves it that did not wait for the answer.
        page.evaluate(
            "([key, draft]) => localStorage.setItem(key, JSON.stringify(draft))",
            [key, {"text": "abc ", "over": ["", ""], "at": 0}],
        )
        page.reload()
        expect(page.locator("[data-state]")).to_have_text("Markdown works here.")
        page.wait_for_function("(key) => localStorage.getItem(key) === null", arg=key)

    assert visited(server, chromium, state, visit) == []


def test_drafts_of_notes_do_not_outlive_the_sign_out(server: Server, chromium: Chromium) -> None:
    def visit(page: Page) -> None:
        page.goto(address(server, "/p/9"))
        page.evaluate("localStorage.setItem('note 1 9', '{}'); localStorage.setItem('a', 'b')")
        page.goto(address(server, "/labels"))
        follow(page, page.get_by_role("button", name="Sign out"))
        assert page.evaluate("Object.keys(localStorage)") == ["a"]

    assert visited(server, chromium, signed_in_state(server), visit) == []


def test_notes_and_highlights_work_without_scripts(
    server: Server, chromium: Chromium, state: Any
) -> None:
    def visit(page: Page) -> None:
        page.goto(address(server, "/library"))
        page.goto(address(server, "/p/3?from=%2Flibrary%3Fsort_order%3Dasc"))
        page.get_by_label("Note about this post").fill("Mine")
        page.locator("#note").get_by_role("button", name="Save").click()
        expect(page.locator(".noted")).to_have_text("Mine")
        page.get_by_role("button", name="Undo").click()
        expect(page.locator(".noted")).to_have_count(0)
        page.get_by_text("Mark a passage").click()
        page.get_by_label("Words, as they are in the post").fill("a script")
        page.get_by_role("button", name="Mark", exact=True).click()
        expect(page.locator("article mark")).to_have_text("a script")
        follow(page, page.get_by_role("link", name="Back to the list"))
        assert page.url.endswith("/library?sort_order=asc#p-3")

    assert visited(server, chromium, state, visit, java_script_enabled=False) == []
