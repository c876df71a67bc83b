"""20,000 posts in a real browser: found, read, changed and looked at."""

import json
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.support import varied_posts
from tests.support.large_library import POSTS
from tests.support.varied_posts import is_archived
from tests.web.accessibility import each_look, violations
from tests.web.chromium import follow, is_too_wide, on_a_phone
from tests.web.library.browsing import SHIFTS, TO_END, focused, press, rows
from tests.web.library.test_paging_in_chromium import settle, steady_top

NUMBERS = range(POSTS)
ALL = "/library?is_unread_only=false"
SHOWN = sum(not is_archived(number) for number in NUMBERS)
# A list of every thread, of which no post is archived by the generator's numbers alone.
THREADS = "/library?author=threads&is_unread_only=false"
IN_THREADS = sum(n % varied_posts.KINDS in (1, 2, 3) and not is_archived(n) for n in NUMBERS)
RARE = len(NUMBERS[:: varied_posts.RARE_EVERY])
LABEL = varied_posts.LABELS[1]
# The newest posts that have only a text, and an article.
PLAIN = NUMBERS[-varied_posts.KINDS]
ARTICLE = PLAIN + 6
NOTED = PLAIN + 13
HOSTILE = varied_posts.post_id(PLAIN + 15)
PAGES = (ALL, f"{ALL}&density=compact&limit=10", f"/p/{HOSTILE}", "/statistics", "/labels")
# Elements and attributes that only markup of a post could have made.
MADE = "img[src='x'], main script, [onerror], a[href^='javascript'], main b:text-is('handle')"
# The database makes no difference to the markup.
on_sqlite = pytest.mark.parametrize("large", ["sqlite"], indirect=True)


def listed(count: int) -> str:
    return f"{count:,} posts"


def heading(page: Page) -> Locator:
    return page.get_by_role("heading", level=1)


def open_list(page: Page, path: str, count: int) -> None:
    page.goto(path)
    expect(heading(page)).to_have_text(listed(count))


def toast(page: Page) -> Locator:
    return page.locator(".toast")


def undo(page: Page, said: str) -> None:
    toast(page).get_by_role("button", name="Undo").click()
    expect(toast(page)).to_contain_text(said)


def tick(page: Page, count: int) -> None:
    """Selects the first posts of the list."""
    for place in range(count):
        page.locator(".pick input").nth(place).check(force=True)


def tick_all(page: Page, count: int) -> None:
    tick(page, 1)
    page.get_by_label(f"All {count:,} that match").check()


def label(page: Page, name: str) -> None:
    """Gives the selected posts a new label with the picker."""
    press(page, "l")
    expect(page.get_by_role("combobox", name="Find or make a label")).to_be_focused()
    page.keyboard.type(name)
    page.get_by_role("option", name=f"Make “{name}”").wait_for()
    press(page, "Enter")


def row_of(number: int) -> str:
    """The row of a post: that of the first post of its thread."""
    place = number % varied_posts.KINDS
    thread = range(number - place + 1, number - place + 4) if place in (1, 2, 3) else (number,)
    return f"p-{varied_posts.post_id(min(n for n in thread if not is_archived(n)))}"


def picked(page: Page) -> str:
    return page.locator(".pickbar [data-count]").inner_text()


def test_pages_are_loaded_the_place_is_kept_and_nothing_moves(page: Page) -> None:
    page.add_init_script(SHIFTS)
    open_list(page, ALL, SHOWN)
    for loaded in (30, 60, 90):
        page.evaluate(TO_END)
        expect(page.locator(".posts li[id]").nth(loaded)).to_be_attached()
    found = rows(page)
    newest = dict.fromkeys(row_of(n) for n in NUMBERS[::-1] if not is_archived(n))
    assert found == list(newest)[: len(found)]
    page.locator(f"#{found[70]}").scroll_into_view_if_needed()
    page.wait_for_url("**cursor=*#p-*")
    settle(page)
    place = page.evaluate("history.state.place")
    # Less than a thousandth of the page is a count that follows a late answer.
    moved = [each for each in page.evaluate("shifts") if float(each.partition(":")[0]) > 0.001]
    assert moved == []
    page.reload()
    assert abs(steady_top(page, place["ids"][0]) - place["offset"]) < 2
    press(page, "j", "j")
    here = focused(page)
    top = steady_top(page, here)
    press(page, "o")
    page.wait_for_url("**/p/*")
    page.go_back()
    assert abs(steady_top(page, here) - top) < 2
    assert focused(page) == here


