"""Measures how soon the keys of the library page answer, in a browser with a slowed processor."""

import asyncio
import shutil
import statistics
from collections.abc import Iterator
from typing import Final

from playwright.sync_api import Page

from benchmarks import bars, servers, signed_in_library
from benchmarks.figures import Row, bar_row
from benchmarks.options import Options
from bowerbird.images import hosts
from tests.web.chromium import Chromium

KEYS: Final = (
    *("j", "j", "k", "r", "z", "e", "z", "#", "z", "/", "b", "Escape", "Control+k", "i"),
    *("Escape", "x", "x"),
)
_SLOWED: Final = 4
_POSTS: Final = 2_000
_POSTS_SHOWN: Final = 60
_WARM_UPS: Final = 1
# Until the frame after the key is shown, and the browser has reported it.
_REPORTED_MS: Final = 250
_WATCH: Final = """
globalThis.interactions = [];
new PerformanceObserver((list) => {
  for (const entry of list.getEntries()) if (entry.interactionId) interactions.push(entry.duration);
}).observe({ type: "event", durationThreshold: 16, buffered: true });
"""


def measure(options: Options) -> Iterator[Row]:
    folder = options.work_folder / "keys"
    shutil.rmtree(folder, ignore_errors=True)
    # They are part of the package: nothing is downloaded.
    pictures = sorted(url for url in hosts.drawings_by_url() if "/people/" not in url)
    token = asyncio.run(signed_in_library.fill(folder, _POSTS, pictures))
    with (
        servers.bowerbird(folder, options.log, log_level=options.log_level) as server,
        Chromium() as chromium,
    ):
        address = f"{signed_in_library.origin(server.port)}/library?is_unread_only=false"
        cookie = signed_in_library.cookie(server.port, token)

        def visit(page: Page) -> list[list[float]]:
            name, _, value = cookie.partition("=")
            page.context.add_cookies([{"name": name, "value": value, "url": address}])
            _open(page, address)
            return [_press_all(page) for _ in range(_WARM_UPS + options.rounds)][_WARM_UPS:]

        rounds = chromium.run(visit)
    shutil.rmtree(folder)
    medians = {
        f"{number + 1}. {key}": statistics.median(took)
        for number, (key, took) in enumerate(zip(KEYS, zip(*rounds, strict=True), strict=True))
    }
    if not any(medians.values()):
        raise RuntimeError("The browser reported no key.")
    slowest = max(medians, key=lambda name: medians[name])
    detail = f"the slowest of {len(KEYS)} keys ({slowest}), {_POSTS_SHOWN} posts with images"
    yield bar_row(bars.KEY_TO_PAINT, [medians[slowest]], detail=detail)


def _open(page: Page, address: str) -> None:
    page.add_init_script(_WATCH)
    page.goto(address)
    page.evaluate("scrollTo(0, document.body.scrollHeight)")
    page.locator(".posts li[id]").nth(_POSTS_SHOWN - 1).wait_for(state="attached")
    page.evaluate("scrollTo(0, 0)")
    devtools = page.context.new_cdp_session(page)
    devtools.send("Emulation.setCPUThrottlingRate", {"rate": _SLOWED})


def _press_all(page: Page) -> list[float]:
    """The milliseconds from each key to the next paint; 0 for less than a frame."""
    took = []
    for key in KEYS:
        page.evaluate("interactions.length = 0")
        page.keyboard.press(key)
        page.wait_for_timeout(_REPORTED_MS)
        took.append(max(page.evaluate("interactions"), default=0.0))
    page.evaluate("document.querySelector('#search').value = ''")
    return took
