"""Serves the templates with example values on loopback, under the policy of the real pages.

`python -m tests.web.rendered FOLDER` saves screenshots of all of them: light, dark and on a phone.
"""

import secrets
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Final

from msgspec import Struct
from playwright.sync_api import Page

from bowerbird.settings import Settings
from bowerbird.web import page_examples, templating
from bowerbird.web.pages import NONCE_PLACEHOLDER, HtmlPage, page, personal_headers
from bowerbird.web.templating import Templates
from bowerbird.wire.responses.answer_cache import RequestTarget
from bowerbird.wire.responses.replies import Reply
from tests.web.chromium import Chromium
from tests.web.template_examples import EXAMPLES

SETTINGS: Final = Settings(operator_contact="ops@example.org")
# What the scripts of pages with progress ask for. Without an answer they would open the page again.
STATES: Final = {
    "/exports/state": b'{"mark": "e1", "jobs": []}',
    "/import/files/3f9c/state": b'{"mark": "open", "jobs": []}',
    "/library/meaning": b'{"mark": "open", "jobs": []}',
    "/library/many/a1/state": b'{"mark": "working", "jobs": []}',
    "/sources/state": b'{"mark": "7e11:running", "jobs": []}',
}
SIZES: Final[dict[str, dict[str, Any]]] = {
    "light": {"viewport": {"width": 1280, "height": 860}, "color_scheme": "light"},
    "dark": {"viewport": {"width": 1280, "height": 860}, "color_scheme": "dark"},
    "phone": {"viewport": {"width": 390, "height": 844}, "color_scheme": "light"},
}
# For every rule of axe: both widths and both colour schemes. The examples in test_templates_look.py
# have the other combinations.
AXE_SIZES: Final = {name: SIZES[name] for name in ("dark", "phone")}
SMALL_PHONE: Final[dict[str, Any]] = {
    "viewport": {"width": 360, "height": 740},
    "has_touch": True,
    "is_mobile": True,
}


def names() -> list[str]:
    """The names of all examples, without the seconds that it takes to render them."""
    return list(_values())


@cache
def examples() -> dict[str, str]:
    """Name -> HTML."""
    templates = Templates(SETTINGS, has_sandbox=True)
    return {
        name: templates.render(template, **values) for name, (template, values) in _values().items()
    }


def _values() -> dict[str, tuple[str, dict[str, Any]]]:
    """Name -> template and values."""
    home = {
        "first_response": page_examples.FIRST_RESPONSE,
        "mcp_client_config": page_examples.mcp_client_config(SETTINGS),
    }
    public = {"home": ("home.html", home), "keys_signed_out": ("keys_signed_out.html", {})}
    return public | EXAMPLES


class _PersonalPage(Struct, frozen=True):
    """A page for one visitor, as `VisitPages` sends it."""

    html: str

    def answer(self, _: RequestTarget) -> Reply:
        nonce = secrets.token_urlsafe(16)
        body = self.html.replace(NONCE_PLACEHOLDER, nonce).encode()
        return Reply(200, personal_headers(nonce, is_secure=False), body)


def _page(name: str, html: str) -> HtmlPage | _PersonalPage:
    _, values = EXAMPLES.get(name, ("", {}))
    return _PersonalPage(html) if "csrf" in values else page(SETTINGS, html)


@contextmanager
def served_examples() -> Iterator[str]:
    """Yields the URL of a server with one path per example."""
    # A page that reloads itself would end a check of it.
    bodies = {
        f"/{name}": _page(name, html.replace('http-equiv="refresh"', 'name="refresh"'))
        for name, html in examples().items()
    }
    files = templating.files()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            path = self.path.partition("?")[0]
            found = bodies.get(path) or files.get(path)
            target = RequestTarget(path, b"", b"", None)
            reply = found.answer(target) if found else Reply(404, [], b"")
            if path in STATES:
                reply = Reply(200, [(b"content-type", b"application/json")], STATES[path])
            self.send_response(reply.status)
            for header, value in reply.headers:
                self.send_header(header.decode(), value.decode())
            self.end_headers()
            self.wfile.write(reply.body)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://localhost:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def _save_screenshots(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    with served_examples() as url, Chromium() as chromium:
        for size, context in SIZES.items():

            def visit(page: Page, size: str = size) -> None:
                for name in examples():
                    page.goto(f"{url}/{name}#token")
                    page.screenshot(path=folder / f"{name}.{size}.png", full_page=True)

            chromium.run(visit, **context)


if __name__ == "__main__":
    _save_screenshots(Path(sys.argv[1]))
