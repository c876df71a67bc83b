"""A function for FTS5 that counts how often a post has each of some words.

FTS5's own bm25 weighs a word by its frequency in all accounts, so the posts of other accounts would
change the order of a list.
"""

from typing import Any, Final

import apsw

NAME: Final = "occurrences"
LENGTH_BYTES: Final = 4


def register(connection: apsw.Connection) -> None:
    # If the file is not a database, this raises that error instead of one from FTS5.
    connection.execute("SELECT 1 FROM sqlite_schema LIMIT 1").fetchall()
    connection.register_fts5_function(NAME, _occurrences)


def _occurrences(api: apsw.FTS5ExtensionApi, *arguments: Any) -> bytes:
    """One byte per counted word, and the number of words of the post.

    The counted words are the first phrases of the query, and gaps are the next one. An index text
    repeats no word more than 255 times.
    """
    counted = int(arguments[0])
    places = api.phrase_column_offsets
    words = bytes([len(places(phrase, 0)) for phrase in range(counted)])
    length = api.column_size(0) - len(places(counted, 0))
    return words + length.to_bytes(LENGTH_BYTES, "little")
