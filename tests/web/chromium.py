"""One real browser for the whole session, on a thread of its own.

Playwright keeps an event loop running where it was started; on the tests' thread it would be in
the way of theirs.
"""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from typing import Any, Self, TypeVar

from playwright.sync_api import Browser, Page, Playwright, sync_playwright

T = TypeVar("T")


class Chromium:
    def __enter__(self) -> Self:
        self._thread = ThreadPoolExecutor(1)
        self._playwright, self._browser = self._thread.submit(_started).result()
        return self

    def __exit__(self, *_: object) -> None:
        self._thread.submit(self._browser.close).result()
        self._thread.submit(self._playwright.stop).result()
        self._thread.shutdown()

    def look(self, see: Callable[[Page], T], **context: Any) -> T:
        """What is seen on a fresh page. `context` sets the scheme, the size and the like."""
        return self._thread.submit(self._look, see, context).result()

    def _look(self, see: Callable[[Page], T], context: dict[str, Any]) -> T:
        with closing(self._browser.new_context(**context)) as opened:
            opened.set_default_timeout(10_000)
            return see(opened.new_page())


def _started() -> tuple[Playwright, Browser]:
    playwright = sync_playwright().start()
    browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])
    return playwright, browser
