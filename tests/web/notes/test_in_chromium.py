"""Notes and highlights in a real browser, with and without scripts."""

import re
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.support import make
from tests.web.chromium import follow, reload_until, wait_until

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
def posts() -> list[dict[str, Any]]:
    return [
        make.post(post_id="1", text=TEXT),
        make.post(post_id="2", text="https://t.co/x", article=ARTICLE),
        make.post(post_id="3", text="without a script"),
        *(make.post(post_id=str(number), text="left early") for number in range(4, 18)),
    ]


def stored(page: Page, post_id: str) -> dict[str, Any]:
    answer = page.context.request.get(f"/p/{post_id}/json")
    found: dict[str, Any] = answer.json()["data"]
    return found


def test_selected_words_are_marked_with_a_key_and_a_button(page: Page) -> None:
    page.goto("/p/1")
    page.evaluate(SELECT, ["baut", "<b>Bl"])
    page.keyboard.press("h")
    expect(page.get_by_role("status")).to_contain_text("The passage is marked.")
    expect(page.locator("article mark").first).to_have_text("baut ")
    [made] = stored(page, "1")["highlights"]
    assert made["quote"] == "baut #Lauben aus <b>Bl"
    assert TEXT[made["start"] : made["end"]] == made["quote"]

    page.goto("/p/2")
    page.evaluate(SELECT, ["no nest", "Nobody 🐦"])
    page.get_by_role("button", name="Highlight", exact=True).click()
    expect(page.locator("article mark")).to_have_text(["no nest.", "Nobody 🐦"])
    assert re.search(r"#h-\w+$", page.url)
    [made] = stored(page, "2")["highlights"]
    assert (made["field"], made["quote"]) == ("article", "no nest.\n\nNobody 🐦")

    page.get_by_role("button", name=re.compile("Remove the highlight")).click()
    expect(page.locator("article mark")).to_have_count(0)
    page.get_by_role("button", name="Undo").click()
    expect(page.locator("article mark")).to_have_count(2)


def test_a_note_is_saved_when_its_field_is_left(page: Page) -> None:
    page.goto("/p/1")
    field = page.get_by_label("Note about this post")
    field.fill("**Blue** <img src=x>")
    field.press("Tab")
    expect(page.locator("[data-state]")).to_have_text("Saved.")
    assert stored(page, "1")["note"] == "**Blue** <img src=x>"
    page.reload()
    expect(page.locator(".noted strong")).to_have_text("Blue")
    expect(page.locator(".noted")).to_contain_text("<img src=x>")
    page.get_by_text("Edit the note").click()
    field.fill("Later")
    # Closing the field leaves it, and shows the new note.
    page.get_by_text("Edit the note").click()
    expect(page.locator(".noted")).to_have_text("Later")


@pytest.mark.parametrize("post_id", ["16", "17"])
def test_the_button_says_that_the_note_is_saved_and_undoes_it(page: Page, post_id: str) -> None:
    page.goto(f"/p/{post_id}")
    field = page.get_by_label("Note about this post")
    save = page.locator("#note").get_by_role("button", name="Save")
    field.press_sequentially("By hand")
    if post_id == "16":
        follow(page, save)
        expect(page.locator(".noted")).to_have_text("By hand")
    else:
        # With the keyboard, the field is left before the button is pressed.
        field.press("Tab")
        save.press("Enter")
        expect(page.locator("[data-state]")).to_have_text("Saved.")
        save.press("Enter")
    message = page.locator(".toast")
    expect(message).to_contain_text("The note is saved.")
    assert stored(page, post_id)["note"] == "By hand"
    follow(page, message.get_by_role("button", name="Undo"))
    assert not stored(page, post_id).get("note")


def wait_for_note(page: Page, post_id: str, note: str) -> None:
    reload_until(page, lambda: stored(page, post_id).get("note") == note)