def test_searches_filters_and_the_page_of_a_post(page: Page) -> None:
    page.goto("/library")
    box = page.get_by_role("combobox", name="Search your posts")
    modes = page.get_by_role("group", name="Search by")
    # All posts with this word are read: the page says so.
    modes.get_by_role("radio", name="Words").check()
    box.fill(varied_posts.RARE_WORD)
    press(page, "Enter")
    expect(heading(page)).to_have_text("No posts")
    page.get_by_role("link", name="Look in read and archived posts too").click()
    expect(heading(page)).to_have_text(listed(RARE))
    expect(page.locator("mark").first).to_have_text(varied_posts.RARE_WORD)

    modes.get_by_role("radio", name="Both").check()
    press(page, "/", "Enter")
    page.wait_for_url(f"**vector_search_term={varied_posts.RARE_WORD}*")
    assert f"q={varied_posts.RARE_WORD}" in page.url
    expect(page.locator(".found")).to_contain_text("best first")
    # Posts with the word come before those that are only near in meaning.
    expect(page.locator(".posts li[id] mark").first).to_be_visible()
    expect(page.locator(".posts li[id]:not(:has(mark))")).to_have_count(0)
    modes.get_by_role("radio", name="Meaning").check()
    press(page, "/", "Enter")
    page.wait_for_url(lambda url: "q=" not in url and "vector_search_term=" in url)
    expect(page.locator(".posts li[id]").nth(20)).to_be_attached()
    follow(page, page.get_by_role("link", name="Clear the search"))

    page.locator("summary.chip", has_text="Label").click()
    page.locator("#f-tag").fill(LABEL)
    follow(page, page.locator(".picklist a", has_text=LABEL))
    page.locator("summary.chip", has_text="Type").click()
    follow(page, page.locator(".picklist a", has_text="Article"))
    page.wait_for_url("**media_type=article*")
    # The link above has included archived posts.
    labelled = [post for n in NUMBERS if LABEL in (post := varied_posts.post(n))["tags"]]
    written = [post for post in labelled if post["tweet_details"].get("article")]
    expect(heading(page)).to_have_text(listed(len(written)))
    page.get_by_role("link", name="Remove the filter “type article”").click()
    expect(heading(page)).to_have_text(listed(len(labelled)))

    # The pages of posts: a thread, a note, and posts that are near in meaning.
    page.goto(f"/p/{varied_posts.post_id(PLAIN + 1)}")
    expect(page.locator(".strand > li")).to_have_count(3)
    page.goto(f"/p/{varied_posts.post_id(NOTED)}")
    expect(page.locator(".noted strong")).to_have_text("this")
    page.goto(f"/p/{varied_posts.post_id(ARTICLE)}")
    expect(page.get_by_role("region", name="Similar posts").locator("li")).to_have_count(5)


def test_some_posts_all_that_match_and_the_whole_library_are_changed_and_changed_back(
    page: Page,
) -> None:
    open_list(page, THREADS, IN_THREADS)
    tick(page, 3)
    # A thread is one row, and is changed as one.
    count = picked(page)
    label(page, "some <b>")
    expect(toast(page)).to_contain_text(f"Added the label “some <b>” to {count} posts.")
    tags = page.locator(".posts .tag").filter(has_text="some <b>")
    expect(tags).to_have_count(3)
    press(page, "Escape")
    undo(page, "Undone")
    expect(tags).to_have_count(0)

    open_list(page, THREADS, IN_THREADS)
    tick_all(page, IN_THREADS)
    label(page, "many")
    done = f"Added the label “many” to {IN_THREADS:,} posts."
    expect(toast(page)).to_contain_text(done)
    side = page.locator(".side a").filter(has_text="many")
    expect(side.locator(".count")).to_have_text(f"{IN_THREADS:,}")
    undo(page, f"Undone: {IN_THREADS:,} posts changed back.")
    expect(side).to_have_count(0)

    # So many that a job does it. How long its progress is shown depends on the machine.
    open_list(page, ALL, SHOWN)
    tick_all(page, SHOWN)
    page.locator(".pickbar").get_by_role("button", name="Archive").click()
    expect(toast(page)).to_contain_text(f"Archived {SHOWN:,} posts.")
    undo(page, f"Undone: {SHOWN:,} posts changed back.")
    expect(heading(page)).to_have_text(listed(SHOWN))


