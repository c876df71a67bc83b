"""What tests do in a browser with the extension, in Chromium and in Firefox alike."""

from pathlib import Path
from typing import Any, Final, Protocol

from tests.extension.patience import PATIENCE_S, wait_until

DESK: Final = "/privacy.html"
EXTENSION: Final = Path(__file__).parents[2] / "extension"


class Tab(Protocol):
    """A tab. `evaluate` runs a function of JavaScript in the page and returns its result."""

    def go(self, url: str) -> None: ...

    def evaluate(self, function: str, argument: Any = None) -> Any: ...

    def click(self, selector: str) -> None: ...

    def text_in(self, part: str) -> str:
        """What a part of the extension shows in a page of X, to which scripts have no access."""

    def click_in(self, part: str, selector: str) -> None: ...

    def type_in(self, part: str, selector: str, text: str) -> None: ...

    def type(self, selector: str, text: str) -> None: ...

    def screenshot(self) -> bytes: ...

    def close(self) -> None: ...


class Browser(Protocol):
    @property
    def extension_url(self) -> str:
        """The address of the extension's folder, without a slash at the end."""

    def open(self, url: str) -> Tab: ...

    def open_window(self, url: str) -> Tab:
        """A tab that does not hide another one."""

    def desk(self) -> Tab:
        """A page of the extension that stays open, where tests may call what the popup calls."""

    def close_tabs(self) -> None:
        """Closes all tabs except the desk."""

    def kill_worker(self) -> None:
        """Ends the extension's background script, as the browser does when it has no work."""

    def restart(self) -> None:
        """Ends the browser and starts it again with the same profile."""


def wait_for_text(
    tab: Tab, text: str, selector: str = "body", patience_s: float = PATIENCE_S
) -> str:
    """Waits until an element shows a text; returns all that it shows."""
    function = "(selector) => document.querySelector(selector)?.innerText ?? ''"

    def look() -> str:
        seen: str = tab.evaluate(function, selector)
        return seen if text in seen else ""

    try:
        return wait_until(look, patience_s)
    except AssertionError:
        seen = tab.evaluate(function, selector)
        raise AssertionError(f"{text!r} is not in {seen!r}") from None


def wait_for(tab: Tab, function: str, argument: Any = None, patience_s: float = PATIENCE_S) -> Any:
    """Waits until a function of JavaScript returns something true; returns that."""
    return wait_until(lambda: tab.evaluate(function, argument), patience_s)
