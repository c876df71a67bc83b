"""The generation: a number that changes with every write to a SQLite library."""

import os
from pathlib import Path

import apsw
import pytest

from bowerbird.storage import private_files
from bowerbird.storage.accounts.credentials import KeyStore
from bowerbird.storage.database import Database
from bowerbird.storage.sqlite.database import SqliteDatabase
from bowerbird.storage.sqlite.write_queue import Generation
from tests.support import service

pytestmark = pytest.mark.anyio


def opened(folder: Path) -> Generation:
    return Generation(private_files.open_for_update(folder / "write.lock"))


def test_it_is_unknown_during_a_write_and_higher_after_it_everywhere(tmp_path: Path) -> None:
    generation, other = opened(tmp_path), opened(tmp_path)
    before = generation.settled()
    generation.begin()
    during = generation.settled(), other.settled()
    generation.end()

    assert before is not None
    assert during == (None, None)
    assert generation.settled() == other.settled() == before + 2


def test_after_a_killed_writer_it_is_unknown_until_the_next_write(tmp_path: Path) -> None:
    opened(tmp_path).begin()
    generation = opened(tmp_path)
    assert generation.settled() is None

    generation.begin()
    generation.end()

    assert generation.settled() is not None


def test_in_an_emptied_file_it_is_unknown_and_then_higher_than_before(tmp_path: Path) -> None:
    generation = opened(tmp_path)
    before = generation.settled()
    os.truncate(tmp_path / "write.lock", 0)
    assert generation.settled() is None

    generation.begin()
    generation.end()

    after = generation.settled()
    assert before is not None
    assert after is not None
    assert after > before


async def test_the_service_survives_an_emptied_lock_file(sqlite: Database, tmp_path: Path) -> None:
    cast = await service.build(sqlite)
    assert (await cast.alice.get("/v1/bookmarks/count")).status_code == 200

    os.truncate(tmp_path / "write.lock", 0)

    assert (await cast.alice.get("/v1/bookmarks/count")).status_code == 200
    await cast.alice.save()
    assert (await cast.alice.listed())["meta"]["total_count"] == 1
    assert sqlite.generation() is not None


async def test_a_commit_of_another_process_is_seen_by_the_next_request(
    sqlite: Database, tmp_path: Path
) -> None:
    cast = await service.build(sqlite)
    other = SqliteDatabase(tmp_path)
    assert (await cast.alice.get("/v1/bookmarks/count")).status_code == 200

    await KeyStore(other).revoke(cast.alice.account_id, "alice-key", b"", cast.clock())

    assert (await cast.alice.get("/v1/bookmarks/count")).status_code == 401
    await other.close()


async def test_nothing_is_served_from_the_cache_during_a_write(
    sqlite: Database, tmp_path: Path
) -> None:
    cast = await service.build(sqlite)
    assert (await cast.alice.get("/v1/bookmarks/count")).status_code == 200
    # The state after a writer was killed right after its commit.
    opened(tmp_path).begin()
    shell = apsw.Connection(str(tmp_path / "bowerbird.db"))
    shell.execute("UPDATE api_key SET revoked_at = 1")

    assert (await cast.alice.get("/v1/bookmarks/count")).status_code == 401
