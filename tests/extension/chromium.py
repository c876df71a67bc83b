"""Chromium with the extension, in a profile that outlives a restart.

Playwright works on a thread of its own, because its event loop would conflict with those of other
tests.
"""

import json
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, TypeVar

from playwright.sync_api import BrowserContext, Error, Page, Worker, sync_playwright

from tests.extension.browsers import DESK
from tests.extension.fake_x import HOSTS
from tests.extension.patience import PATIENCE_S, wait_until

T = TypeVar("T")
_LEFT_OUT: Final = (
    "--disable-extensions",
    "--disable-component-extensions-with-background-pages",
)
_MOST_RELOADS: Final = 5


def _root(part: str) -> str:
    """The closed root of a part, which only an extension gets from the browser."""
    host = f"document.querySelector('#bowerbird-{part}')"
    return f"(({host}) && chrome.dom.openOrClosedShadowRoot({host}))"


class ChromiumTab:
    def __init__(self, browser: "Chromium", page: Page) -> None:
        self._browser = browser
        self.page = page

    def run(self, work: Callable[[Page], T]) -> T:
        """Calls `work` with the page on Playwright's thread."""
        return self._browser.run(lambda: work(self.page))

    def go(self, url: str) -> None:
        self.run(lambda page: page.goto(url))

    def evaluate(self, function: str, argument: Any = None) -> Any:
        for _ in range(_MOST_RELOADS):
            try:
                return self.run(lambda page: page.evaluate(function, argument))
            except Error as error:
                if "Execution context was destroyed" not in error.message:
                    raise
            # The page was loaded again in between.
            self.run(lambda page: page.wait_for_load_state())
        raise AssertionError("the page is loaded again and again")

    def click(self, selector: str) -> None:
        self.run(lambda page: page.click(selector))

    def text_in(self, part: str) -> str:
        shown = self.in_extension(f"{_root(part)}?.querySelector('.box')?.innerText")
        return str(shown or "")

    def click_in(self, part: str, selector: str, delay_ms: int = 0) -> None:
        x, y = wait_until(lambda: self._middle_in(part, selector))
        self.run(lambda page: page.mouse.click(x, y, delay=delay_ms))

    def type_in(self, part: str, selector: str, text: str) -> None:
        self.click_in(part, selector)
        self.run(lambda page: page.keyboard.insert_text(text))

    def _middle_in(self, part: str, selector: str) -> Any:
        box = f"{_root(part)}?.querySelector({json.dumps(selector)})?.getBoundingClientRect()"
        return self.in_extension(
            f"((box) => box?.width && [box.x + box.width / 2, box.y + box.height / 2])({box})"
        )

    def in_extension(self, expression: str) -> Any:
        """Evaluates in the world of the extension's scripts; None if they have not started."""
        return self.run(lambda page: self._browser.in_extension(page, expression))

    def type(self, selector: str, text: str) -> None:
        self.run(lambda page: page.fill(selector, text))

    def screenshot(self) -> bytes:
        return self.run(lambda page: page.screenshot())

    def close(self) -> None:
        self.run(lambda page: page.close())


