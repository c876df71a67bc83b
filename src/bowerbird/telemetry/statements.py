"""Records statements, transactions and calls of models as parts of the current request or job.

A trace contains the names of statements instead of their SQL.
"""

import re
from collections.abc import Awaitable, Mapping
from functools import lru_cache
from typing import Final, TypeVar

from opentelemetry.trace import SpanKind

from bowerbird.storage import queries
from bowerbird.storage.database import Attributes
from bowerbird.storage.queries import Queries
from bowerbird.telemetry.spans import Spans

T = TypeVar("T")

UNKNOWN: Final = "statement"
_PLACEHOLDER: Final = re.compile(r"\{\w+\}")
# Statements with less text of their own, such as fragments, would fit too many others.
_LEAST_CHARACTERS: Final = 24
_ADD_JOB: Final = "jobs.add"


class StatementSpans:
    """The observer of the databases (`storage/database.py`)."""

    def __init__(self, spans: Spans, dialect: str) -> None:
        self._spans = spans
        self._names = StatementNames(queries.every(dialect))
        self._system = "sqlite" if dialect == "sqlite" else "postgresql"

    async def __call__(
        self,
        result: Awaitable[T],
        *,
        sql: str = "",
        name: str = "",
        attributes: Attributes | None = None,
    ) -> T:
        name = name or self._names.of(sql)
        kind = SpanKind.CLIENT if attributes is None else SpanKind.INTERNAL
        called = {"db.system.name": self._system, "db.query.summary": name}
        with self._spans.part(name, kind, attributes or called):
            found = await result
        if name == _ADD_JOB and isinstance(found, list) and found:
            self._spans.note_queued(str(found[0][0]))
        return found


class StatementNames:
    """Stores fill the placeholders of their statements, so a text is compared with what is left."""

    def __init__(self, statements: Mapping[str, Queries]) -> None:
        self._exact: dict[str, str] = {}
        # The texts between the placeholders of a statement, and its name.
        self._filled: set[tuple[tuple[str, ...], str]] = set()
        self.of = lru_cache(maxsize=512)(self._of)
        for resource, named in statements.items():
            for key, text in named.items():
                name = f"{resource}.{key}"
                pieces = tuple(_PLACEHOLDER.split(text))
                if len(pieces) == 1:
                    self._exact[text] = name
                elif _length(pieces) >= _LEAST_CHARACTERS:
                    self._filled.add((pieces, name))

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
