"""Draws the PNG icons from the logo, with the browser of the tests.

`python -m tests.support.programs.icons` writes them to web/static/icons.
"""

from functools import partial
from pathlib import Path
from typing import Final

from playwright.sync_api import Page

from bowerbird.web import discovery
from tests.web.chromium import Chromium

STATIC: Final = Path(discovery.__file__).parent / "static" / "icons"
# iOS has its own size, and cuts the corners itself.
_TOUCH: Final = ("icon-180.png", 180, "maskable")
_WHOLE: Final = 'viewBox="0 0 32 32"'
# The part of a maskable icon that every shape shows is a circle of 80 %.
_VIEWS: Final = {"any": _WHOLE, "maskable": 'viewBox="-3 -3 38 38"'}


def _draw(page: Page, side: int, purpose: str) -> bytes:
    svg = (STATIC / "mark.svg").read_text().replace(_WHOLE, _VIEWS[purpose])
    style = f"body {{ margin: 0; }} svg {{ display: block; width: {side}px; }}"
    if purpose == "maskable":
        style += "svg { background: #123e63; }"
    page.set_viewport_size({"width": side, "height": side})
    page.set_content(f"<style>{style}</style>{svg}")
    return page.screenshot(omit_background=True)


def main() -> None:
    icons = [(name, side, purpose) for name, (side, purpose) in discovery.ICONS.items()]
    with Chromium() as chromium:
        for name, side, purpose in [*icons, _TOUCH]:
            drawn = chromium.run(partial(_draw, side=side, purpose=purpose))
            (STATIC / name).write_bytes(drawn)


if __name__ == "__main__":
    main()
