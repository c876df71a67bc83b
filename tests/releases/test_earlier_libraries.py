"""This release opens the libraries that earlier releases have saved."""

import gzip
import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.releases.saving import EMAIL, listed
from tests.support.engines.postgres_binaries import installed_binaries
from tests.support.postgres import ThrowawayPostgres
from tests.support.serving import Server, command, environment_of, serving

RELEASES = sorted(
    (path.parent for path in Path(__file__).parent.glob("*/sqlite.json.gz")),
    key=lambda folder: [int(part) for part in folder.name.split(".")],  # 0.10.0 is after 0.9.0
)


def test_version_0_2_0_is_the_oldest_release_that_later_ones_open() -> None:
    assert RELEASES[0].name == "0.2.0"


@pytest.mark.parametrize("release", RELEASES, ids=lambda release: release.name)
@pytest.mark.parametrize("database", ["sqlite", "postgres"])
def test_everything_that_an_earlier_release_saved_is_there(
    release: Path, database: str, tmp_path: Path, postgres: ThrowawayPostgres
) -> None:
    saved = json.loads(gzip.decompress((release / f"{database}.json.gz").read_bytes()))

    with opened(release, database, tmp_path, postgres) as server:
        key = server.run("key", "create", EMAIL).splitlines()[-1]
        now = listed(server, key)
        checked = server.run("check", "--deep")

    assert changes(saved, now) == []
    assert "No problems found." in checked


@contextmanager
def opened(
    release: Path, database: str, folder: Path, postgres: ThrowawayPostgres
) -> Iterator[Server]:
    if database == "sqlite":
        backup = folder / "library.tar"
        backup.write_bytes(gzip.decompress((release / "sqlite.tar.gz").read_bytes()))
        environment = environment_of(data_dir=folder / "data")
        command("restore", str(backup), "--yes", environment=environment)
        with serving(folder) as server:
            yield server
        return
    with postgres.fresh_database() as url:
        load = [str(installed_binaries() / "psql"), "-Xq", "--set=ON_ERROR_STOP=1", url]
        dump = gzip.decompress((release / "postgres.sql.gz").read_bytes())
        subprocess.run(load, input=dump, check=True, stdout=subprocess.DEVNULL)
        command("migrate", environment=environment_of(database_url=url))
        with serving(folder, database_url=url) as server:
            yield server


def changes(saved: Any, now: Any, place: str = "") -> list[str]:
    """What is missing or different now. A later release may add fields and fill empty texts."""
    if isinstance(saved, dict) and isinstance(now, dict):
        return [
            change
            for name, value in saved.items()
            for change in changes(value, now.get(name), f"{place}.{name}")
        ]
    if isinstance(saved, list) and isinstance(now, list) and len(saved) == len(now):
        return [
            change
            for number, (one, other) in enumerate(zip(saved, now, strict=True))
            for change in changes(one, other, f"{place}[{number}]")
        ]
    is_kept = saved in (now, "", None)
    return [] if is_kept else [f"{place}: {saved!r} is now {now!r}"]
