"""One real browser for the whole test run, on its own thread.

Playwright keeps an event loop running in its thread, which would conflict with the event loops of
the tests.
"""

import shutil
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, Self, TypeVar
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    Dialog,
    Locator,
    Page,
    Playwright,
    expect,
    sync_playwright,
)

from tests.support.waiting import PATIENCE_S

T = TypeVar("T")
_PATIENCE_MS = PATIENCE_S * 1_000
# The same engine without the windows and the profiles of the program, in half the processor time.
_PROGRAM = shutil.which("chromium-headless-shell") or "/usr/bin/chromium"
_NO_SERVICE_WORKER = (
    "if (navigator.serviceWorker) navigator.serviceWorker.register = async () => {}"
)
# A message (messages.js) and the word "Copied" (copy.js) leave after a time. Here they stay: a slow
# machine may look too late.
_LASTING = """
const later = globalThis.setTimeout;
globalThis.setTimeout = (work, wait, ...rest) =>
  later(work, wait === 10_000 || wait === 1_500 ? 2 ** 30 : wait, ...rest);
"""
LOOPBACK = ("localhost", "127.0.0.1")
WIDE = {"width": 1280, "height": 900}
SMALL_PHONE: dict[str, Any] = {
    "viewport": {"width": 360, "height": 740},
    "has_touch": True,
    "is_mobile": True,
}
# A page for axe: its own policy would block axe, and a colour that changes slowly has no contrast.
FOR_AXE: dict[str, Any] = {"bypass_csp": True, "reduced_motion": "reduce"}
for_axe = pytest.mark.browser.with_args(**FOR_AXE)
on_a_phone = pytest.mark.browser.with_args(**SMALL_PHONE)


class Chromium:
    """`problems`: what the browser said about the page, and its requests to other machines."""

    def __enter__(self) -> Self:
        self.problems: list[str] = []
        self._thread = ThreadPoolExecutor(1)
        self._playwright, self._browser = self.call(_launch)
        return self

    def __exit__(self, *_: object) -> None:
        self.call(self._browser.close)
        self.call(self._playwright.stop)
        self._thread.shutdown()

    def call(self, function: Callable[[], T]) -> T:
        """Calls a function in the thread of the browser."""
        return self._thread.submit(function).result()

    def run(self, visit: Callable[[Page], T], **options: Any) -> T:
        """What `visit` returns for a new page."""
        with self.opened(**options) as page:
            return self.call(lambda: visit(page))

    @contextmanager
    def opened(
        self, *, has_service_worker: bool = False, may_complain: bool = False, **options: Any
    ) -> Iterator[Page]:
        """A new page, for use in the thread of the browser.

        Without the service worker a test can answer requests in place of the server.
        """
        self.problems = []
        script = _LASTING if has_service_worker else _LASTING + _NO_SERVICE_WORKER
        context = self.call(lambda: self._context(options, script))
        page = self.call(context.new_page)
        if not may_complain:
            self.call(lambda: self._watch(page))
        try:
            yield page
        finally:
            self.call(context.close)

    def _context(self, options: dict[str, Any], script: str) -> BrowserContext:
        context = self._browser.new_context(**options)
        context.set_default_timeout(_PATIENCE_MS)
        context.add_init_script(script)
        return context

    def _watch(self, page: Page) -> None:
        problems = self.problems

        def note(message: ConsoleMessage) -> None:
            # The providers of the tests have no icon, and what their pages say is not about ours.
            is_theirs = urlsplit(page.url).path.startswith("/interaction/")
            if not is_theirs and not message.location["url"].endswith("/favicon.ico"):
                problems.append(f"{page.url} {message.text}")

        def check(url: str) -> None:
            if urlsplit(url).hostname not in LOOPBACK:
                problems.append(url)

        def dismiss(dialog: Dialog) -> None:
            problems.append(f"dialog {dialog.message}")
            dialog.dismiss()

        page.on("console", note)
        page.on("dialog", dismiss)
        page.on("pageerror", lambda error: problems.append(f"{page.url} {error}"))
        page.on("request", lambda request: check(request.url))


def follow(page: Page, link: Locator) -> None:
    """Clicks a link or a button, and waits for the whole next page, which a click only requests."""
    with page.expect_navigation():
        link.click()


def reload_until(page: Page, is_there: Callable[[], bool]) -> None:
    """What a page sends while it is left may arrive after the next page is there."""
    wait_until(is_there, page.reload)


def wait_until(is_there: Callable[[], bool], between: Callable[[], object] = lambda: None) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not is_there():
        assert time.monotonic() < deadline
        between()


def is_too_wide(page: Page) -> bool:
    """Whether the open page can be scrolled sideways."""
    found: bool = page.evaluate("document.documentElement.scrollWidth > innerWidth")
    return found


def _launch() -> tuple[Playwright, Browser]:
    playwright = sync_playwright().start()
    expect.set_options(timeout=_PATIENCE_MS)
    # Without a graphics card, Chromium would simulate one.
    arguments = ["--no-sandbox", "--disable-gpu"]
    browser = playwright.chromium.launch(
        executable_path=_PROGRAM, args=arguments, timeout=_PATIENCE_MS
    )
    return playwright, browser
