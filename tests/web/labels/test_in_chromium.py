"""Labels in a real browser: the picker from the keyboard, the page, and both without scripts."""

from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.support import make
from tests.web.accessibility import each_look, violations
from tests.web.chromium import follow, is_too_wide, reload_until
from tests.web.labels.test_pages import HOSTILE

LIST = "/library?is_unread_only=false"
FRAMES = """() => new Promise((done) => {
  requestAnimationFrame(() => requestAnimationFrame(() => requestAnimationFrame(done)));
})"""


@pytest.fixture(scope="module")
def posts() -> list[dict[str, Any]]:
    tags: list[list[str]] = [["birds"], ["birds", "art"], [], [], HOSTILE]
    return [make.post(text=f"post {n}", tags=each or None) for n, each in enumerate(tags)]


def post(page: Page, number: int) -> Locator:
    return page.get_by_role("article").filter(has_text=f"post {number}")


def choices(page: Page) -> Locator:
    return page.locator(".picker").get_by_role("option")


def option(page: Page, name: str) -> Locator:
    return choices(page).filter(has_text=name)


def pick(page: Page, *numbers: int) -> None:
    """Selects posts."""
    for number in numbers:
        post(page, number).get_by_role("checkbox", name="Select").check()


def test_the_row_stays_marked_while_its_labels_are_chosen(page: Page) -> None:
    mark = """(row) => {
      const { backgroundColor, borderInlineStart } = getComputedStyle(row, "::before");
      return backgroundColor + borderInlineStart;
    }"""
    page.goto(LIST)
    page.keyboard.press("j")
    first = page.locator(".post:focus").locator("xpath=..").get_attribute("id")
    row = page.locator(f"#{first} > .post")
    marked = row.evaluate(mark)
    page.keyboard.press("l")
    expect(page.get_by_role("combobox", name="Find or make a label")).to_be_focused()
    assert row.evaluate(mark) == marked
    page.keyboard.press("Escape")
    expect(row).to_be_focused()
    page.keyboard.press("j")
    expect(row).not_to_be_focused()
    assert row.evaluate(mark) != marked


def test_a_post_is_labelled_with_the_keyboard_only(page: Page) -> None:
    page.goto(LIST)
    button = post(page, 2).get_by_role("link", name="Label")
    button.focus()
    page.keyboard.press("Enter")
    box = page.get_by_role("combobox", name="Find or make a label")
    expect(box).to_be_focused()
    page.keyboard.type("BIR")
    expect(option(page, "birds")).to_have_attribute("aria-selected", "false")
    expect(choices(page)).to_have_count(2)
    page.keyboard.press("Enter")
    expect(post(page, 2).locator(".tag")).to_have_text(["birds"])
    expect(option(page, "birds")).to_have_attribute("aria-selected", "true")
    expect(page.locator(".toast")).to_contain_text("Added the label “birds” to 1 post.")

    page.keyboard.type("new & <b>")
    expect(option(page, "Make “new & <b>”")).to_be_visible()
    expect(choices(page)).to_have_count(1)
    page.keyboard.press("Enter")
    expect(post(page, 2).locator(".tag")).to_have_text(["birds", "new & <b>"])
    # The sidebar has the new label too, in the order of the names.
    side = page.locator(".side ul[data-labels] bdi")
    expect(side.filter(has_text="new & <b>")).to_have_count(1)
    names = side.all_inner_texts()
    page.keyboard.press("Escape")
    expect(box).to_be_hidden()
    expect(button).to_be_focused()
    page.reload()
    expect(post(page, 2).locator(".tag")).to_have_text(["birds", "new & <b>"])
    assert side.all_inner_texts() == names

    button.focus()
    page.keyboard.press("Enter")
    expect(choices(page).first).to_be_visible()
    # Enter comes before the choices for the text.
    page.keyboard.type("passing")
    page.keyboard.press("Enter")
    expect(side.filter(has_text="passing")).to_have_count(1)
    page.keyboard.press("Escape")
    page.keyboard.press("z")
    expect(side.filter(has_text="passing")).to_have_count(0)


