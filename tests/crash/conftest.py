"""The settings of a library that several processes open."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture(params=["sqlite", "postgres"])
def settings(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[dict[str, Any]]:
    """A library on either database, which exists from the first command on."""
    found: dict[str, Any] = {"data_dir": tmp_path / "data"}
    if request.param == "sqlite":
        yield found
        return
    with request.getfixturevalue("postgres").fresh_database("migrated") as url:
        yield {**found, "database_url": url}
