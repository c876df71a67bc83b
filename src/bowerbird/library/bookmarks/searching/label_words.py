"""Finds the labels whose names contain a term of a query. So renaming a label indexes nothing.

Also the label that a star adds, for is:starred, the post that an address leads to, and the
abbreviations that the library has learnt.
"""

import asyncio
import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from heapq import nsmallest
from itertools import chain
from typing import Final

import msgspec
from msgspec import Struct

from bowerbird.lru import LruCache
from bowerbird.model.accounts import Account
from bowerbird.model.labels import name_key
from bowerbird.model.posts.filters import BookmarkFilter
from bowerbird.model.words import (
    GAP,
    STARRED,
    Condition,
    Either,
    Field,
    Form,
    Part,
    Term,
    WordQuery,
    normalized,
    with_terms,
)
from bowerbird.search.queries import abbreviated
from bowerbird.search.words.tokens import index_text
from bowerbird.sources.post_links import parse_listed
from bowerbird.storage.database import Database, Row
from bowerbird.storage.stores import Service
from bowerbird.storage.words.word_counts import Abbreviations

_KEPT_ACCOUNTS: Final = 256
# The database looks up the posts of each label. Shorter names tell more about their posts.
LABELS_PER_TERM: Final = 200
LABELS_PER_QUERY: Final = 1_000
# More names are read on a thread.
_FEW: Final = 100
# A hashtag is one word.
_LEFT_OUT: Final = re.compile(r"[\s_#-]+")


class _Names(Struct, frozen=True):
    """The tokens of an account's labels, and the labels that have a token."""

    tokens: Mapping[int, Sequence[str]]
    label_ids: Mapping[str, Sequence[int]]
    # By their names as a hashtag writes them: those of #toread.
    hashtags: Mapping[str, Sequence[int]]
    # In alphabetical order, to find those that begin with a prefix.
    ordered: Sequence[str]
    # Labels with shorter names come first.
    places: Mapping[int, int]


class _Kept(Struct, frozen=True):
    """The names that an account had at some version."""

    version: tuple[int, int]
    rows: Sequence[Row]
    names: _Names


class LabelWords(Service):
    def __init__(self, database: Database) -> None:
        super().__init__(database)
        self._abbreviations = Abbreviations(database)
        # By account.
        self._kept = LruCache(_KEPT_ACCOUNTS)

    async def resolved(
        self, account: Account, filter: BookmarkFilter, *, is_of_rule: bool = False
    ) -> BookmarkFilter:
        """The filter with the labels that its words match, and with learnt abbreviations.

        Not those for a rule: the post of a stranger would change what it does.
        """
        words = filter.words
        if words is not None and any(map(_is_starred, words.conditions)):
            reading = await self._stores.accounts.reading(self._library(account.account_id))
            label = Condition(Field.LABEL, name_key(reading.favourite))
            words = msgspec.structs.replace(words, parts=_with_star(words.parts, label))
            filter = msgspec.structs.replace(filter, words=words)
        if words is None or not words.has_terms:
            return filter
        if any(term.address for term in _terms(words.parts)):
            words = msgspec.structs.replace(words, parts=with_terms(words.parts, _with_post))
            filter = msgspec.structs.replace(filter, words=words)
        if not is_of_rule and (phrases := abbreviated.phrases(words)):
            keys = list(dict.fromkeys(chain.from_iterable(keys for _, keys in phrases)))
            learnt = await self._abbreviations.of(self._database, account.account_id, keys)
            words = abbreviated.expanded(words, phrases, learnt)
            filter = msgspec.structs.replace(filter, words=words)
        names = await self._names(account)
        if not names.tokens:
            return filter
        if len(names.tokens) <= _FEW:
            parts = _with_labels(words, names)
        else:
            parts = await asyncio.to_thread(_with_labels, words, names)
        words = msgspec.structs.replace(words, parts=parts)
        return msgspec.structs.replace(filter, words=words)

    async def _names(self, account: Account) -> _Names:
        version = (account.epoch, account.version)
        kept: _Kept | None = self._kept.get(account.account_id)
        if kept is not None and kept.version == version:
            return kept.names
        rows = [tuple(row) for row in await self._stores.labels.names(account.account_id)]
        # Most changes of a library change no label.
        if kept is not None and kept.rows == rows:
            names = kept.names
        elif len(rows) <= _FEW:
            names = _names(rows)
        else:
            names = await asyncio.to_thread(_names, rows)
        self._kept.put(account.account_id, _Kept(version, rows, names))
        return names