@pytest.mark.browser(accept_downloads=True)
def test_a_view_the_trash_the_numbers_and_a_file(page: Page, tmp_path: Path) -> None:
    open_list(page, THREADS, IN_THREADS)
    page.get_by_role("link", name="Save as Smart View").click()
    expect(page.locator("#preview [role=status]")).to_have_text(f"{IN_THREADS:,} posts match")
    page.get_by_label("Name", exact=True).fill("Threads 糸")
    page.get_by_role("button", name="Save the view").click()
    expect(heading(page)).to_have_text("Threads 糸")
    expect(page.locator(".found h2")).to_have_text(listed(IN_THREADS))

    tick(page, 2)
    gone = page.locator(".posts li[id]").nth(0).get_attribute("id")
    count = picked(page)
    page.locator(".pickbar").get_by_role("button", name="Trash").click()
    expect(toast(page)).to_contain_text(f"Moved {count} posts to the trash.")
    expect(page.locator(f"#{gone}")).to_have_count(0)
    page.goto("/trash")
    page.get_by_role("button", name="Restore all").click()
    expect(toast(page)).to_contain_text(f"Restored {count} posts.")
    page.goto("/views/threads-糸")
    expect(page.locator(".posts li[id]").nth(0)).to_have_attribute("id", gone or "")

    page.goto("/statistics?period=all")
    expect(page.locator(".facts4")).to_contain_text(f"{POSTS:,}")
    page.locator(".rank a").first.click()
    expect(page.get_by_role("article")).not_to_have_count(0)

    page.goto("/exports")
    page.get_by_role("button", name="Make the file").click()
    newest = page.locator(".jobs li").first.get_by_role("link", name="Download")
    newest.wait_for()
    with page.expect_download() as started:
        newest.click()
    started.value.save_as(tmp_path / "posts.json")
    exported = json.loads((tmp_path / "posts.json").read_bytes())
    assert {post["post_id"] for post in exported} == {varied_posts.post_id(n) for n in NUMBERS}


@on_sqlite
@each_look
def test_axe_finds_no_problem_in_posts_of_every_kind(page: Page, look: str) -> None:
    # One period of posts has every kind.
    for path in (f"{ALL}&limit={varied_posts.KINDS}", f"/p/{HOSTILE}"):
        page.goto(path)
        assert violations(page) == [], (path, look)
        assert not is_too_wide(page), path


@on_sqlite
@on_a_phone
def test_a_phone_lists_reads_and_changes_posts_and_markup_stays_text(page: Page) -> None:
    for path in (*PAGES, f"/library?q=n{NUMBERS[-1] - 4}&is_unread_only=false"):
        page.goto(path)
        assert page.locator(MADE).count() == 0, path
    page.goto(f"/p/{HOSTILE}")
    expect(page.locator("article h1")).to_contain_text(varied_posts.HOSTILE)
    page.goto(THREADS)
    row = page.locator(f"#{rows(page)[0]}")
    row.get_by_role("button", name="Archive").tap()
    expect(row).to_have_count(0)
    page.get_by_role("button", name="Undo").tap()
    expect(row).to_have_count(1)
    row.locator("a.when").tap()
    page.wait_for_url("**/p/*")
    page.go_back()
    expect(row).to_be_in_viewport()
    page.evaluate(TO_END)
    # The first page has 30 posts, in threads of three.
    expect(page.locator(".posts li[id]").nth(20)).to_be_attached()
