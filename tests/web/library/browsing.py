"""A library of several hundred posts in a browser, and what tests do in it."""

from typing import Any

from playwright.sync_api import Page

from tests.support.waiting import wait_until
from tests.web.library_posts import POSTS

HOSTILE = "<img src=x onerror=alert(1)>"
# More than a page shows when everything is loaded.
MORE = 420
_NOTE_CHANGES = """() => {
  globalThis.made = 0;
  document.addEventListener("library:changed", () => { globalThis.made += 1; });
}"""
# Otherwise the page would glide there.
TO_START = "scrollTo({ top: 0, behavior: 'instant' })"
TO_END = "scrollTo({ top: document.body.scrollHeight, behavior: 'instant' })"
_KEYS = """(keys) => {
  for (const key of keys) {
    const pressed = new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true });
    document.activeElement.dispatchEvent(pressed);
  }
}"""
# How far something moved without a key or a click, and what it was.
SHIFTS = """
globalThis.shifts = [];
new PerformanceObserver((list) => {
  for (const entry of list.getEntries()) if (!entry.hadRecentInput) {
    const moved = entry.sources.map(({ node, previousRect: from, currentRect: to }) => {
      const name = (node?.outerHTML ?? node?.textContent ?? "").slice(0, 80);
      return `${name} from ${from.x} ${from.y} to ${to.x} ${to.y}`;
    });
    shifts.push(`${entry.value}: ${moved.join("; ")}`);
  }
}).observe({ type: "layout-shift", buffered: true });
"""


def alone(post: dict[str, Any]) -> dict[str, Any]:
    """A post in no thread: it has a row of its own."""
    return {**post, "tweet_details": {**post["tweet_details"], "meta": {}}}


def older_post(number: int) -> dict[str, Any]:
    """A post like one of the design, older than those."""
    return {
        **alone(POSTS[number % 13]),
        "post_id": str(5_000 + number),
        "sort_index": number,
        "is_read": number % 10 == 0,
        "is_archived": False,
        "tags": [HOSTILE] if number % 50 == 0 else ["birds"],
    }


def focused(page: Page) -> str:
    """The row that has the focus."""
    return str(page.evaluate("document.activeElement.closest('li[id]')?.id ?? ''"))


def rows(page: Page) -> list[str]:
    found: list[str] = page.locator(".posts li[id^='p-']").evaluate_all(
        "all => all.map((row) => row.id)"
    )
    return found


def count(page: Page, name: str) -> int:
    return int(page.locator(f".side [data-count={name}]").inner_text().replace(",", ""))


def note_changes(page: Page) -> None:
    """For `wait_for_changes`, before the first change of a page."""
    page.evaluate(_NOTE_CHANGES)


def wait_for_changes(page: Page, number: int) -> None:
    """Waits until the server has made the changes, which the page shows before that."""
    wait_until(lambda: page.evaluate("globalThis.made") == number)


def press(page: Page, *keys: str) -> None:
    # The scripts of a page come last.
    page.wait_for_load_state()
    for key in keys:
        page.keyboard.press(key)


def press_in_turn(page: Page, *keys: str) -> None:
    """Keys that belong together, without a pause that a slow machine would make."""
    page.wait_for_load_state()
    page.evaluate(_KEYS, keys)
