"""What a signed-in person sees when the server does not answer, in a real browser."""

from pathlib import Path

import httpx
import pytest
from playwright.sync_api import Page, expect

from tests.support import serving
from tests.support.serving import Server
from tests.web.accessibility import violations
from tests.web.chromium import Chromium

READY = "navigator.serviceWorker.ready.then((found) => found.active.scriptURL)"


def link(server: Server) -> str:
    """A link that signs somebody in."""
    server.run("account", "create", "me@example.com")
    printed = server.run("account", "link", "me@example.com")
    [url] = [word for word in printed.split() if "/link#" in word]
    return url


def test_a_page_of_this_site_is_shown_while_the_server_is_away(
    tmp_path: Path, chromium: Chromium
) -> None:
    messages: list[str] = []

    with serving.serving(tmp_path) as server:
        entrance = link(server)

        def visit(page: Page) -> None:
            page.on("console", lambda message: messages.append(message.text))
            page.goto(entrance)
            page.get_by_role("button", name="Sign in").click()
            page.wait_for_url("**/account*")
            worker = page.evaluate(READY)
            assert worker == f"http://localhost:{server.port}/offline-worker.js"
            page.goto(f"http://localhost:{server.port}/keys")
            assert messages == []
            assert server.stop() == 0

            page.goto(f"http://localhost:{server.port}/activity")

            expect(page.get_by_role("heading", level=1)).to_have_text("The service does not answer")
            # The styles are there, too.
            family = "getComputedStyle(document.querySelector('h1')).fontFamily"
            assert "Iowan" in page.evaluate(family)
            assert violations(page) == []
            stored = page.evaluate("caches.keys()")
            assert [name.startswith("offline-") for name in stored] == [True]

        chromium.run(visit, has_service_worker=True)


@pytest.mark.anyio
async def test_the_worker_stores_nothing_of_a_person(site: httpx.AsyncClient) -> None:
    worker = await site.get("/offline-worker.js")

    assert worker.headers["content-type"] == "text/javascript; charset=utf-8"
    assert 'credentials: "omit"' in worker.text
    for path in ("/offline", *_files(worker.text)):
        answer = await site.get(path)
        assert answer.status_code == 200, path
        assert "set-cookie" not in answer.headers
        assert "no-store" not in answer.headers["cache-control"]


def _files(worker: str) -> list[str]:
    found = [part for part in worker.split('"') if part.startswith("/static/")]
    assert found
    return found
