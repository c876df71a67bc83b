"""How well a post matches, for FTS5: the score that PostgreSQL's ts_rank gives the same post.

FTS5's own bm25 weighs a word by how often it occurs in all accounts together, so that what others
save would move the order of one's own list.
"""

from itertools import accumulate
from math import log2
from typing import Any, Final

import apsw

NAME: Final = "rank_of"
# A tsvector keeps no more places of one word.
_MOST: Final = 255
_LIMIT: Final = 1.64493406685
# What the second, third … occurrence still adds.
_WORTH: Final = [0.0, *accumulate(1 / (n * n) / _LIMIT for n in range(1, _MOST + 1))]


def register(connection: apsw.Connection) -> None:
    # A file that is no database is to be told as that, not as a failure of FTS5.
    connection.execute("SELECT 1 FROM sqlite_schema LIMIT 1").fetchall()
    connection.register_fts5_function(NAME, _rank)


def _rank(api: apsw.FTS5ExtensionApi, *given: Any) -> float:
    """Given are where the counted words begin and how many they are; the gaps come last."""
    start, counted = int(given[0]), int(given[1])
    occurrences = [len(api.phrase_column_offsets(start + n, 0)) for n in range(counted)]
    length = api.column_size(0) - len(api.phrase_column_offsets(api.phrase_count - 1, 0))
    return sum([_WORTH[n] for n in occurrences]) / counted / log2(length + 1)