class Chromium:
    def __init__(self, extension: Path, x_port: int, profile: Path) -> None:
        self._thread = ThreadPoolExecutor(1)
        self._profile = profile
        mapped = ",".join(f"MAP {host}:443 127.0.0.1:{x_port}" for host in HOSTS)
        self._arguments = (
            "--no-sandbox",
            "--disable-gpu",
            f"--disable-extensions-except={extension}",
            f"--load-extension={extension}",
            # No other host is reachable.
            f"--host-resolver-rules={mapped},MAP * ~NOTFOUND,EXCLUDE 127.0.0.1",
            "--ignore-certificate-errors",
        )
        self._extension_url = ""
        self._playwright = self.run(lambda: sync_playwright().start())
        self._context = self.run(self._launch)

    def run(self, work: Callable[[], T]) -> T:
        return self._thread.submit(work).result()

    @property
    def extension_url(self) -> str:
        if not self._extension_url:
            url = self.run(lambda: self._worker().url)
            self._extension_url = url.rpartition("/background/")[0]
        return self._extension_url

    def desk(self) -> ChromiumTab:
        tab = ChromiumTab(self, self._context.pages[0])
        if not self.run(lambda: tab.page.url).endswith(DESK):
            tab.go(self.extension_url + DESK)
        return tab

    @property
    def context(self) -> BrowserContext:
        return self._context

    def open(self, url: str) -> ChromiumTab:
        page = self.run(self._context.new_page)
        tab = ChromiumTab(self, page)
        tab.go(url)
        return tab

    def open_window(self, url: str) -> ChromiumTab:
        # Without a screen, no tab hides another.
        return self.open(url)

    def open_without_policy(self, url: str) -> ChromiumTab:
        """A page whose content security policy does not block the scripts of a test."""

        def prepare() -> Page:
            page = self._context.new_page()
            self._context.new_cdp_session(page).send("Page.setBypassCSP", {"enabled": True})
            return page

        tab = ChromiumTab(self, self.run(prepare))
        tab.go(url)
        return tab

    def wait_for_page(self, url: str) -> None:
        """Waits until a tab has an address."""

        def addresses() -> list[str]:
            tabs = [ChromiumTab(self, page) for page in self.run(lambda: self._context.pages)]
            return [tab.evaluate("() => location.href") for tab in tabs]

        wait_until(lambda: url in addresses())

    def open_popup_over(self, address: str) -> ChromiumTab:
        """The popup, while a tab with this address is in front.

        Nothing can press the button in the toolbar here, so the popup is told what is in front.
        """
        told = f"chrome.tabs.query = async () => [{{ url: {json.dumps(address)} }}]"

        def show() -> Page:
            page = self._context.new_page()
            page.add_init_script(told)
            return page

        tab = ChromiumTab(self, self.run(show))
        tab.go(f"{self.extension_url}/popup/popup.html")
        return tab

    def advance_clock(self, tab: ChromiumTab, ms: int) -> None:
        """Lets time pass for the extension's scripts in a page."""
        tab.in_extension(f"{{ const now = Date.now; Date.now = () => now() + {ms}; }}")

    def in_extension(self, page: Page, expression: str) -> Any:
        contexts: list[dict[str, Any]] = []

        def note(one: dict[str, Any]) -> None:
            contexts.append(one["context"])

        devtools = self._context.new_cdp_session(page)
        try:
            devtools.on("Runtime.executionContextCreated", note)
            devtools.send("Runtime.enable")
            worlds = [one["id"] for one in contexts if one["origin"] == self._extension_url]
            if not worlds:
                return None
            asked: dict[str, Any] = {
                "contextId": worlds[-1],
                "expression": expression,
                "returnByValue": True,
            }
            asked["awaitPromise"] = True
            answer = devtools.send("Runtime.evaluate", asked)
        except Error as error:
            # The page was loaded again in between.
            if "Cannot find context" not in error.message:
                raise
            return None
        finally:
            devtools.detach()
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def choose_menu_entry(self, link: str) -> None:
        """Chooses "Save this post" in the menu of a link, as far as the worker can tell."""
        told = "(linkUrl) => chrome.contextMenus.onClicked.dispatch({ linkUrl })"
        self.run(lambda: self._worker().evaluate(told, link))

    def kill_worker(self) -> None:
        """Ends the extension's worker, as Chromium does after 30 seconds without an event."""

        def kill() -> None:
            devtools = self._context.new_cdp_session(self._context.pages[0])
            devtools.send("ServiceWorker.enable")
            devtools.send("ServiceWorker.stopAllWorkers")
            devtools.detach()

        self.run(kill)

    def restart(self) -> None:
        self.run(self._context.close)
        self._context = self.run(self._launch)

    def close(self) -> None:
        self.run(self._context.close)
        self.run(self._playwright.stop)
        self._thread.shutdown()

    def close_tabs(self) -> None:
        def close() -> None:
            for page in self._context.pages[1:]:
                page.close()

        self.run(close)

    def _launch(self) -> BrowserContext:
        context = self._playwright.chromium.launch_persistent_context(
            self._profile,
            executable_path="/usr/bin/chromium",
            headless=True,
            args=self._arguments,
            ignore_default_args=_LEFT_OUT,
            # Small, because it is drawn without a graphics card.
            viewport={"width": 600, "height": 500},
        )
        context.set_default_timeout(PATIENCE_S * 1_000)
        return context

    def _worker(self) -> Worker:
        workers = self._context.service_workers
        return workers[0] if workers else self._context.wait_for_event("serviceworker")


@contextmanager
def chromium(extension: Path, x_port: int, profile: Path) -> Iterator[Chromium]:
    browser = Chromium(extension, x_port, profile)
    try:
        yield browser
    finally:
        browser.close()
