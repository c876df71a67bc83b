"""The count of posts that a search by meaning does not find yet, in a real browser."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.support import make, serving
from tests.support.embedding_service import embedding_service
from tests.support.postgres import ThrowawayPostgres
from tests.support.serving import Server
from tests.web.sessions import address, signed_in_state

EMAIL = "me@example.com"


@pytest.fixture
def server(tmp_path: Path, postgres: ThrowawayPostgres) -> Iterator[Server]:
    """A server that leaves the vectors to the command."""
    with embedding_service() as embedding, postgres.fresh_database() as url:
        settings = {"embedding_url": embedding.url, "embedding_key": embedding.key}
        serving.command("migrate", environment=serving.environment_of(database_url=url))
        with serving.serving(tmp_path, "--no-worker", database_url=url, **settings) as running:
            running.run("account", "create", EMAIL)
            yield running


@pytest.fixture
def options(server: Server) -> dict[str, Any]:
    return {"base_url": address(server, ""), "storage_state": signed_in_state(server)}


def run(server: Server, *arguments: str) -> None:
    """Not in this process: Playwright has its event loop here."""
    ran = serving.bowerbird(*arguments, environment=server.environment)
    assert ran.returncode == 0, ran.stderr


def add(server: Server, folder: Path, *ids: str) -> None:
    file = folder / f"{ids[0]}.json"
    file.write_text(json.dumps([make.post(post_id=one, text="a red nest") for one in ids]))
    run(server, "import", EMAIL, str(file))


def test_the_count_of_posts_without_a_vector_follows_without_a_reload(
    page: Page, server: Server, tmp_path: Path
) -> None:
    add(server, tmp_path, "1", "2")
    run(server, "embed", EMAIL)
    add(server, tmp_path, "3", "4")
    page.goto("/library?vector_search_term=nest")
    page.evaluate("globalThis.isSame = true")
    note = page.locator(".note")
    expect(note).to_have_text(
        "Search by meaning cannot find 2 posts yet. Search by words finds them."
    )
    add(server, tmp_path, "5")
    expect(note).to_contain_text("cannot find 3 posts yet")
    run(server, "embed", EMAIL)
    expect(note).to_have_text("Search by meaning finds all your posts now.")
    expect(page.locator("[data-follow]")).to_have_count(0)
    assert page.evaluate("isSame")
