"""Writes the prefixes of an FTS5 query so that they cost less.

FTS5 collects the hits of a prefix in all accounts before it returns the first. It reads a single
word only where the account's posts are, but has to look for it in each segment of its index. So a
prefix is written as the words of the account that begin with it, and rare words that are next to
each other in the alphabet as a longer prefix.
"""

import re
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate
from typing import Any, Final, NamedTuple

import apsw

from bowerbird.model.accounts import Account
from bowerbird.storage.keyword_queries import FTS5
from bowerbird.storage.queries import Queries

# Not at the end of a phrase.
_PREFIX: Final = re.compile(r'(?<! \+ )"([^"]*)" \*')
_ANY_PREFIX: Final = '" *'
# Matches nothing.
_NOTHING: Final = '""'

# In µs: to find a word or a prefix in the index, to read a hit of a word, and to collect a hit of a
# prefix.
_LOOKUP, _HIT, _COLLECTED = 60.0, 0.07, 0.125
# To return a hit and put it into a table. Without that, the words are looked up twice more.
_RETURNED, _REPEATED = 0.15, 2
# With so many prefixes, only words are written that save several lookups.
_MANY_PREFIXES: Final = 4
_MOST_WORDS: Final = 5_000
# Each takes up to 50 kB while FTS5 runs.
_MOST_PHRASES: Final = 600
# FTS5 looks at all alternatives of an OR for each hit, so they are grouped.
_ALTERNATIVES: Final = 8
_SURROGATES: Final = (0xD800, 0xE000)
_LONGEST_WORD: Final = 64


class Expressions(NamedTuple):
    texts: Sequence[str]
    # Whether FTS5 can run them several times in less than the time in which it returns all hits.
    # Otherwise it collects the hits of a prefix each time.
    may_repeat: bool


class _Written(NamedTuple):
    """Phrases that match the same posts of the account as a prefix, and what both cost in µs."""

    phrases: Sequence[str]
    cost: float
    cost_of_prefix: float
    hits: int

    @property
    def saved_per_phrase(self) -> float:
        return (self.cost_of_prefix - self.cost) / len(self.phrases)


def has_prefix(text: str) -> bool:
    return _ANY_PREFIX in text


def with_words(
    connection: apsw.Connection, sql: Queries, account: Account, texts: Sequence[str]
) -> Expressions:
    """Expressions that match the same posts of the account, for one statement."""
    found = [prefix for text in texts for prefix in _PREFIX.findall(text)]
    if not found:
        return Expressions(texts, not any(map(has_prefix, texts)))
    values: dict[str, Any] = {"account_id": account.account_id}
    if not _rows(connection, sql["are_all_counted"], values)[0][0]:
        return Expressions(texts, may_repeat=False)
    prefixes = Counter(found)
    collected = _share(connection, sql, account) * _COLLECTED
    lookup = _LOOKUP * min(len(found), _MANY_PREFIXES)
    written: dict[str, _Written] = {}
    for prefix in prefixes:
        values |= {"first": prefix, "after_last": _after_all(prefix), "limit": _MOST_WORDS + 1}
        words = _rows(connection, sql["words_between"], values)
        if len(words) <= _MOST_WORDS:
            written[prefix] = _Trie(words, collected, lookup).written(prefix)
    kept = _affordable(written, prefixes)

    def replaced(found: re.Match[str]) -> str:
        prefix = found[1]
        return either(kept[prefix].phrases) if prefix in kept else found[0]

    is_known = len(written) == len(prefixes) and len(found) == _count(_ANY_PREFIX, texts)
    return Expressions(
        [_PREFIX.sub(replaced, text) for text in texts],
        is_known and _may_repeat(written, kept, prefixes),
    )


def _share(connection: apsw.Connection, sql: Queries, account: Account) -> float:
    """How many posts all accounts have, for each post of this one."""
    total: int = _rows(connection, sql["posts_of_all"], {})[0][0]
    return max(1.0, total / max(account.total, 1))


def _rows(connection: apsw.Connection, sql: str, values: Mapping[str, Any]) -> list[Any]:
    return connection.execute(sql, values).fetchall()


