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
from tests.web.chromium import Chromium, follow
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
