"""The library in a real browser: accessibility, width, policy, and the flows without a script."""

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.support import make, serving
from tests.support.serving import Server
from tests.web.accessibility import violations, violations_in_each_look
from tests.web.account.test_in_chromium import address, signed_in
from tests.web.chromium import Chromium, follow
from tests.web.library_posts import POSTS
from tests.web.rendered import AXE_SIZES
from tests.web.sessions import signed_in_state
from tests.web.sign_in.test_in_chromium import Watch

PAGES = (
    "/library",
    "/library?density=compact&is_unread_only=false",
    "/library?q=nest&is_unread_only=false",
    "/library?q=nothing-has-this",
    f"/p/{POSTS[2]['post_id']}",
    f"/p/{POSTS[5]['post_id']}",
    f"/p/{POSTS[0]['post_id']}",
)

WIDTHS = (360, 390, 1280)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("library")
    file = folder / "posts.json"
    # Older than the others, however many posts other tests have made.
    more = [
        make.post(text=f"an older post, number {number}", sort_index=number) for number in range(60)
    ]
    file.write_text(json.dumps([*POSTS, *more]))
    with serving.serving(folder) as running:
        running.run("account", "create", "me@example.com")
        running.run("account", "create", "new@example.com")
        running.run("import", "me@example.com", str(file))
        yield running


@pytest.fixture(scope="module")
def state(server: Server) -> Any:
    return signed_in_state(server)


def scroll_width(page: Page, width: int) -> int:
    """How wide the open page is in a window of this width."""
    page.set_viewport_size({"width": width, "height": 844})
    found: int = page.evaluate("document.documentElement.scrollWidth")
    return found


def without_scripts(server: Server, chromium: Chromium, state: Any, visit: Any) -> list[str]:
    def watched(page: Page) -> list[str]:
        watch = Watch(page, server)
        visit(page)
        return watch.problems

    return chromium.run(watched, storage_state=state, java_script_enabled=False)


def test_axe_finds_no_problem(server: Server, chromium: Chromium, state: Any) -> None:
    def visit(page: Page) -> dict[str, list[str]]:
        found = {}
        for path in PAGES:
            page.goto(address(server, path))
            found[path] = violations_in_each_look(page)
        return found

    # The content security policy would block axe itself.
    found = chromium.run(visit, storage_state=state, bypass_csp=True, reduced_motion="reduce")
    assert found == {name: [] for name in PAGES}


@pytest.mark.parametrize("size", AXE_SIZES)
def test_axe_finds_no_problem_in_the_filters(
    server: Server, chromium: Chromium, state: Any, size: str
) -> None:
    def visit(page: Page) -> list[str]:
        page.goto(address(server, "/library"))
        page.get_by_text("Filter", exact=True).click()
        return violations(page)

    found = chromium.run(
        visit, storage_state=state, bypass_csp=True, reduced_motion="reduce", **AXE_SIZES[size]
    )
    assert found == []


def test_nothing_is_requested_elsewhere_and_no_page_is_too_wide(
    server: Server, chromium: Chromium, state: Any
) -> None:
    def visit(page: Page) -> tuple[list[str], dict[str, tuple[int, ...]], set[str]]:
        watch = Watch(page, server)
        hosts: set[str] = set()
        page.on("request", lambda request: hosts.add(request.url.split("/")[2]))
        widths = {}
        for path in PAGES:
            page.goto(address(server, path), wait_until="networkidle")
            widths[path] = tuple(scroll_width(page, width) for width in WIDTHS)
        return watch.problems, widths, hosts

    problems, widths, hosts = chromium.run(visit, storage_state=state)
    assert problems == []
    assert widths == dict.fromkeys(PAGES, WIDTHS)
    assert hosts == {f"localhost:{server.port}"}


def test_a_post_is_archived_undone_deleted_and_restored_without_scripts(
    server: Server, chromium: Chromium, state: Any
) -> None:
    def visit(page: Page) -> None:
        page.goto(address(server, "/library"))
        heading = page.get_by_role("heading", level=1)
        before = heading.inner_text()
        post = page.get_by_role("article").filter(has_text="Finally.")
        for button, sentence in (("Archive", "Archived."), ("Move to the trash", "Moved to the")):
            post.hover()
            post.get_by_role("button", name=button).click()
            expect(page.get_by_role("status")).to_contain_text(sentence)
            expect(post).to_have_count(0)
            assert re.search(r"#p-\d+$", page.url)
            page.get_by_role("button", name="Undo").click()
            expect(post).to_have_count(1)
            assert heading.inner_text() == before

    assert without_scripts(server, chromium, state, visit) == []


def test_search_filter_and_reading_without_scripts(
    server: Server, chromium: Chromium, state: Any
) -> None:
    def visit(page: Page) -> None:
        page.goto(address(server, "/library"))
        box = page.get_by_label("Search your posts")
        box.fill("bottle caps")
        box.press("Enter")
        expect(page.locator("mark").first).to_have_text("bottle")
        assert page.url == address(server, "/library?q=bottle+caps")
        follow(page, page.get_by_role("link", name="Clear the search"))

        page.get_by_text("Filter", exact=True).click()
        page.locator("#f-tag").fill("databases")
        page.get_by_role("button", name="Apply the filters").click()
        expect(page.get_by_role("article")).to_have_count(2)
        page.get_by_role("link", name="Remove the filter “label databases”").click()
        expect(page.get_by_role("article").nth(4)).to_be_visible()

        page.goto(address(server, "/library?is_unread_only=false"))
        page.get_by_role("link", name="Older posts").click()
        expect(page.get_by_text("an older post, number 20", exact=True)).to_be_visible()
        follow(page, page.get_by_role("link", name="Compact"))
        page.get_by_role("link", name="Finally.").click()
        expect(page.get_by_role("heading", name="Post of Deniz")).to_be_attached()
        page.get_by_label("Add a label").fill("short")
        page.get_by_role("button", name="Add", exact=True).click()
        expect(page.get_by_role("status")).to_contain_text("The label is added.")
        page.get_by_role("button", name="Remove “short”").click()
        expect(page.get_by_role("status")).to_contain_text("The label is removed.")

    assert without_scripts(server, chromium, state, visit) == []


def test_an_empty_library_passes_axe(server: Server, chromium: Chromium) -> None:
    def visit(page: Page) -> list[str]:
        page.goto(address(server, "/"))
        expect(page.get_by_role("heading", name="An empty bower")).to_be_visible()
        return violations(page)

    found, _ = signed_in(server, chromium, visit, email="new@example.com", bypass_csp=True)
    assert found == []


def test_a_control_that_appears_on_hover_is_visible_with_the_keyboard(
    server: Server, chromium: Chromium, state: Any
) -> None:
    def visit(page: Page) -> None:
        page.goto(address(server, "/library"))
        button = page.get_by_role("article").first.get_by_role("button", name="Mark read")
        button.focus()
        expect(page.locator(".acts").first).to_have_css("opacity", "1")

    chromium.run(visit, storage_state=state)