def _terms(parts: Sequence[Part]) -> Iterator[Term]:
    for part in parts:
        if isinstance(part, Term):
            yield part
        elif isinstance(part, Either):
            yield from chain.from_iterable(map(_terms, part.branches))


def _with_post(term: Term) -> Term:
    link = parse_listed(term.address) if term.address else None
    return term if link is None else msgspec.structs.replace(term, post_id=link.post_id)


def _is_starred(part: Part) -> bool:
    return isinstance(part, Condition) and (part.field, part.value) == (Field.IS, STARRED)


def _with_star(parts: tuple[Part, ...], label: Condition) -> tuple[Part, ...]:
    """The parts with this label instead of is:starred."""
    found: list[Part] = []
    for part in parts:
        if isinstance(part, Either):
            branches = tuple(_with_star(branch, label) for branch in part.branches)
            found.append(Either(branches, part.is_excluded))
        elif _is_starred(part):
            found.append(msgspec.structs.replace(label, is_excluded=part.is_excluded))
        else:
            found.append(part)
    return tuple(found)


def _names(rows: Sequence[Row]) -> _Names:
    tokens = {label_id: _tokens(name) for label_id, name in rows}
    label_ids: defaultdict[str, list[int]] = defaultdict(list)
    for label_id, words in tokens.items():
        for word in dict.fromkeys(words):
            label_ids[word].append(label_id)
    by_length = sorted(rows, key=lambda row: (len(row[1]), row[1]))
    places = {label_id: place for place, (label_id, _) in enumerate(by_length)}
    hashtags: defaultdict[str, list[int]] = defaultdict(list)
    for label_id, name in rows:
        hashtags[hashtag_of(name)].append(label_id)
    return _Names(tokens, label_ids, hashtags, sorted(label_ids), places)


def hashtag_of(name: str) -> str:
    """A label as a hashtag writes it."""
    return "#" + _LEFT_OUT.sub("", normalized("NFKC", name_key(name)))


def _tokens(name: str) -> tuple[str, ...]:
    return tuple(index_text([name]).split())


def _with_labels(words: WordQuery, names: _Names) -> tuple[Part, ...]:
    most = min(LABELS_PER_TERM, LABELS_PER_QUERY // max(_count_terms(words.parts), 1))
    return with_terms(words.parts, lambda term: _labelled(term, names, most))


def _count_terms(parts: Sequence[Part]) -> int:
    inner = [branch for part in parts if isinstance(part, Either) for branch in part.branches]
    return sum(isinstance(part, Term) for part in parts) + sum(map(_count_terms, inner))


def _labelled(term: Term, names: _Names, most: int) -> Term:
    forms: list[Term | Form] = [term, *term.forms]
    found: set[int] = set()
    for form in forms:
        found.update(*_matching(form, names))
    kept = found if len(found) <= most else nsmallest(most, found, key=names.places.__getitem__)
    return msgspec.structs.replace(term, label_ids=tuple(sorted(kept)))


def _matching(form: Term | Form, names: _Names) -> Iterator[Iterable[int]]:
    """The labels whose names match a form."""
    first = form.tokens[0]
    if first.startswith(GAP) and not form.is_prefix:
        yield names.hashtags.get(hashtag_of(first), ())
    elif len(form.tokens) > 1:
        with_first = names.label_ids.get(first, ())
        yield [label_id for label_id in with_first if _is_in(form, names.tokens[label_id])]
    elif form.is_prefix:
        for place in range(bisect_left(names.ordered, first), len(names.ordered)):
            if not names.ordered[place].startswith(first):
                break
            yield names.label_ids[names.ordered[place]]
    else:
        yield names.label_ids.get(first, ())


def _is_in(form: Term | Form, words: Sequence[str]) -> bool:
    """Whether a text with these tokens matches the form."""
    if isinstance(form, Form) and not form.is_phrase:
        return set(form.tokens) <= set(words)
    length = len(form.tokens)
    *start, last = form.tokens
    for first in range(len(words) - length + 1):
        run = words[first : first + length]
        is_last = run[-1].startswith(last) if form.is_prefix else run[-1] == last
        if is_last and list(run[:-1]) == start:
            return True
    return False
