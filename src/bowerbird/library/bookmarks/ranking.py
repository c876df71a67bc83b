"""Ranked lists: the best thousand by words, by meaning, or by both."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

import msgspec

from bowerbird.library.vectors.semantic_search import SemanticSearch
from bowerbird.lru import LruCache
from bowerbird.model.accounts import Account
from bowerbird.model.filters import BookmarkFilter, Sort
from bowerbird.model.vectors import VectorStoreState
from bowerbird.model.words import WordQuery
from bowerbird.requests.limits import RANKED_MAX
from bowerbird.search.fusion import fuse
from bowerbird.storage.bookmarks.bookmarks import BookmarkStore
from bowerbird.storage.database import Database

if TYPE_CHECKING:
    from bowerbird.search.vectors import Numbers

_REMEMBERED: Final = 256
_NO_MODEL: Final = b""


class Rankings:
    def __init__(self, database: Database, meaning: SemanticSearch) -> None:
        self._store = BookmarkStore(database)
        self._meaning = meaning
        # (account, epoch, version, filter, vectors) -> numbers, so that a list is ranked once.
        self._remembered = LruCache(_REMEMBERED)

    async def numbers(
        self,
        account: Account,
        filter: BookmarkFilter,
        sort: Sort | None,
        store: VectorStoreState | None,
    ) -> Sequence[int]:
        """The numbers of the best bookmarks, best first or ordered by `sort`.

        `store` holds the vectors that a search by meaning reads.
        """
        vectors = store and (store.model, store.generation)
        key = (account.account_id, account.epoch, account.version, filter, sort, vectors)
        found: Sequence[int] | None = self._remembered.get(key)
        if found is None:
            found = await self._rank(account, filter, store)
            if sort is not None and found:
                found = await self._store.in_order(account, found, sort)
            self._remembered.put(key, found)
        return found

    async def similar(
        self,
        account: Account,
        filter: BookmarkFilter,
        number: int,
        limit: int,
        store: VectorStoreState | None,
    ) -> Sequence[int]:
        """The numbers of the bookmarks nearest to one, except that one."""
        if store is None or not store.dimensions:
            return []
        rows = await self._meaning.rows_of(account, store, number)
        if rows is None:
            return []
        matching = await self._matching(account, filter)
        near = await self._meaning.nearest(account, store, rows, matching, limit + 1)
        return [other for other in near if other != number][:limit]

    async def total(
        self, account: Account, filter: BookmarkFilter, store: VectorStoreState | None
    ) -> int:
        """The length of a list by meaning. This needs no model."""
        model = _NO_MODEL if store is None else store.model
        return await self._store.count_embedded(account, filter, model, RANKED_MAX)

    async def _rank(
        self, account: Account, filter: BookmarkFilter, store: VectorStoreState | None
    ) -> Sequence[int]:
        if filter.meaning is None:
            return await self._by_words(account, filter)
        by_meaning = await self._by_meaning(account, filter, store)
        if not _wants(filter.words):
            return by_meaning
        by_words = await self._by_words(account, msgspec.structs.replace(filter, meaning=None))
        return fuse(by_meaning, by_words, RANKED_MAX)

    async def _by_words(self, account: Account, filter: BookmarkFilter) -> Sequence[int]:
        words = filter.words
        if words is None or words.is_empty:
            return ()
        # Exclusions and prefixes only filter; they do not rank.
        if not words.ranking_tokens:
            return await self._store.newest(account, filter, RANKED_MAX)
        return await self._store.ranked(account, filter, RANKED_MAX)

    async def _by_meaning(
        self, account: Account, filter: BookmarkFilter, store: VectorStoreState | None
    ) -> Sequence[int]:
        assert filter.meaning is not None
        # A store without dimensions means that no post contains any text.
        if store is None or not store.dimensions:
            return ()
        # Excluded words and fields also limit results by meaning; the other words only rank.
        limits = filter.words and filter.words.limits
        narrowed = msgspec.structs.replace(filter, meaning=None, words=limits)
        matching = await self._matching(account, narrowed)
        if not len(matching):
            return ()
        question = await self._meaning.question(store, filter.meaning)
        return await self._meaning.nearest(account, store, question, matching, RANKED_MAX)

    async def _matching(self, account: Account, filter: BookmarkFilter) -> "Numbers":
        """The numbers of the bookmarks that match the filter."""
        key = (account.account_id, account.epoch, account.version, filter)
        numbers = self._meaning.cached_numbers(key)
        if numbers is None:
            numbers = await self._meaning.cache_numbers(
                key, await self._store.number_text(account, filter)
            )
        return numbers


def _wants(words: WordQuery | None) -> bool:
    return words is not None and words.wishes is not None
