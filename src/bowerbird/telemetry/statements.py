"""Names of SQL statements. A trace contains these names instead of the SQL."""

import re
from functools import lru_cache
from typing import Final

from bowerbird.storage.queries import Queries

UNKNOWN: Final = "statement"
_PLACEHOLDER: Final = re.compile(r"\{\w+\}")
# Statements with less text of their own, such as fragments, would fit too many others.
_LEAST_CHARACTERS: Final = 24


class StatementNames:
    """Stores fill the placeholders of their statements, so a text is compared with what is left."""

    def __init__(self) -> None:
        self._exact: dict[str, str] = {}
        # The texts between the placeholders of a statement, and its name.
        self._filled: set[tuple[tuple[str, ...], str]] = set()
        self.of = lru_cache(maxsize=512)(self._of)

    def add(self, resource: str, queries: Queries) -> None:
        for key, text in queries.items():
            name = f"{resource}.{key}"
            pieces = tuple(_PLACEHOLDER.split(text))
            if len(pieces) == 1:
                self._exact[text] = name
            elif _length(pieces) >= _LEAST_CHARACTERS:
                self._filled.add((pieces, name))
        self.of.cache_clear()

    def _of(self, sql: str) -> str:
        if name := self._exact.get(sql):
            return name
        fitting = [
            (_length(pieces), name) for pieces, name in self._filled if _is_filled(pieces, sql)
        ]
        return max(fitting)[1] if fitting else UNKNOWN


def _length(pieces: tuple[str, ...]) -> int:
    return sum(map(len, pieces))


def _is_filled(pieces: tuple[str, ...], sql: str) -> bool:
    if not (sql.startswith(pieces[0]) and sql.endswith(pieces[-1])):
        return False
    place = len(pieces[0])
    for piece in pieces[1:-1]:
        found = sql.find(piece, place)
        if found < 0:
            return False
        place = found + len(piece)
    return place + len(pieces[-1]) <= len(sql)
