"""What a signed-in person sees when the server does not answer, in a real browser."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from playwright.sync_api import Page, expect

from tests.support import serving
from tests.support.serving import Server
from tests.web.accessibility import violations
from tests.web.sessions import address, signed_in_state

READY = "navigator.serviceWorker.ready.then((found) => found.active.scriptURL)"


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    with serving.serving(tmp_path) as running:
        running.run("account", "create", "me@example.com")
        yield running


@pytest.fixture
def options(server: Server) -> dict[str, Any]:
    return {"base_url": address(server, ""), "storage_state": signed_in_state(server)}


@pytest.mark.browser(has_service_worker=True, may_complain=True)
def test_a_page_of_this_site_is_shown_while_the_server_is_away(page: Page, server: Server) -> None:
    messages: list[str] = []
    page.on("console", lambda message: messages.append(message.text))
    page.goto("/account")
    assert page.evaluate(READY) == address(server, "/offline-worker.js")
    page.goto("/keys")
    assert messages == []
    assert server.stop() == 0

    page.goto("/activity")

    expect(page.get_by_role("heading", level=1)).to_have_text("The service does not answer")
    # The styles are there, too.
    family = "getComputedStyle(document.querySelector('h1')).fontFamily"
    assert "Iowan" in page.evaluate(family)
    assert violations(page) == []
    stored = page.evaluate("caches.keys()")
    assert [name.startswith("offline-") for name in stored] == [True]


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
