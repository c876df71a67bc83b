"""Digests and statistics in a real browser, in two languages and by keyboard only."""

from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.support import make
from tests.support.serving import Server
from tests.web.accessibility import AXE_SIZES, violations
from tests.web.chromium import FOR_AXE, is_too_wide
from tests.web.library_posts import POSTS

HOSTILE = "</title><script>alert(1)</script><img src=//evil.example/x onerror=alert(1)>"
DIGEST = "/digests/weekly-2026-08-24"
PAGES = ("/statistics", "/statistics?period=all", "/digests", DIGEST)


@pytest.fixture(scope="module")
def posts() -> list[dict[str, Any]]:
    hostile = make.post(
        text=f"{HOSTILE} https://a.example/",
        author="aa",
        name=HOSTILE,
        tags=["<b>x"],
        bookmarked_at="2026-08-26T08:00:00+00:00",
    )
    return [*POSTS, hostile]


@pytest.fixture(scope="module")
def options(server: Server, email: str, options: dict[str, Any]) -> dict[str, Any]:
    server.run("digest", email, "--date", "2026-08-26")
    return options


@pytest.mark.browser.with_args(**FOR_AXE, **AXE_SIZES["phone"])
def test_axe_finds_no_problem_in_open_tables(page: Page) -> None:
    page.goto("/statistics")
    for details in page.locator("details.more").all():
        details.evaluate("each => each.open = true")
    assert violations(page) == []


@pytest.mark.parametrize(
    "language", [None, pytest.param("ar", marks=pytest.mark.browser(locale="ar"))]
)
def test_hostile_text_stays_text_and_no_page_is_too_wide(page: Page, language: str | None) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    for path in PAGES:
        page.goto(path, wait_until="networkidle")
        assert not is_too_wide(page), path
        assert page.locator("main img, main script, main b:has-text('x')").count() == 0
    page.goto("/statistics")
    expect(page.get_by_role("link", name=HOSTILE)).to_have_count(1)
    assert page.locator("time").first.get_attribute("lang") == language
