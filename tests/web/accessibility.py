"""axe-core in a page of the browser, which must have been opened with `bypass_csp`."""

from functools import cache
from typing import Any, Final

from axe_playwright_python.sync_playwright import (  # type: ignore[import-untyped] # has no types
    Axe,
)
from playwright.sync_api import Page

# Checking contrast takes half of the time.
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
    """All rules in light colours. The dark ones differ in nothing but contrast."""
    page.wait_for_load_state()
    if options is None:
        is_dark = page.evaluate("() => matchMedia('(prefers-color-scheme: dark)').matches")
        options = CONTRAST if is_dark else {}
    if not page.evaluate("() => 'axe' in window"):
        page.evaluate(script())
    found: list[str] = page.evaluate(RUN, [part, options])
    return found


@cache
def script() -> str:
    script: str = Axe().axe_script
    return script
