"""axe-core in a page of the browser.

The content security policy of a page blocks axe, unless the page was opened with `bypass_csp` or
after `prepare`.
"""

from collections.abc import Iterator
from functools import cache
from typing import Any, Final

import pytest
from axe_playwright_python.sync_playwright import (  # type: ignore[import-untyped] # has no types
    Axe,
)
from playwright.sync_api import Page

from tests.web.chromium import FOR_AXE, is_too_wide

# For every rule of axe: both widths and both colour schemes. The examples in test_templates_look.py
# have the other combinations.
AXE_SIZES: Final[dict[str, dict[str, Any]]] = {
    "dark": {"viewport": {"width": 1280, "height": 860}, "color_scheme": "dark"},
    "phone": {"viewport": {"width": 390, "height": 844}, "color_scheme": "light"},
}
# What opens is placed by the width of the window, so each look is a visit of its own.
each_look = pytest.mark.parametrize(
    "look",
    [pytest.param(n, marks=pytest.mark.browser(**FOR_AXE, **AXE_SIZES[n])) for n in AXE_SIZES],
)

# Checking contrast takes most of the time, and a page differs in nothing else in dark colours.
CONTRAST: Final = {"runOnly": ["color-contrast"]}
NO_CONTRAST: Final = {"rules": {"color-contrast": {"enabled": False}}}
# Also the size of targets, which axe counts as too small below something that is open above them.
TARGETS: Final = {"rules": {"target-size": {"enabled": True}}}
TARGETS_WITHOUT_CONTRAST: Final = {"rules": TARGETS["rules"] | NO_CONTRAST["rules"]}

# Too small for a thumb. Links inside sentences are as high as their line, and a box to tick is as
# large as its label. What reacts around a switch is not in its box.
SMALL: Final = """
() => [...document.querySelectorAll(
  "button, .btn, .ib, summary, .tabbar > *, .side li a, select, textarea, .opt," +
  "input:not([type=hidden], [type=checkbox], [type=radio])"
)].filter((each) => each.checkVisibility({ opacityProperty: true, visibilityProperty: true }))
  .filter((each) => !each.matches(".sr, .switch"))
  .map((each) => [each, each.getBoundingClientRect()])
  .filter(([each, box]) => box.height > 1 && box.height < 39.5)
  .map(([each, box]) => `${each.tagName} ${each.className} ${each.textContent} ${box.height}`)
"""

# The results hold every element that passed, so only the violations leave the page. No rule that
# is on reads the style sheets, which axe would fetch and parse again.
RUN: Final = """async ([part, options]) => {
  // A colour that still changes has no contrast.
  await Promise.allSettled(document.getAnimations().map((each) => each.finished));
  const fixed = { resultTypes: ["violations"], preload: { assets: ["media"] } };
  const found = await axe.run(part ?? document, {...fixed, ...options});
  return found.violations.map((each) => `${each.id}: ${each.nodes[0].html}`);
}"""


def violations(
    page: Page, part: str | None = None, options: dict[str, Any] | None = None
) -> list[str]:
    """All rules, unless `options` say otherwise."""
    page.wait_for_load_state()
    if not page.evaluate("() => 'axe' in window"):
        page.evaluate(script())
        # The next documents start with it, in a third of the time that sending it again takes.
        prepare(page)
    found: list[str] = page.evaluate(RUN, [part, options or {}])
    return found


def prepare(page: Page) -> None:
    """Lets the next documents of a page start with axe, which their policy does not block then."""
    page.add_init_script(script())


def in_each_look(page: Page) -> Iterator[str]:
    """Shows the open page dark on a desktop, then light on a phone; yields the name of the look."""
    for name, look in AXE_SIZES.items():
        page.set_viewport_size(look["viewport"])
        page.emulate_media(color_scheme=look["color_scheme"])
        yield name


def violations_in_each_look(page: Page) -> list[str]:
    """All rules in both widths and both colour schemes, and a page that is too wide."""
    found = []
    for look in in_each_look(page):
        found += [f"{page.url} {look} {violation}" for violation in violations(page)]
        if is_too_wide(page):
            found.append(f"{page.url} is too wide")
    return found


@cache
def script() -> str:
    script: str = Axe().axe_script
    return script
