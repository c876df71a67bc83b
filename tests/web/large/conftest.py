"""A server with 20,000 varied posts on each database, and a browser that is signed in."""

import shutil
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from bowerbird.storage.sqlite.database import FILE_NAME
from tests.support import large_library, serving
from tests.support.embedding_service import EmbeddingService, embedding_service
from tests.support.serving import Server
from tests.web.chromium import WIDE
from tests.web.sessions import address, signed_in_state


@pytest.fixture(scope="session")
def large_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("large-library")
    large_library.fill_sqlite(folder)
    return folder / FILE_NAME


@pytest.fixture(scope="session")
def large_template(request: pytest.FixtureRequest) -> str:
    return large_library.fill_postgres(request.getfixturevalue("postgres"))


@pytest.fixture(scope="session")
def embedding() -> Iterator[EmbeddingService]:
    with embedding_service() as running:
        yield running


@pytest.fixture(scope="session", params=["sqlite", "postgres"])
def large(
    request: pytest.FixtureRequest,
    tmp_path_factory: pytest.TempPathFactory,
    embedding: EmbeddingService,
) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp(request.param)
    settings = {"embedding_url": embedding.url, "embedding_key": embedding.key}
    with ExitStack() as stack:
        if request.param == "sqlite":
            (folder / "data").mkdir()
            shutil.copy(request.getfixturevalue("large_file"), folder / "data" / FILE_NAME)
        else:
            template = request.getfixturevalue("large_template")
            postgres = request.getfixturevalue("postgres")
            settings["database_url"] = stack.enter_context(postgres.fresh_database(template))
        yield stack.enter_context(serving.serving(folder, **settings))


@pytest.fixture(scope="session")
def options(large: Server) -> dict[str, Any]:
    """The cookies of the library's owner."""
    state = signed_in_state(large)
    return {"base_url": address(large, ""), "storage_state": state, "viewport": WIDE}
