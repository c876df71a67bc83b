"""A collector, and servers on either database that send their traces to it."""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.support import make, serving
from tests.support.databases import TEMPLATE
from tests.support.hosts.collector import Collector, collector
from tests.support.serving import Server

SECRET_TEXT = "quokkaesque"


@dataclass(frozen=True)
class Traced:
    """A server with traces, one account, and one post."""

    server: Server
    key: str
    collector: Collector
    post_id: str

    def call(self, method: str, path: str, **options: Any) -> httpx.Response:
        headers = {"Authorization": f"Bearer {self.key}", **options.pop("headers", {})}
        address = f"http://127.0.0.1:{self.server.port}{path}"
        return serving.http.request(method, address, headers=headers, **options)


@pytest.fixture(scope="module")
def receiver() -> Iterator[Collector]:
    """A collector to which servers send that are started now."""
    with pytest.MonkeyPatch.context() as patch, collector() as started:
        for name in [name for name in os.environ if name.startswith("OTEL_")]:
            patch.delenv(name)
        patch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", started.url)
        # Milliseconds between two batches.
        patch.setenv("OTEL_BSP_SCHEDULE_DELAY", "50")
        yield started


@contextmanager
def traced_server(
    folder: Path, receiver: Collector, *arguments: str, **settings: Any
) -> Iterator[Traced]:
    with serving.serving(folder, *arguments, traces="on", **settings) as server:
        key = server.new_key()
        post = make.post(post_id="1987654321098765432", text=f"a {SECRET_TEXT} bower")
        file = folder / "posts.json"
        file.write_text(json.dumps([post]), encoding="utf-8")
        server.run("import", "you@example.com", str(file))
        yield Traced(server, key, receiver, post["post_id"])


@pytest.fixture(scope="module", params=["sqlite", "postgres"])
def place(request: pytest.FixtureRequest) -> Iterator[dict[str, Any]]:
    """The settings of an empty library on either database."""
    if request.param == "sqlite":
        yield {}
        return
    with request.getfixturevalue("postgres").fresh_database(TEMPLATE) as url:
        yield {"database_url": url}


@pytest.fixture(scope="module")
def traced(
    place: dict[str, Any], receiver: Collector, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Traced]:
    """A server that the tests of a module share."""
    with traced_server(tmp_path_factory.mktemp("traced"), receiver, **place) as started:
        yield started
