"""A page that arrives in pieces, as over a slow network: what is shown does not move."""

import re
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from playwright.sync_api import Page

from tests.support.serving import Server, http
from tests.web.library.browsing import SHIFTS

# Not the links in the text of a post, which fills its lines as it arrives.
PIECES = re.compile(rb"(?=<(?:a class|button|svg|label|fieldset|details|section)\b)")
# Enough for a frame.
PAUSE_S = 0.02
# The first screen.
MOST_PIECES = 150


@contextmanager
def arriving_slowly(server: Server, first: bytes) -> Iterator[str]:
    """Passes requests on to the server. A page arrives in pieces from the text `first` on."""
    host = f"localhost:{server.port}"

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            headers = {"Host": host, "Cookie": self.headers.get("Cookie", "")}
            answer = http.get(f"http://{host}{self.path}", headers=headers)
            self.send_response(answer.status_code)
            for name in ("content-type", "content-security-policy"):
                if name in answer.headers:
                    self.send_header(name, answer.headers[name])
            self.end_headers()
            start, found, rest = answer.content.partition(first)
            self.wfile.write(start)
            for piece in PIECES.split(found + rest, MOST_PIECES):
                self.wfile.write(piece)
                if found:
                    time.sleep(PAUSE_S)

        def do_POST(self) -> None:
            """What a page sends by itself, such as the time zone of the browser."""
            self.rfile.read(int(self.headers["Content-Length"]))
            self.send_response(204)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    proxy = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=proxy.serve_forever)
    thread.start()
    try:
        yield f"http://localhost:{proxy.server_port}"
    finally:
        proxy.shutdown()
        thread.join()
        proxy.server_close()


@pytest.fixture
def options(many: dict[str, Any]) -> dict[str, Any]:
    return many


# What arrives in pieces: a size of the window, a page, and where the pieces start.
ARRIVING = {
    "library": (1280, "/library", b'<main class="page"'),
    "library on a phone": (390, "/library", b'<main class="page"'),
    "statistics": (1280, "/statistics", b'<div class="foot">'),
    "tabs on a phone": (390, "/statistics", b'<nav class="phone tabbar"'),
}


@pytest.mark.parametrize("arriving", ARRIVING)
def test_nothing_moves_while_a_page_arrives(page: Page, served: Server, arriving: str) -> None:
    width, path, first = ARRIVING[arriving]
    page.set_viewport_size({"width": width, "height": 860})
    page.add_init_script(SHIFTS)
    with arriving_slowly(served, first) as url:
        page.goto(f"{url}{path}")
        assert page.evaluate("shifts") == []
