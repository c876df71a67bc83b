"""axe-core in a page of the browser, which must have been opened with `bypass_csp`."""

from functools import cache
from typing import Any, Final

from axe_playwright_python.sync_playwright import (  # type: ignore[import-untyped] # has no types
    Axe,
)
from playwright.sync_api import Page

# Checking contrast takes most of the time, and a page differs in nothing else in dark colours.
CONTRAST: Final = {"runOnly": ["color-contrast"]}
NO_CONTRAST: Final = {"rules": {"color-contrast": {"enabled": False}}}

# The results hold every element that passed, so only the violations leave the page.
RUN: Final = """async ([part, options]) => {
  const found = await axe.run(part ?? document, {resultTypes: ["violations"], ...options});
  return found.violations.map((each) => `${each.id}: ${each.nodes[0].html}`);
}"""


def violations(
    page: Page, part: str | None = None, options: dict[str, Any] | None = None
) -> list[str]:
    """All rules, unless `options` say otherwise."""
    page.wait_for_load_state()
    if not page.evaluate("() => 'axe' in window"):
        page.evaluate(script())
    found: list[str] = page.evaluate(RUN, [part, options or {}])
    return found


@cache
def script() -> str:
    script: str = Axe().axe_script
    return script