def test_a_note_is_saved_when_the_page_is_left_while_it_is_typed(page: Page) -> None:
    field = page.get_by_label("Note about this post")
    page.goto("/p/4")
    field.press_sequentially("Before a reload")
    page.reload()
    expect(field).to_have_value("Before a reload")
    wait_for_note(page, "4", "Before a reload")

    page.goto("/p/5")
    field.press_sequentially("Elsewhere")
    page.goto("/labels")
    wait_for_note(page, "5", "Elsewhere")
    page.goto("/p/5")
    expect(page.locator(".noted")).to_have_text("Elsewhere")
    # Nothing is left of it in the browser.
    key = page.locator("form[data-note]").get_attribute("data-draft")
    page.wait_for_function("(key) => localStorage.getItem(key) === null", arg=key)


def leave_by_address(page: Page) -> None:
    page.goto("/labels")


def leave_by_reload(page: Page) -> None:
    # The page that comes back would send the note itself.
    page.evaluate("localStorage.clear()")
    page.reload()


@pytest.mark.parametrize(
    ("post_id", "leave"),
    [
        ("12", leave_by_address),
        ("13", Page.go_back),
        ("14", leave_by_reload),
        ("15", Page.close),
    ],
)
@pytest.mark.browser(has_service_worker=True, may_complain=True)
def test_a_note_leaves_the_browser_with_its_page_while_the_service_worker_runs(
    page: Page, post_id: str, leave: Any
) -> None:
    page.goto("/labels")
    page.evaluate("navigator.serviceWorker.ready.then(() => null)")
    page.goto(f"/p/{post_id}")
    assert page.evaluate("navigator.serviceWorker.controller !== null")
    page.get_by_label("Note about this post").press_sequentially("Left early")
    other = page.context.new_page()
    leave(page)
    # This page opens nothing of the site, so that nothing there can send the note.
    wait_until(lambda: stored(other, post_id).get("note") == "Left early")


@pytest.mark.browser(may_complain=True)
def test_a_note_that_could_not_be_sent_is_there_when_the_page_is_opened_again(page: Page) -> None:
    # More than browsers send for a page that is left.
    long = "\u5ead" * 12_000
    field = page.get_by_label("Note about this post")
    page.goto("/p/6")
    page.context.set_offline(True)
    field.fill("Under way")
    field.press("Tab")
    expect(page.locator("[data-state]")).to_contain_text("Not saved")
    page.context.set_offline(False)
    page.goto("/p/6")
    expect(field).to_have_value("Under way")
    expect(page.locator("[data-state]")).to_have_text("Saved.")
    assert stored(page, "6")["note"] == "Under way"

    page.goto("/p/7")
    field.fill(long)
    page.goto("/labels")
    page.goto("/p/7")
    expect(field).to_have_value(long)
    wait_for_note(page, "7", long)


def test_an_old_draft_waits_for_the_button(page: Page) -> None:
    page.goto("/p/2")
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
    assert not stored(page, "2").get("note")
    page.locator("#note").get_by_role("button", name="Save").click()
    expect(page.locator(".noted")).to_have_text("Old")


def test_a_note_is_saved_although_the_server_removes_the_space_at_its_end(page: Page) -> None:
    page.goto("/p/8")
    field = page.get_by_label("Note about this post")
    key = page.locator("form[data-note]").get_attribute("data-draft")
    field.press_sequentially("abc ")
    page.reload()
    wait_for_note(page, "8", "abc")
    # As a page leaves it that did not wait for the answer.
    page.evaluate(
        "([key, draft]) => localStorage.setItem(key, JSON.stringify(draft))",
        [key, {"text": "abc ", "over": ["", ""], "at": 0}],
    )
    page.reload()
    expect(page.locator("[data-state]")).to_have_text("Markdown works here.")
    page.wait_for_function("(key) => localStorage.getItem(key) === null", arg=key)


@pytest.mark.browser(email="leaves-notes@example.com")
def test_drafts_of_notes_do_not_outlive_the_sign_out(page: Page) -> None:
    page.goto("/library")
    page.evaluate("for (const key of ['note 1 9', 'reading-places', 'a']) localStorage[key] = '{}'")
    page.goto("/labels")
    follow(page, page.get_by_role("button", name="Sign out"))
    assert page.evaluate("Object.keys(localStorage)") == ["a"]
