"""Reads named statements from storage/sql.

Portable SQL is in sql/<resource>.sql. Statements that the two databases cannot share are in
sql/sqlite/ and sql/postgres/ under the same name; a test checks that the names match.
Write parameters as :name and casts as CAST(x AS t), never x::t.
"""

import re
from functools import cache, lru_cache
from importlib import resources
from typing import Final

_NAME: Final = re.compile(r"^-- name: (\w+)\n", re.MULTILINE)
_COMMENT: Final = re.compile(r"^--.*\n", re.MULTILINE)
_PARAMETER: Final = re.compile(r"(?<![:\w]):([a-z_]+)")

Queries = dict[str, str]


@cache
def load(resource: str, dialect: str) -> Queries:
    folder = resources.files("bowerbird.storage") / "sql"
    queries: Queries = {}
    for file in (folder / f"{resource}.sql", folder / dialect / f"{resource}.sql"):
        if file.is_file():
            queries |= parse(file.read_text(encoding="utf-8"))
    return queries


def every(dialect: str) -> dict[str, Queries]:
    """The statements of all resources, by resource."""
    folder = resources.files("bowerbird.storage") / "sql"
    files = (*folder.iterdir(), *(folder / dialect).iterdir())
    names = {file.name.removesuffix(".sql") for file in files if file.name.endswith(".sql")}
    return {name: load(name, dialect) for name in sorted(names)}


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
