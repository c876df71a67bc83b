"""The page of the library while it arrives: a browser shows what it has of it.

A busy machine or a slow line stops anywhere in the page, also between a chip and its words.
"""

import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import pytest
from playwright.sync_api import Page, Route, expect

from tests.support.waiting import PATIENCE_S
from tests.web.library.browsing import SHIFTS

_CHIP = '<details class="pop"'
# What the browser has so far is on the screen.
_SHOWN = "() => new Promise((shown) => requestAnimationFrame(() => requestAnimationFrame(shown)))"


@pytest.fixture
def options(many: dict[str, Any]) -> dict[str, Any]:
    return many


@contextmanager
def sent_in_parts(parts: list[str]) -> Iterator[tuple[str, threading.Semaphore]]:
    """The address of a page, and what lets the next part of it go."""
    next_part = threading.Semaphore(1)

    class Parts(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.end_headers()
            for part in parts:
                next_part.acquire(timeout=PATIENCE_S)
                self.wfile.write(part.encode())

        def log_message(self, *_: object) -> None:
            pass

    with HTTPServer(("localhost", 0), Parts) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://localhost:{server.server_port}/library", next_part
        finally:
            server.shutdown()
            thread.join()


def cut_in_chips(html: str) -> list[str]:
    """Cut after the beginning of each chip: its words are in the next part. Without scripts."""
    html = re.sub("<script.*?</script>", "", html)
    begins, *chips = html.split(_CHIP)
    starts = [_CHIP + chip[: chip.index(">") + 1] for chip in chips]
    rests = [chip[chip.index(">") + 1 :] for chip in chips]
    return [begins + starts[0], *map("".join, zip(rests, [*starts[1:], ""], strict=True))]


def test_nothing_moves_while_the_chips_of_filters_arrive(page: Page, many: dict[str, Any]) -> None:
    parts = cut_in_chips(page.request.get("/library").text())
    assert len(parts) > 5
    with sent_in_parts(parts) as (address, next_part):

        def from_the_service(route: Route) -> None:
            url = route.request.url
            if url == address:
                route.continue_()
            else:
                route.fulfill(response=route.fetch(url=url.replace(address[:-8], many["base_url"])))

        page.route("**", from_the_service)
        page.add_init_script(SHIFTS)
        page.goto(address, wait_until="commit")
        for number in range(1, len(parts)):
            expect(page.locator("details.pop")).to_have_count(number)
            page.evaluate(_SHOWN)
            next_part.release()
        page.wait_for_load_state()
        assert page.evaluate("shifts") == []
