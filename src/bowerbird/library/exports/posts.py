"""The posts that an export contains."""

from collections.abc import Sequence

import msgspec

from bowerbird.library.access.time_zones import TimeZones
from bowerbird.library.bookmarks.searching.label_words import LabelWords
from bowerbird.library.bookmarks.searching.ranking import Rankings
from bowerbird.library.exports import selection
from bowerbird.library.vectors.semantic_search import SemanticSearch
from bowerbird.model.accounts import Account
from bowerbird.model.jobs import ExportQuery
from bowerbird.storage.bookmarks.bookmarks import BookmarkStore
from bowerbird.storage.database import Database


class ExportPosts:
    def __init__(self, database: Database, meaning: SemanticSearch) -> None:
        self._meaning = meaning
        self._rankings = Rankings(database, meaning)
        self._bookmarks = BookmarkStore(database)
        self._zones = TimeZones(database)
        self._labels = LabelWords(database)

    async def numbers(self, account: Account, query: ExportQuery) -> Sequence[int]:
        """In the order they were saved, or the nearest first in a search by meaning."""
        filter = await selection.filter_for(self._zones, account, query.given)
        filter = await self._labels.resolved(account, filter)
        if filter.meaning is not None:
            chosen = None if query.post_ids is None else tuple(query.post_ids)
            narrowed = msgspec.structs.replace(filter, post_ids=chosen)
            store = await self._meaning.require(account)
            return await self._rankings.numbers(account, narrowed, None, store)
        if filter.words is not None and filter.words.is_empty:
            return ()
        return await self._bookmarks.numbers(account, filter, query.post_ids)
