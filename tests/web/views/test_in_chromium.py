"""Smart Views in a real browser: the live preview, the keyboard, and the flows without a script."""

from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.support import make

HOSTILE = "<img src=x onerror=alert(1)>"


@pytest.fixture(scope="module")
def posts() -> list[dict[str, Any]]:
    texts = ["bower one", "bower two", "bower three", f"nest {HOSTILE}"]
    return [make.post(text=text) for text in texts]


def test_a_list_becomes_a_view_with_a_live_preview(page: Page) -> None:
    page.goto("/library?q=bower")
    page.get_by_role("link", name="Save as Smart View").click()
    count = page.get_by_role("status")
    expect(count).to_have_text("3 posts match")

    words = page.get_by_label("Words", exact=True).first
    words.fill("nest")
    expect(count).to_have_text("1 post matches")
    expect(page.locator(".preview li")).to_contain_text(HOSTILE)
    page.get_by_label("Saved from", exact=True).fill("soon")
    expect(count).to_contain_text("“Saved from” must be")
    page.get_by_label("Saved from", exact=True).fill("last 2 weeks")
    page.get_by_label("Name", exact=True).fill(f"巣 {HOSTILE}")
    words.press("Enter")
    # Enter shows what matches, and saves nothing.
    expect(count).to_have_text("1 post matches")
    expect(page.get_by_label("Name", exact=True)).to_have_value(f"巣 {HOSTILE}")

    page.get_by_role("button", name="Save the view").press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text(f"巣 {HOSTILE}")
    expect(page.get_by_role("status")).to_contain_text("The view is saved.")
    expect(page.locator(".side [aria-current]")).to_contain_text("巣")
    assert page.evaluate("decodeURI(location.pathname)").startswith("/views/巣-img-src-x")

    page.get_by_role("link", name="Edit the view").click()
    page.get_by_role("button", name="Delete").press("Enter")
    expect(page.locator(".side .count", has_text="4").first).to_be_visible()
    page.get_by_role("button", name="Undo").press("Enter")
    expect(page.get_by_role("status")).to_contain_text("Undone.")
    expect(page.locator(".views .name").last).to_have_text(f"巣 {HOSTILE}")
