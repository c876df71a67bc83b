"""Suggested labels in a real browser: in the label picker and on the page of a post."""

from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.support import make
from tests.web.accessibility import each_look, violations

LIST = "/library?is_unread_only=false"


@pytest.fixture(scope="module")
def posts() -> list[dict[str, Any]]:
    """Each author has written four posts with one label, and one without."""
    return [
        make.post(
            text=f"note {n} of {author}", author=author, tags=["databases"] if n < 4 else None
        )
        for author in ("ines", "olga", "nils")
        for n in range(5)
    ]


@each_look
def test_axe_finds_no_problem(page: Page, look: str) -> None:
    page.goto(LIST)
    page.get_by_role("article").filter(has_text="note 4 of olga").locator("a.when").click()
    expect(page.get_by_role("button", name="Add databases")).to_be_visible()
    assert violations(page) == [], look
    page.locator(".read-top, #labels").first.focus()
    page.keyboard.press("l")
    expect(page.locator(".picker").get_by_role("group", name="Suggested")).to_be_visible()
    assert violations(page) == [], look


def test_a_label_that_fits_is_the_first_choice_with_its_reason(page: Page) -> None:
    page.goto(LIST)
    row = page.get_by_role("article").filter(has_text="note 4 of ines")
    row.get_by_role("link", name="Label").click()
    picker = page.locator(".picker")
    suggested = picker.get_by_role("group", name="Suggested").get_by_role("option")
    expect(suggested).to_have_count(1)
    expect(suggested).to_contain_text("like 4 by this author")
    expect(picker.get_by_role("option").filter(has_text="databases")).to_have_count(1)

    page.keyboard.press("Enter")

    expect(row.locator(".tag")).to_have_text(["databases"])
    expect(suggested).to_have_count(0)


def test_a_label_that_fits_is_added_on_the_page_of_the_post(page: Page) -> None:
    page.goto(LIST)
    page.get_by_role("article").filter(has_text="note 4 of olga").locator("a.when").click()

    page.get_by_role("button", name="Add databases").click()

    expect(page.locator("#labels .tag bdi")).to_have_text(["databases"])
    expect(page.locator("#labels .sug")).to_have_count(0)


def test_a_label_that_does_not_fit_is_refused_in_the_picker_with_one_key(page: Page) -> None:
    page.goto(LIST)
    row = page.get_by_role("article").filter(has_text="note 4 of nils")
    row.get_by_role("link", name="Label").click()
    suggested = page.locator(".picker").get_by_role("group", name="Suggested").get_by_role("option")
    expect(suggested).to_have_count(1)

    page.keyboard.press("Delete")

    expect(suggested).to_have_count(0)
    expect(row.locator(".tag")).to_have_count(0)
