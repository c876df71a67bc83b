"""What the tests of a large library share: a watched page, and steps that several take."""

from pathlib import Path
from typing import Any, Final

from playwright.sync_api import Locator, Page, expect

from tests.support.large_library import POSTS
from tests.support.serving import Server
from tests.web.account.test_in_chromium import address
from tests.web.chromium import Chromium
from tests.web.library.browsing import WIDE
from tests.web.sign_in.test_in_chromium import Watch

NUMBERS: Final = range(POSTS)
# A list of every thread, of which no post is archived by the generator's numbers alone.
THREADS: Final = "/library?author=threads&is_unread_only=false"
PATIENCE_MS: Final = 60_000
# Reports each shift to the test, because a page is gone when the test asks for the sum.
# Less than a thousandth of the page is a caret or a count that follows a late answer.
_SHIFTS: Final = """
new PerformanceObserver((list) => {
  for (const entry of list.getEntries()) {
    if (entry.hadRecentInput || entry.value < 0.001) continue;
    reportShift(`${location.pathname} moves by ${entry.value}`);
  }
}).observe({ type: "layout-shift", buffered: true });
"""


def walked(
    large: Server,
    chromium: Chromium,
    state: Any,
    walk: Any,
    *,
    is_still: bool = True,
    **context: Any,
) -> None:
    """Runs `walk`: no message, no request elsewhere, no dialog.

    `is_still`: and nothing moves by itself. A change that is shown more than half a second after
    its key counts as such, as on a busy machine.
    """

    def watched(page: Page) -> list[str]:
        watch = Watch(page, large)

        def report(text: str) -> None:
            watch.problems.append(text)

        page.on("dialog", lambda dialog: watch.problems.append(f"dialog {dialog.message}"))
        if is_still:
            page.expose_function("reportShift", report)
            page.add_init_script(_SHIFTS)
        walk(page)
        return watch.problems

    options = {"storage_state": state, "viewport": WIDE, "accept_downloads": True, **context}
    problems = chromium.run(watched, **options)
    # Not in a test module, so pytest does not show the values by itself.
    assert problems == [], problems


def listed(count: int) -> str:
    return f"{count:,} posts"


def heading(page: Page) -> Locator:
    return page.get_by_role("heading", level=1)


def open_list(page: Page, large: Server, path: str, count: int) -> None:
    page.goto(address(large, path))
    expect(heading(page)).to_have_text(listed(count))


def toast(page: Page) -> Locator:
    return page.locator(".toast")


def undo(page: Page, said: str) -> None:
    toast(page).get_by_role("button", name="Undo").click()
    expect(toast(page)).to_contain_text(said, timeout=PATIENCE_MS)


def download(page: Page, file: Path) -> None:
    """Waits until the newest export is done, and saves its file."""
    newest = page.locator(".jobs li").first.get_by_role("link", name="Download")
    newest.wait_for(timeout=PATIENCE_MS)
    with page.expect_download() as started:
        newest.click()
    started.value.save_as(file)


def tick(page: Page, count: int) -> None:
    """Selects the first posts of the list."""
    for place in range(count):
        page.locator(".pick input").nth(place).check(force=True)


def tick_all(page: Page, count: int) -> None:
    tick(page, 1)
    page.get_by_label(f"All {count:,} that match").check()
