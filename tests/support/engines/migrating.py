"""Databases at a step of the schema, and what is in them."""

from pathlib import Path
from typing import Any

import apsw
import asyncpg

from bowerbird.storage import migrations
from bowerbird.storage.migrations import Migration
from bowerbird.storage.sqlite.database import FILE_NAME

ADD_COLUMN = "ALTER TABLE label ADD COLUMN colour TEXT NOT NULL DEFAULT 'grey'"
ADD_INDEX = "CREATE INDEX label_by_colour ON label (account_id, colour)"


def step(number: int, sql: str, *, is_compatible: bool = False) -> Migration:
    return Migration(number, f"{number:04d}_made_up.sql", sql, is_compatible)


def last_of(dialect: str) -> int:
    return migrations.available(dialect)[-1].number


def later_steps(dialect: str) -> list[Migration]:
    released, last = migrations.available(dialect), last_of(dialect)
    return [*released, step(last + 1, ADD_COLUMN), step(last + 2, ADD_INDEX)]


def sqlite_shape(folder: Path) -> list[Any]:
    connection = apsw.Connection(str(folder / FILE_NAME))
    shape = connection.execute("SELECT type, name, sql FROM sqlite_schema ORDER BY 1, 2").fetchall()
    connection.close()
    return shape


def query_sqlite(file: Path, sql: str) -> list[Any]:
    connection = apsw.Connection(str(file))
    rows = connection.execute(sql).fetchall()
    connection.close()
    return rows


async def query_postgres(url: str, sql: str) -> list[Any]:
    connection = await asyncpg.connect(url)
    rows = [tuple(row) for row in await connection.fetch(sql)]
    await connection.close()
    return rows
