"""Changing many of 20,000 posts in a real browser, on both databases."""

import json
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.support import varied_posts
from tests.support.large_library import POSTS
from tests.support.serving import Server
from tests.support.varied_posts import is_archived
from tests.web.account.test_in_chromium import address
from tests.web.chromium import Chromium
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
from tests.web.library.browsing import press

# Together, the steps may wait longer than other tests on a busy machine.
pytestmark = pytest.mark.timeout(300)

IN_THREADS = sum(n % varied_posts.KINDS in (1, 2, 3) and not is_archived(n) for n in NUMBERS)
ALL = "/library?is_unread_only=false"
SHOWN = sum(not is_archived(number) for number in NUMBERS)


def label(page: Page, name: str) -> None:
    """Gives the selected posts a new label with the picker."""
    press(page, "l")
    expect(page.get_by_role("combobox", name="Find or make a label")).to_be_focused()
    page.keyboard.type(name)
    page.get_by_role("option", name=f"Make “{name}”").wait_for()
    press(page, "Enter")


def test_some_posts_all_that_match_and_the_whole_library_are_changed_and_changed_back(
    large: Server, chromium: Chromium, large_state: Any
) -> None:
    def walk(page: Page) -> None:
        open_list(page, large, THREADS, IN_THREADS)
        tick(page, 3)
        label(page, "some <b>")
        expect(toast(page)).to_contain_text("Added the label “some <b>” to 3 posts.")
        tags = page.locator(".posts .tag").filter(has_text="some <b>")
        expect(tags).to_have_count(3)
        press(page, "Escape")
        undo(page, "Undone")
        expect(tags).to_have_count(0)

        open_list(page, large, THREADS, IN_THREADS)
        tick_all(page, IN_THREADS)
        label(page, "many")
        done = f"Added the label “many” to {IN_THREADS:,} posts."
        expect(toast(page)).to_contain_text(done, timeout=PATIENCE_MS)
        side = page.locator(".side a").filter(has_text="many")
        expect(side.locator(".count")).to_have_text(f"{IN_THREADS:,}")
        undo(page, f"Undone: {IN_THREADS:,} posts changed back.")
        expect(side).to_have_count(0)

        # So many that a job does it. How long its progress is shown depends on the machine.
        open_list(page, large, ALL, SHOWN)
        tick_all(page, SHOWN)
        page.locator(".pickbar").get_by_role("button", name="Archive").click()
        archived = f"Archived {SHOWN:,} posts."
        expect(toast(page)).to_contain_text(archived, timeout=PATIENCE_MS)
        undo(page, f"Undone: {SHOWN:,} posts changed back.")
        expect(heading(page)).to_have_text(listed(SHOWN))

    walked(large, chromium, large_state, walk, is_still=False)


def test_a_view_the_trash_the_numbers_and_a_file(
    large: Server, chromium: Chromium, large_state: Any, tmp_path: Path
) -> None:
    def walk(page: Page) -> None:
        open_list(page, large, THREADS, IN_THREADS)
        page.get_by_role("link", name="Save as Smart View").click()
        expect(page.locator("#preview [role=status]")).to_have_text(f"{IN_THREADS:,} posts match")
        page.get_by_label("Name", exact=True).fill("Threads 糸")
        page.get_by_role("button", name="Save the view").click()
        expect(heading(page)).to_have_text("Threads 糸")
        expect(page.locator(".found h2")).to_have_text(listed(IN_THREADS))

        tick(page, 2)
        gone = page.locator(".posts li[id]").nth(0).get_attribute("id")
        page.locator(".pickbar").get_by_role("button", name="Trash").click()
        expect(toast(page)).to_contain_text("Moved 2 posts to the trash.")
        expect(page.locator(f"#{gone}")).to_have_count(0)
        page.goto(address(large, "/trash"))
        page.get_by_role("button", name="Restore all").click()
        expect(toast(page)).to_contain_text("Restored 2 posts.")
        page.goto(address(large, "/views/threads-糸"))
        expect(page.locator(".posts li[id]").nth(0)).to_have_attribute("id", gone or "")

        page.goto(address(large, "/statistics?period=all"))
        expect(page.locator(".facts4")).to_contain_text(f"{POSTS:,}", timeout=PATIENCE_MS)
        page.locator(".rank a").first.click()
        expect(page.get_by_role("article")).not_to_have_count(0)

        page.goto(address(large, "/exports"))
        page.get_by_role("button", name="Make the file").click()
        download(page, tmp_path / "posts.json")

    walked(large, chromium, large_state, walk, is_still=False)
    assert _ids(tmp_path / "posts.json") == {varied_posts.post_id(n) for n in NUMBERS}


def _ids(file: Path) -> set[str]:
    exported = json.loads(file.read_bytes())
    return {post["post_id"] for post in exported}
