"""A person who uses the extension: on X's pages, and in the popup."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tests.extension.browsers import Browser, Tab, wait_for, wait_for_text
from tests.extension.fake_x import FakeX, X
from tests.extension.library import Library
from tests.extension.patience import PATIENCE_S, wait_until

_READ = ("The end of the list is reached.", "Everything below is in your library already.")
_FORGET = """async () => {
  await chrome.runtime.sendMessage({ type: "disconnect" });
  await chrome.storage.local.clear();
  await chrome.storage.session.clear();
}"""


@dataclass
class Person:
    browser: Browser
    x: FakeX
    library: Library

    def popup(self) -> Tab:
        """The popup, as a page of its own."""
        return self.browser.open_window(f"{self.browser.extension_url}/popup/popup.html")

    def connect(self, line: str = "") -> None:
        """Connects the extension to the library."""
        self._connect(self.popup(), line or self.library.connect_line())

    def _connect(self, tab: Tab, line: str) -> None:
        tab.type("#line", line)
        tab.click("button[type=submit]")
        wait_for_text(tab, "to 127.0.0.1")
        tab.close()

    def connect_again(self) -> None:
        tab = self.popup()
        tab.click("button.main")
        self._connect(tab, self.library.connect_line())

    def connect_directly(self) -> None:
        """Connects with a device that was created at the command line, which takes less time."""
        self.set(connection=connection(self.library))

    def forget(self) -> None:
        """Leaves the extension as it was installed."""
        self.browser.desk().evaluate(_FORGET)

    def set(self, **stored: Any) -> None:
        """Changes what the extension has stored."""
        self.browser.desk().evaluate("(stored) => chrome.storage.local.set(stored)", stored)

    def stored(self, key: str) -> Any:
        """What the extension has stored."""
        read = "async (key) => (await chrome.storage.local.get(key))[key]"
        return self.browser.desk().evaluate(read, key)

    def ask(self, type: str, **fields: Any) -> Any:
        """What the worker answers to the popup."""
        message = {"type": type, **fields}
        return self.browser.desk().evaluate(
            "(message) => chrome.runtime.sendMessage(message)", message
        )

    def waiting(self) -> int:
        """How many items wait to be sent."""
        count: int = self.ask("view")["waiting"]["items"]
        return count

    def bookmarks(self) -> Tab:
        return self.browser.open(f"{X}/i/bookmarks")

    def sync(self, tab: Tab | None = None, button: str = "button[data-do=start]") -> Tab:
        """Reads the list to its end, or to what is known."""
        tab = tab or self.bookmarks()
        self.start(tab, button)
        wait_until(lambda: any(sentence in panel(tab) for sentence in _READ))
        return tab

    def start(self, tab: Tab, button: str = "button[data-do=start]") -> None:
        wait_until(lambda: panel(tab))
        tab.evaluate("() => { window.isOld = true; }")
        tab.click_in("panel", button)
        # A sync begins at the top, with a new page.
        wait_for(tab, "() => !window.isOld && document.querySelector('#bowerbird-panel') !== null")

    def scroll_to_end(self, tab: Tab) -> None:
        """Scrolls as a person does who wants to see the whole list."""
        scroll = """() => {
          scrollTo(0, document.documentElement.scrollHeight);
          return document.documentElement.dataset.state === "end";
        }"""
        wait_for(tab, scroll)

    def assert_same_library(self) -> None:
        """The library has what X has: nothing is missing, nothing is twice, the order is X's."""
        viewer = self.x.world.viewer
        self.library.wait_for(viewer.in_order())
        assert texts(self.library.posts()) == self.texts(viewer.in_order())

    def texts(self, post_ids: Sequence[str]) -> list[tuple[str, str]]:
        posts = [self.x.world.posts[post_id] for post_id in post_ids]
        return [(post.author.username, post.text) for post in posts]


def texts(posts: Sequence[dict[str, Any]]) -> list[tuple[str, str]]:
    return [(post["author_username"], post["tweet_details"]["text"]) for post in posts]


def panel(tab: Tab) -> str:
    """What the panel on the bookmarks page shows."""
    return tab.text_in("panel")


def wait_for_panel(tab: Tab, text: str, patience_s: float = PATIENCE_S) -> str:
    try:
        return wait_until(lambda: shown if text in (shown := panel(tab)) else "", patience_s)
    except AssertionError:
        raise AssertionError(f"{text!r} is not in {panel(tab)!r}") from None


def connection(library: Library) -> dict[str, str]:
    """The connection of a device that was created at the command line."""
    printed = library.server.run("device", "create", library.email, "--name", "Test browser")
    token = next(word for word in printed.split() if word.startswith("dev_"))
    address = library.way.address
    return {
        "address": address,
        "token": token,
        "device_id": "",
        "email": library.email,
        "ingest_url": f"{address}/ingest/v1",
        "library_url": f"{address}/library",
        "keys_url": f"{address}/keys",
    }
