"""One real browser for the whole test run, on its own thread.

Playwright keeps an event loop running in its thread, which would conflict with the event loops of
the tests.
"""

import shutil
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from typing import Any, Self, TypeVar

from playwright.sync_api import Browser, Locator, Page, Playwright, expect, sync_playwright

T = TypeVar("T")
# A page may need long while other tests use the same cores.
_PATIENCE_MS = 30_000
# The same engine without the windows and the profiles of the program, in half the processor time.
_PROGRAM = shutil.which("chromium-headless-shell") or "/usr/bin/chromium"
_NO_SERVICE_WORKER = (
    "if (navigator.serviceWorker) navigator.serviceWorker.register = async () => {}"
)


class Chromium:
    def __enter__(self) -> Self:
        self._thread = ThreadPoolExecutor(1)
        self._playwright, self._browser = self._thread.submit(_launch).result()
        return self

    def __exit__(self, *_: object) -> None:
        self._thread.submit(self._browser.close).result()
        self._thread.submit(self._playwright.stop).result()
        self._thread.shutdown()

    def run(
        self, visit: Callable[[Page], T], *, has_service_worker: bool = False, **context: Any
    ) -> T:
        """Returns what `visit` returns for a new page. `context` holds options of the browser.

        Without the service worker a test can answer requests in place of the server.
        """
        script = "" if has_service_worker else _NO_SERVICE_WORKER
        return self._thread.submit(self._run, visit, context, script).result()

    def _run(self, visit: Callable[[Page], T], context: dict[str, Any], script: str) -> T:
        with closing(self._browser.new_context(**context)) as opened:
            opened.set_default_timeout(_PATIENCE_MS)
            opened.add_init_script(script)
            return visit(opened.new_page())


def follow(page: Page, link: Locator) -> None:
    """Clicks a link or a button, and waits for the whole next page, which a click only requests."""
    with page.expect_navigation():
        link.click()


def reload_until(page: Page, is_there: Callable[[], bool]) -> None:
    """What a page sends while it is left may arrive after the next page is there."""
    wait_until(is_there, page.reload)


def wait_until(is_there: Callable[[], bool], between: Callable[[], object] = lambda: None) -> None:
    deadline = time.monotonic() + _PATIENCE_MS / 1000
    while not is_there():
        assert time.monotonic() < deadline
        between()


def _launch() -> tuple[Playwright, Browser]:
    playwright = sync_playwright().start()
    expect.set_options(timeout=_PATIENCE_MS)
    # Without a graphics card, Chromium would simulate one.
    arguments = ["--no-sandbox", "--disable-gpu"]
    browser = playwright.chromium.launch(executable_path=_PROGRAM, args=arguments)
    return playwright, browser
