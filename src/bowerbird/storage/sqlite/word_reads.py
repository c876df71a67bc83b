"""Reads with SQLite's word index: by the statement that is faster, and without costly prefixes.

FTS5 collects the hits of a prefix in all accounts before it returns the first, so a search in a
small library would take as long as one in all of them. It reads a single word only where the
account's posts are. So prefixes are written as words where other accounts have most of the posts.

A function counts how often a post has each of some words: FTS5's own bm25 weighs a word by its
frequency in all accounts, so the posts of other accounts would change the order of a list.
"""

import re
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Final

import apsw

from bowerbird.model.accounts import Account
from bowerbird.model.words import UNCOUNTED
from bowerbird.storage.database import WordRead
from bowerbird.storage.queries import FTS5, Queries

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


# Not at the end of a phrase.
# Counts do not have the tokens of compounds and addresses, and few posts have one.
_PREFIX: Final = re.compile(rf'(?<! \+ )"([^"{"".join(UNCOUNTED)}][^"]*)" \*')
# Matches nothing.
_NOTHING: Final = '""'
# How many posts all accounts have for each post of this one, until its words cost less than the
# prefix.
_SHARE: Final = 4
# In the whole query. Each takes up to 60 µs, and 50 kB while FTS5 runs.
_MOST_WORDS: Final = 600
# FTS5 looks at all alternatives of an OR for each hit, so they are grouped.
_ALTERNATIVES: Final = 8
# Up to here, looking up each hit is faster than looking for all bookmarks among the hits.
_FEW: Final = 5_000
_SURROGATES: Final = (0xD800, 0xE000)
_LONGEST_WORD: Final = 64


def rows(connection: apsw.Connection, sql: Queries, read: WordRead) -> list[Any]:
    """The rows of a statement that searches words, on a reader thread."""
    texts = [read.values[name] for name in read.queries]
    if not any(map(_PREFIX.search, texts)):
        fastest = _fastest(connection, sql, read)
        return _rows(connection, fastest, read.values) if fastest else []
    # The words of a prefix and their hits are of one state of the library.
    with connection:
        written = with_words(connection, sql, read.account, texts)
        values = {**read.values, **dict(zip(read.queries, written, strict=True))}
        found = _rows(connection, read.of_many or read.sql, values)
    return found  # noqa: RET504 - its type says that a connection may suppress errors


def _fastest(connection: apsw.Connection, sql: Queries, read: WordRead) -> str:
    """The statement to run; empty if no post has the words."""
    if not read.of_many:
        return read.sql
    hits: int = _rows(connection, sql["count_some"], {**read.values, "limit": _FEW + 1})[0][0]
    return read.of_many if hits > _FEW else read.sql if hits else ""


def with_words(
    connection: apsw.Connection, sql: Queries, account: Account, texts: Sequence[str]
) -> Sequence[str]:
    """Expressions that match the same posts of the account, for one statement."""
    prefixes = Counter(prefix for text in texts for prefix in _PREFIX.findall(text))
    values: dict[str, Any] = {"account_id": account.account_id}
    if prefixes and _should_write_words(connection, sql, account):
        written: dict[str, str] = {}
        room = _MOST_WORDS
        for prefix, count in prefixes.items():
            most = room // count
            values |= {"first": prefix, "after_last": _after_all(prefix), "limit": most + 1}
            words = [row[0] for row in _rows(connection, sql["words_between"], values)]
            if len(words) <= most:
                room -= len(words) * count
                written[prefix] = _either([FTS5.quoted(word) for word in words] or [_NOTHING])
        texts = [_PREFIX.sub(lambda found: written.get(found[1], found[0]), text) for text in texts]
    return texts


def _should_write_words(connection: apsw.Connection, sql: Queries, account: Account) -> bool:
    posts_of_all: int = _rows(connection, sql["posts_of_all"], {})[0][0]
    if posts_of_all < _SHARE * account.total:
        return False
    rows = _rows(connection, sql["are_all_counted"], {"account_id": account.account_id})
    return bool(rows[0][0])


def _rows(connection: apsw.Connection, sql: str, values: Mapping[str, Any]) -> list[Any]:
    return connection.execute(sql, values).fetchall()


def _after_all(prefix: str) -> str:
    """A text after all words that begin with the prefix, and before all others."""
    first, after = _SURROGATES
    following = ord(prefix[-1]) + 1
    if following > sys.maxunicode:
        return prefix + _LONGEST_WORD * chr(sys.maxunicode)
    return prefix[:-1] + chr(after if following == first else following)


def _either(phrases: Sequence[str]) -> str:
    """Alternatives in groups, with an operator in between: FTS5 would join an OR of ORs."""
    while len(phrases) > _ALTERNATIVES:
        groups = [
            phrases[first : first + _ALTERNATIVES]
            for first in range(0, len(phrases), _ALTERNATIVES)
        ]
        phrases = [f"(({FTS5.any.join(group)}){FTS5.but_not}{_NOTHING})" for group in groups]
    return f"({FTS5.any.join(phrases)})"