def _count(part: str, texts: Sequence[str]) -> int:
    return sum(text.count(part) for text in texts)


def _after_all(prefix: str) -> str:
    """A text after all words that begin with the prefix, and before all others."""
    first, after = _SURROGATES
    following = ord(prefix[-1]) + 1
    if following > sys.maxunicode:
        return prefix + _LONGEST_WORD * chr(sys.maxunicode)
    return prefix[:-1] + chr(after if following == first else following)


def _affordable(
    written: Mapping[str, _Written], occurrences: Mapping[str, int]
) -> dict[str, _Written]:
    """Those that save most per phrase, up to the maximum of phrases in the whole expression."""
    best = sorted(written.items(), key=lambda item: -item[1].saved_per_phrase)
    sizes = accumulate(len(one.phrases) * occurrences[prefix] for prefix, one in best)
    return {
        prefix: one
        for (prefix, one), size in zip(best, sizes, strict=True)
        if size <= _MOST_PHRASES and one.saved_per_phrase > 0
    }


def _may_repeat(
    written: Mapping[str, _Written], kept: Mapping[str, _Written], occurrences: Mapping[str, int]
) -> bool:
    hits = sum(one.hits * occurrences[prefix] for prefix, one in written.items())
    cost = sum(
        (one.cost if prefix in kept else one.cost_of_prefix) * occurrences[prefix]
        for prefix, one in written.items()
    )
    return _REPEATED * (cost - _HIT * hits) < _RETURNED * hits


class _Trie:
    """Words of an account in alphabetical order, with how many posts have each."""

    def __init__(
        self,
        words: Sequence[tuple[str, int]],
        collected: float,
        lookup: float,
    ) -> None:
        """`collected` and `lookup`: in µs, per hit of a prefix and per phrase."""
        self._words = [word for word, _ in words]
        self._posts = [0, *accumulate(posts for _, posts in words)]
        self._collected = collected
        self._lookup = lookup

    def written(self, prefix: str) -> _Written:
        """The cheapest way to write the prefix."""
        count = len(self._words)
        whole = self._as_prefix(0, count)
        if not count:
            return _Written([_NOTHING], 0, whole, 0)
        phrases, cost = self._cheapest(0, count, len(prefix))
        return _Written(phrases, cost, whole, self._hits(0, count))

    def _cheapest(self, first: int, end: int, length: int) -> tuple[list[str], float]:
        """For words with the same beginning of some length."""
        word = self._words[first]
        if end - first == 1:
            return [FTS5.quoted(word)], self._lookup + _HIT * self._hits(first, end)
        whole = self._as_prefix(first, end)
        prefix = [FTS5.quoted(word[:length]) + FTS5.prefix]
        # Otherwise there are at least two lookups.
        if whole <= 2 * self._lookup:
            return prefix, whole
        phrases: list[str] = []
        cost = 0.0
        for start, stop in self._groups(first, end, length):
            more, more_cost = self._cheapest(start, stop, length + 1)
            phrases += more
            cost += more_cost
        return (phrases, cost) if cost < whole else (prefix, whole)

    def _groups(self, first: int, end: int, length: int) -> Iterator[tuple[int, int]]:
        """Those that also have the next letter in common."""
        words = self._words
        while first < end:
            letter = words[first][length : length + 1]
            stop = first + 1
            while letter and stop < end and words[stop][length] == letter:
                stop += 1
            yield first, stop
            first = stop

    def _as_prefix(self, first: int, end: int) -> float:
        return self._lookup + self._collected * self._hits(first, end)

    def _hits(self, first: int, end: int) -> int:
        return self._posts[end] - self._posts[first]


def either(phrases: Sequence[str]) -> str:
    """Alternatives in groups, with an operator in between: FTS5 would join an OR of ORs."""
    while len(phrases) > _ALTERNATIVES:
        groups = [
            phrases[first : first + _ALTERNATIVES]
            for first in range(0, len(phrases), _ALTERNATIVES)
        ]
        phrases = [f"(({FTS5.any.join(group)}){FTS5.but_not}{_NOTHING})" for group in groups]
    return f"({FTS5.any.join(phrases)})"
