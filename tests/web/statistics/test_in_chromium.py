"""Digests and statistics in a real browser, in two languages and by keyboard only."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.support import make, serving
from tests.support.serving import Server
from tests.web.accessibility import violations
from tests.web.account.test_in_chromium import address
from tests.web.chromium import Chromium, follow
from tests.web.library_posts import POSTS
from tests.web.rendered import SIZES
from tests.web.sessions import signed_in_state
from tests.web.sign_in.test_in_chromium import Watch

HOSTILE = "</title><script>alert(1)</script><img src=//evil.example/x onerror=alert(1)>"
DIGEST = "/digests/weekly-2026-08-24"
PAGES = ("/statistics", "/statistics?period=all", "/digests", DIGEST)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("statistics")
    file = folder / "posts.json"
    hostile = make.post(
        text=f"{HOSTILE} https://a.example/",
        author="aa",
        name=HOSTILE,
        tags=["<b>x"],
        bookmarked_at="2026-08-26T08:00:00+00:00",
    )
    file.write_text(json.dumps([*POSTS, hostile]))
    with serving.serving(folder) as running:
        running.run("account", "create", "me@example.com")
        running.run("import", "me@example.com", str(file))
        running.run("digest", "me@example.com", "--date", "2026-08-26")
        yield running


@pytest.fixture(scope="module")
def state(server: Server) -> Any:
    return signed_in_state(server)


def test_axe_finds_no_problem_in_open_tables(
    server: Server, chromium: Chromium, state: Any
) -> None:
    def visit(page: Page) -> list[str]:
        page.goto(address(server, "/statistics"))
        for details in page.locator("details.more").all():
            details.evaluate("each => each.open = true")
        return violations(page)

    # The content security policy would block axe itself.
    found = chromium.run(
        visit, storage_state=state, bypass_csp=True, reduced_motion="reduce", **SIZES["phone"]
    )
    assert found == []


@pytest.mark.parametrize("locale", ["en-GB", "ar"])
def test_hostile_text_stays_text_and_no_page_is_too_wide(
    server: Server, chromium: Chromium, state: Any, locale: str
) -> None:
    def visit(page: Page) -> tuple[list[str], dict[str, int], set[str]]:
        watch = Watch(page, server)
        hosts: set[str] = set()
        page.on("request", lambda request: hosts.add(request.url.split("/")[2]))
        widths = {}
        for path in PAGES:
            page.goto(address(server, path), wait_until="networkidle")
            widths[path] = page.evaluate("document.documentElement.scrollWidth")
            assert page.locator("main img, main script, main b:has-text('x')").count() == 0
        page.goto(address(server, "/statistics"))
        expect(page.get_by_role("link", name=HOSTILE)).to_have_count(1)
        language = page.locator("time").first.get_attribute("lang")
        assert language == (None if locale == "en-GB" else "ar")
        return watch.problems, widths, hosts

    problems, widths, hosts = chromium.run(
        visit, storage_state=state, locale=locale, viewport={"width": 390, "height": 844}
    )
    assert problems == []
    assert widths == dict.fromkeys(PAGES, 390)
    assert hosts == {f"localhost:{server.port}"}


def test_a_bar_an_author_and_a_digest_lead_to_posts_without_scripts(
    server: Server, chromium: Chromium, state: Any
) -> None:
    def visit(page: Page) -> list[str]:
        watch = Watch(page, server)
        page.goto(address(server, "/statistics?period=all"))
        page.locator(".chart a").last.click()
        expect(page.get_by_role("article")).not_to_have_count(0)
        page.goto(address(server, "/statistics?period=all"))
        # By keyboard: the table has the same links.
        table = page.get_by_text("As a table").first
        table.focus()
        page.keyboard.press("Enter")
        page.keyboard.press("Tab")
        page.keyboard.press("Enter")
        expect(page.get_by_role("heading", level=1)).to_contain_text("post")
        page.goto(address(server, "/digests"))
        page.get_by_role("link", name="24 to 30 August 2026").click()
        follow(page, page.locator(".picks a, .also a").first)
        assert "/p/" in page.url
        return watch.problems

    assert chromium.run(visit, storage_state=state, java_script_enabled=False) == []