def test_changes_that_wait_for_another_one_are_sent_when_the_page_is_left(page: Page) -> None:
    # The first change of each kind gets no answer.
    hold = """(() => {
      const send = window.fetch, held = new Set();
      window.fetch = (url, options) => {
        const path = new URL(url, location.href).pathname;
        if (options?.method !== "POST" || held.has(path)) return send(url, options);
        held.add(path);
        return new Promise(() => {});
      };
    })()"""
    page.goto(LIST)
    page.evaluate(hold)
    post(page, 3).get_by_role("button", name="Mark read").click()
    post(page, 4).get_by_role("button", name="Mark read").click()
    post(page, 3).get_by_role("link", name="Label").click()
    option(page, "art").click()
    option(page, "birds").click()
    page.goto("/labels")
    page.goto(LIST)
    tags = post(page, 3).locator(".tag")
    reload_until(page, lambda: tags.all_inner_texts() == ["birds"])
    reload_until(page, lambda: page.locator("article.read").count() == 1)
    # As it was, for other tests.
    post(page, 4).get_by_role("button", name="Mark unread").click()
    post(page, 3).get_by_role("link", name="Label").click()
    option(page, "birds").click()
    expect(tags).to_have_count(0)
    page.reload()
    reload_until(page, lambda: page.locator("article.read").count() == 0)


def test_changes_wait_for_each_other_again_after_a_return_to_the_page(page: Page) -> None:
    # The tests' browser has no back/forward cache: this is what a page sees of one.
    returns = """(() => {
      for (const name of ["pagehide", "pageshow"]) {
        dispatchEvent(new PageTransitionEvent(name, { persisted: true }));
      }
    })()"""
    # No change gets an answer.
    hold = """(() => {
      const send = window.fetch;
      window.sent = [];
      window.fetch = (url, options) => {
        if (options?.method !== "POST") return send(url, options);
        window.sent.push(new URL(url, location.href).pathname);
        return new Promise(() => {});
      };
    })()"""
    # What does not wait has been sent then.
    sent = """new Promise((resolve) => {
      setTimeout(() => setTimeout(() => resolve(window.sent)));
    })"""
    page.goto(LIST)
    post(page, 3).get_by_role("link", name="Label").click()
    expect(option(page, "birds")).to_be_visible()
    page.evaluate(returns)
    page.evaluate(hold)
    option(page, "art").click()
    option(page, "birds").click()
    [of_label] = page.evaluate(sent)
    page.keyboard.press("Escape")
    post(page, 3).get_by_role("button", name="Mark read").click()
    post(page, 4).get_by_role("button", name="Mark read").click()
    assert page.evaluate(sent) == [of_label, "/library/change"]


@pytest.mark.parametrize("size", [(1280, 700), (1280, 1100), (390, 844)])
@pytest.mark.browser(reduced_motion="reduce")
def test_the_picker_does_not_cover_its_row(page: Page, size: tuple[int, int]) -> None:
    page.set_viewport_size({"width": size[0], "height": size[1]})
    page.goto(LIST)
    for number in range(5):
        page.keyboard.press("j")
        focused = page.locator(".posts article").nth(number)
        expect(focused).to_be_focused()
        page.keyboard.press("l")
        expect(choices(page).first).to_be_visible()
        # The key scrolls with the next frame, and the picker follows with the one after it.
        page.evaluate(FRAMES)
        picker = page.locator(".picker").bounding_box()
        row = focused.bounding_box()
        page.keyboard.press("Escape")
        expect(page.locator(".picker")).to_be_hidden()
        assert picker
        assert row
        assert row["y"] >= 0
        assert row["y"] + row["height"] <= picker["y"] or (
            picker["y"] + picker["height"] <= row["y"] <= size[1] - row["height"]
        ), number
        assert picker["y"] + picker["height"] <= size[1]


