"""`make pictures` runs it: the pictures of the library at the top of README.md, in light and dark.

They show the demo as its owner sees it, at a fixed time.
"""

import asyncio
import sys
import tempfile
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from playwright.sync_api import Page, Route

from bowerbird.web import templating
from tests.support import databases
from tests.web.chromium import Chromium
from tests.web.house import build, signed_in

SCHEMES: Final = ("light", "dark")
_SIZE: Final = {"width": 1200, "height": 800}
_URL: Final = "http://localhost:8080/library?is_unread_only=false"
# It is about the picture, not in it.
_WITHOUT_BANNER: Final = "document.querySelector('.note.demo').remove()"


async def _library() -> str:
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "data"
        data.mkdir()
        template = databases.sqlite_template(Path(folder) / "template")
        async with databases.fresh_sqlite(template, data) as database:
            reader = await signed_in(build(database, data), "you@example.com")
            await reader.person.send("/library/demo", "/library")
            page = await reader.page(_URL.removeprefix("http://localhost:8080"))
            await reader.member.client.aclose()
            return page


def take(folder: Path) -> None:
    html, files = asyncio.run(_library()), templating.files()

    def answer(route: Route) -> None:
        path = urlsplit(route.request.url).path
        if path == "/library":
            route.fulfill(content_type="text/html; charset=utf-8", body=html)
        elif path in files:
            route.fulfill(content_type=files[path].media_type, body=files[path].body)
        else:
            route.fulfill(content_type="application/json", body="{}")

    with Chromium() as chromium:
        for scheme in SCHEMES:

            def shoot(page: Page, file: Path = folder / f"library-{scheme}.png") -> None:
                page.route("**/*", answer)
                page.goto(_URL, wait_until="networkidle")
                page.evaluate(_WITHOUT_BANNER)
                page.screenshot(path=file, animations="disabled")

            chromium.run(shoot, viewport=_SIZE, color_scheme=scheme, may_complain=True)


if __name__ == "__main__":
    take(Path(sys.argv[1]))
