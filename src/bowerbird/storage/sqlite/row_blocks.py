"""Inserts many rows with few statements.

Python's lock is released once per statement. With one statement per row, the writer thread would
wait for the other threads at each row.
"""

import re
from collections.abc import Sequence
from itertools import chain
from operator import itemgetter
from typing import Final

import apsw

from bowerbird.storage.database import Values

# SQLite allows 32,766 values in one statement; a bookmark has 22.
_ROWS: Final = 50
_INSERT: Final = re.compile(
    r"(INSERT INTO .*?\bVALUES\s*)(\((?:(?!ON CONFLICT\b).)*\))(\s*ON CONFLICT\b[^:]*)?", re.DOTALL
)
_PARAMETER: Final = re.compile(r":(\w+)")


def run_many(connection: apsw.Connection, sql: str, rows: Sequence[Values]) -> None:
    """Runs the statement for each row, in order."""
    block = _block(sql) if len(rows) >= _ROWS else None
    whole = 0
    if block is not None:
        whole = len(rows) - len(rows) % _ROWS
        statement, names = block
        values_of = itemgetter(*names)
        for first in range(0, whole, _ROWS):
            part = map(values_of, rows[first : first + _ROWS])
            connection.execute(statement, tuple(chain.from_iterable(part)))
    if whole < len(rows):
        connection.executemany(sql, rows[whole:])


def _block(sql: str) -> tuple[str, Sequence[str]] | None:
    """The statement for a block of rows, and the names of a row's values. None if there is none."""
    match = _INSERT.fullmatch(sql)
    if match is None:
        return None
    beginning, row, end = match.groups(default="")
    names = _PARAMETER.findall(row)
    if len(names) == 1:
        # `itemgetter` returns a tuple only for several names.
        return None
    return beginning + ", ".join([_PARAMETER.sub("?", row)] * _ROWS) + end, names