def test_the_arrows_choose_and_undo_takes_it_back(page: Page) -> None:
    page.goto(LIST)
    post(page, 1).get_by_role("link", name="Label").focus()
    page.keyboard.press("Enter")
    # The labels of the post come first.
    expect(choices(page).nth(1)).to_contain_text("birds")
    active = page.locator("[role=option].at")
    expect(active).to_contain_text("art")
    page.keyboard.press("ArrowDown")
    expect(active).to_contain_text("birds")
    box = page.get_by_role("combobox", name="Find or make a label")
    expect(box).to_have_attribute("aria-activedescendant", active.get_attribute("id") or "")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Enter")
    expect(post(page, 1).locator(".tag")).to_have_text(["birds"])
    page.keyboard.press("Escape")
    undo = page.get_by_role("button", name="Undo")
    undo.focus()
    page.keyboard.press("Enter")
    expect(page.locator(".toast")).to_contain_text("Undone: 1 post changed back.")
    expect(post(page, 1).locator(".tag")).to_have_text(["birds", "art"])
    page.reload()
    expect(post(page, 1).locator(".tag")).to_have_text(["art", "birds"])


def test_many_posts_are_labelled_and_the_key_opens_the_picker(page: Page) -> None:
    page.goto(f"{LIST}&density=compact")
    pick(page, 0, 1, 3)
    page.keyboard.press("l")
    box = page.get_by_role("combobox", name="Find or make a label")
    expect(box).to_have_value("")
    expect(option(page, "art")).to_contain_text("1 of 3")
    expect(option(page, "birds")).to_contain_text("2 of 3")
    page.keyboard.type("art")
    expect(choices(page)).to_have_count(1)
    page.keyboard.press("Enter")
    expect(option(page, "art")).to_contain_text("all 3")
    for number in (0, 1, 3):
        expect(post(page, number).locator(".dot[title=art]")).to_have_count(1)
    page.keyboard.press("Enter")
    for number in (0, 1, 3):
        expect(post(page, number).locator(".dot[title=art]")).to_have_count(0)
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Undo").click()
    for number in (0, 1, 3):
        expect(post(page, number).locator(".dot[title=art]")).to_have_count(1)


def test_the_page_of_a_post_has_the_picker_too(page: Page) -> None:
    page.goto(LIST)
    link = post(page, 3).get_by_role("link", name="post 3")
    follow(page, link.or_(post(page, 3).locator("a.when")).first)
    page.get_by_role("link", name="Label", exact=True).click()
    expect(page.get_by_role("combobox", name="Find or make a label")).to_be_focused()
    page.keyboard.type("quiet")
    expect(option(page, "Make “quiet”")).to_be_visible()
    page.keyboard.press("Enter")
    expect(page.locator("#labels .tag bdi").filter(has_text="quiet")).to_be_visible()
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Remove “quiet”").click()
    expect(page.get_by_role("status")).to_contain_text("The label is removed.")
    page.get_by_role("button", name="Undo").click()
    expect(page.locator("#labels .tag bdi").filter(has_text="quiet")).to_be_visible()


@pytest.mark.browser(viewport={"width": 390, "height": 844})
def test_hostile_names_stay_text_in_the_picker(page: Page) -> None:
    page.goto(LIST)
    post(page, 4).get_by_role("link", name="More").click()
    page.get_by_role("dialog").get_by_role("button", name="Label").click()
    for name in HOSTILE:
        expect(page.locator(".picker bdi").get_by_text(name, exact=True)).to_be_visible()
    page.keyboard.type("<img src=x>")
    expect(option(page, "Make “<img src=x>”")).to_be_visible()
    assert page.locator(".picker :is(img, script)").count() == 0
    assert not is_too_wide(page)


@each_look
def test_axe_finds_no_problem(page: Page, look: str) -> None:
    page.goto("/labels")
    assert violations(page) == [], look
    page.get_by_role("link", name="Edit birds").click()
    expect(page.get_by_label("Name", exact=True)).to_be_focused()
    assert violations(page) == [], look
    page.goto(LIST)
    pick(page, 0, 1)
    page.evaluate("document.dispatchEvent(new CustomEvent('library:label'))")
    expect(choices(page).first).to_be_visible()
    assert violations(page) == [], look
