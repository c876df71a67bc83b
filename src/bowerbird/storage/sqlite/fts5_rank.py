"""A rank function for FTS5 that gives a post the same score as PostgreSQL's ts_rank.

FTS5's own bm25 weighs a word by its frequency in all accounts, so the posts of other accounts would
change the order of a list.
"""

from itertools import accumulate
from math import log2
from typing import Any, Final

import apsw

NAME: Final = "rank_of"
# A tsvector stores at most this many positions per word.
_MAX_POSITIONS: Final = 255
_LIMIT: Final = 1.64493406685
# The score of a word that occurs 0, 1, 2 … times.
_SCORES: Final = [0.0, *accumulate(1 / (n * n) / _LIMIT for n in range(1, _MAX_POSITIONS + 1))]


def register(connection: apsw.Connection) -> None:
    # If the file is not a database, this raises that error instead of one from FTS5.
    connection.execute("SELECT 1 FROM sqlite_schema LIMIT 1").fetchall()
    connection.register_fts5_function(NAME, _rank)


def _rank(api: apsw.FTS5ExtensionApi, *arguments: Any) -> float:
    """The arguments are the index of the first ranked word and their number. Gaps come last."""
    start, counted = int(arguments[0]), int(arguments[1])
    occurrences = [len(api.phrase_column_offsets(start + n, 0)) for n in range(counted)]
    length = api.column_size(0) - len(api.phrase_column_offsets(api.phrase_count - 1, 0))
    return sum([_SCORES[n] for n in occurrences]) / counted / log2(length + 1)
