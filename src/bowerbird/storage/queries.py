"""Reads named statements from storage/sql.

Portable SQL is in sql/<room>/<resource>.sql. Statements that the two databases cannot share are
beside it in <resource>.sqlite.sql and <resource>.postgres.sql; a test checks that the names match.
Write parameters as :name and casts as CAST(x AS t), never x::t.
"""

import re
from functools import cache, lru_cache
from importlib import resources
from importlib.resources.abc import Traversable
from typing import Final

_NAME: Final = re.compile(r"^-- name: (\w+)\n", re.MULTILINE)
_COMMENT: Final = re.compile(r"^--.*\n", re.MULTILINE)
_PARAMETER: Final = re.compile(r"(?<![:\w]):([a-z_]+)")

Queries = dict[str, str]


@cache
def load(resource: str, dialect: str) -> Queries:
    queries: Queries = {}
    for name in (f"{resource}.sql", f"{resource}.{dialect}.sql"):
        if file := files().get(name):
            queries |= parse(file.read_text(encoding="utf-8"))
    return queries


def every(dialect: str) -> dict[str, Queries]:
    """The statements of all resources, by resource."""
    names = {name.partition(".")[0] for name in files()}
    return {name: found for name in sorted(names) if (found := load(name, dialect))}


@cache
def files() -> dict[str, Traversable]:
    """Every file of statements by its name, whichever room it is in."""
    folder = resources.files("bowerbird.storage") / "sql"
    return {file.name: file for room in folder.iterdir() for file in room.iterdir()}


def parse(text: str) -> Queries:
    _, *pairs = _NAME.split(text)
    return {
        name: _COMMENT.sub("", body).strip()
        for name, body in zip(pairs[::2], pairs[1::2], strict=True)
    }


@lru_cache(maxsize=1024)
def numbered(sql: str) -> tuple[str, tuple[str, ...]]:
    """The statement with $1, $2 … instead of :names, and the names in that order."""
    names: list[str] = []

    def place(match: re.Match[str]) -> str:
        name = match[1]
        if name not in names:
            names.append(name)
        return f"${names.index(name) + 1}"

    return _PARAMETER.sub(place, sql), tuple(names)
