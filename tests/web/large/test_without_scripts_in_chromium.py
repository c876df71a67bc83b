"""The main flows among 20,000 posts in a browser without JavaScript."""

import json
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.support import varied_posts
from tests.support.serving import Server
from tests.support.varied_posts import is_archived
from tests.web.account.test_in_chromium import address
from tests.web.chromium import Chromium, follow
from tests.web.large.walking import (
    NUMBERS,
    PATIENCE_MS,
    THREADS,
    download,
    heading,
    listed,
    open_list,
    tick,
    tick_all,
    toast,
    undo,
    walked,
)
from tests.web.library.browsing import rows

# Together, the steps may wait longer than other tests on a busy machine.
pytestmark = pytest.mark.timeout(300)

IN_THREADS = sum(n % varied_posts.KINDS in (1, 2, 3) and not is_archived(n) for n in NUMBERS)
RARE = len(NUMBERS[:: varied_posts.RARE_EVERY])
FOUND = f"/library?q={varied_posts.RARE_WORD}&is_unread_only=false"
PLAIN = NUMBERS[-varied_posts.KINDS]


# The tests with scripts make the same queries on both databases.
@pytest.mark.parametrize("large", ["sqlite"], indirect=True)
def test_everything_works_without_scripts(
    large: Server, chromium: Chromium, large_state: Any, tmp_path: Path
) -> None:
    def walk(page: Page) -> None:
        _find(page, large)
        _read(page, large)
        _change(page, large)
        _overview(page, large, tmp_path / "posts.json")

    walked(large, chromium, large_state, walk, java_script_enabled=False)
    exported = json.loads((tmp_path / "posts.json").read_bytes())
    assert len(exported) == RARE


def _find(page: Page, large: Server) -> None:
    """Pages, a search in each mode, and a filter."""
    open_list(page, large, THREADS, IN_THREADS)
    first = rows(page)
    follow(page, page.get_by_role("link", name="Older posts"))
    second = rows(page)
    assert second
    assert not set(first) & set(second)
    follow(page, page.get_by_role("link", name="Newer posts"))
    assert rows(page) == first
    page.go_back()
    assert rows(page) == second
    page.reload()
    assert rows(page) == second
    follow(page, page.get_by_role("link", name="Remove the filter “author threads”"))
    box = page.get_by_label("Search your posts")
    for mode in ("Words", "Meaning", "Both"):
        page.get_by_role("radio", name=mode).check()
        box.fill(varied_posts.RARE_WORD)
        with page.expect_navigation(url=f"**={varied_posts.RARE_WORD}*"):
            box.press("Enter")
        expect(page.locator(".posts li[id]").nth(20)).to_be_attached()
        if mode == "Words":
            expect(heading(page)).to_have_text(listed(RARE))


def _read(page: Page, large: Server) -> None:
    """A post with a note and a highlight, which are undone."""
    page.goto(address(large, f"/p/{varied_posts.post_id(PLAIN)}"))
    page.get_by_label("Note about this post").fill("Mine")
    page.locator("#note").get_by_role("button", name="Save").click()
    expect(page.locator(".noted")).to_have_text("Mine")
    page.get_by_role("button", name="Undo").click()
    expect(page.locator(".noted")).to_have_count(0)
    page.get_by_text("Mark a passage").click()
    page.get_by_label("Words, as they are in the post").fill("is not a nest")
    page.get_by_role("button", name="Mark", exact=True).click()
    expect(page.locator("article mark")).to_have_text("is not a nest")


def _change(page: Page, large: Server) -> None:
    """A label for some posts and for all that match, the trash, and a Smart View."""
    open_list(page, large, FOUND, RARE)
    for choose, count in ((tick, 2), (tick_all, RARE)):
        choose(page, count)
        page.locator(".pickbar [data-label]").click()
        page.get_by_label("Label to add or remove").fill("plain")
        page.get_by_role("button", name="Add", exact=True).click()
        done = f"Added the label “plain” to {count:,} posts."
        expect(toast(page)).to_contain_text(done, timeout=PATIENCE_MS)
        undo(page, f"Undone: {count:,} posts changed back.")
    tick(page, 1)
    page.locator(".pickbar").get_by_role("button", name="Trash").click()
    expect(toast(page)).to_contain_text("Moved 1 post to the trash.")
    expect(heading(page)).to_have_text(listed(RARE - 1))
    page.goto(address(large, "/trash"))
    page.get_by_role("button", name="Restore all").click()
    expect(toast(page)).to_contain_text("Restored 1 post.")

    open_list(page, large, THREADS, IN_THREADS)
    page.get_by_role("link", name="Save as Smart View").click()
    page.get_by_label("Name", exact=True).fill("Plain threads")
    page.get_by_role("button", name="Save the view").click()
    expect(page.locator(".found h2")).to_have_text(listed(IN_THREADS))
    page.get_by_role("link", name="Edit the view").click()
    page.get_by_role("button", name="Delete", exact=True).click()
    expect(toast(page)).to_contain_text("The view is deleted.")


def _overview(page: Page, large: Server, file: Path) -> None:
    """The statistics, and the file of some posts."""
    page.goto(address(large, "/statistics?period=all"))
    # The page opens itself again while posts are counted.
    expect(page.locator(".facts4")).to_contain_text("20,000", timeout=PATIENCE_MS)
    page.goto(address(large, f"/exports?q={varied_posts.RARE_WORD}"))
    page.get_by_role("button", name="Make the file").click()
    download(page, file)
