"""Repeated kill -9 during writes: acknowledged chunks are stored, and no chunk is incomplete.

Both `bowerbird check` and the queries in this file verify it.
"""

import asyncio
from collections import Counter
from pathlib import Path
from typing import Any

from bowerbird.settings import Settings
from bowerbird.storage.database import Database
from bowerbird.storage.opening import open_database
from tests.crash import killing
from tests.crash.importer import CHUNK, SHARED
from tests.support import serving

EMAIL = "you@example.com"
# `make crash` repeats it thousands of times.
ROUNDS = 10
COUNTERS = "SELECT total, unread, archived, fresh FROM library"
RECOUNT = """
SELECT count(*), count(*) FILTER (WHERE NOT is_read), count(*) FILTER (WHERE is_archived),
       count(*) FILTER (WHERE NOT is_read AND NOT is_archived)
  FROM bookmark
"""
LABELS = "SELECT label_id, bookmark_count FROM label ORDER BY label_id"
LABELS_RECOUNT = """
SELECT l.label_id, count(bl.number)
  FROM label AS l
  LEFT JOIN bookmark_label AS bl ON bl.account_id = l.account_id AND bl.label_id = l.label_id
 GROUP BY l.label_id
 ORDER BY l.label_id
"""


async def query(database: Database, sql: str) -> list[tuple[Any, ...]]:
    return [tuple(row) for row in await database.rows(sql, {})]


def write_and_die(environment: dict[str, str], folder: Path) -> set[int]:
    """Returns the chunks that were acknowledged as stored."""
    serving.command("account", "create", EMAIL, environment=environment)
    acknowledged = folder / "acknowledged"
    arguments = (EMAIL, str(ROUNDS), str(acknowledged))
    killing.in_own_process("importer", *arguments, environment=environment)
    return {int(line) for line in acknowledged.read_text(encoding="ascii").split()}


async def check_library(settings: Settings, acknowledged: set[int]) -> None:
    database = await open_database(settings)
    try:
        assert await query(database, COUNTERS) == await query(database, RECOUNT)
        assert await query(database, LABELS) == await query(database, LABELS_RECOUNT)
        await check_chunks(database, acknowledged)
    finally:
        await database.close()


async def check_chunks(database: Database, acknowledged: set[int]) -> None:
    ids = [post_id for (post_id,) in await query(database, "SELECT post_id FROM bookmark")]
    chunks = Counter(int(post_id[:-2]) for post_id in ids if len(post_id) > 2)

    assert set(chunks.values()) == {CHUNK}
    assert acknowledged <= chunks.keys()
    assert len(ids) == CHUNK * len(chunks) + SHARED
    for table in ("content", "keyword"):
        assert await query(database, f"SELECT count(*) FROM {table}") == [(len(ids),)]  # noqa: S608 - only two fixed names


def test_a_library_stays_consistent_when_its_writers_are_killed(
    settings: dict[str, Any], tmp_path: Path
) -> None:
    environment = serving.environment_of(**settings)
    acknowledged = write_and_die(environment, tmp_path)

    assert len(acknowledged) > ROUNDS
    asyncio.run(check_library(Settings(**settings), acknowledged))
    assert serving.command("check", environment=environment) == "No problems found."
