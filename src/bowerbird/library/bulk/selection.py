"""Which posts a change of many posts is for. They are read once, before it starts."""

import asyncio
from collections.abc import Sequence
from typing import Final

import msgspec
from msgspec import Struct

from bowerbird.clock import Clock
from bowerbird.errors import Code, Refusal
from bowerbird.library.access import plans
from bowerbird.library.access.time_zones import TimeZones
from bowerbird.library.access.turns import lock_library
from bowerbird.library.bookmarks.bookmarks import is_post_id
from bowerbird.library.bookmarks.searching.label_words import LabelWords
from bowerbird.library.bookmarks.searching.ranking import Rankings
from bowerbird.library.bookmarks.trash_search import TrashSearch
from bowerbird.library.bookmarks.writing.trash_batch import KEPT
from bowerbird.library.bulk.changes import packed_parts
from bowerbird.library.vectors.semantic_search import SemanticSearch
from bowerbird.library.views.views import Views
from bowerbird.model.accounts import Account
from bowerbird.model.bookmarks import Bookmark
from bowerbird.model.filters import BookmarkFilter
from bowerbird.requests import limits
from bowerbird.requests.bulk import BulkRequest, ChangeFilters, given
from bowerbird.requests.fields import gates_for
from bowerbird.requests.filters import check_order, filter_of, sent
from bowerbird.storage.bookmarks.bookmarks import BookmarkStore
from bowerbird.storage.bookmarks.trash import TrashStore
from bowerbird.storage.database import Database, Transaction
from bowerbird.storage.libraries import LibraryStore

_EVERYTHING: Final = BookmarkFilter(unread_only=False, hide_archived=False)
_EXAMPLES: Final = 5
_TEXT_CHARACTERS: Final = 140
_bookmarks: Final = msgspec.json.Decoder(list[Bookmark]).decode


class Example(Struct, frozen=True):
    """One of the bookmarks that a change would change."""

    post_id: str = msgspec.field(name="tweet_id")
    """Identifier of the saved post: digits, as text."""
    author_username: str
    text: str
    """The beginning of the text."""


class Chosen(Struct, frozen=True):
    """The posts of a change, some per text as they are stored, and the first of them."""

    parts: Sequence[bytes]
    count: int
    first: Sequence[str]
    # Of the library, before the posts were read.
    version: int | None
    # Ids of the request that are not where the action looks for them, in its order.
    not_found: Sequence[str] = ()


class BulkSelection:
    def __init__(
        self,
        database: Database,
        clock: Clock,
        views: Views,
        meaning: SemanticSearch,
    ) -> None:
        self._database = database
        self._libraries = LibraryStore(database)
        self._store = BookmarkStore(database)
        self._trash = TrashStore(database)
        self._search = TrashSearch(database, clock)
        self._labels = LabelWords(database)
        self._zones = TimeZones(database)
        self._rankings = Rankings(database, meaning)
        self._meaning = meaning
        self._views = views
        self._clock = clock

    async def choose(self, account: Account, request: BulkRequest) -> Chosen:
        """Reads the posts that match now. Posts that are saved later are not among them."""
        if request.label_name is not None:
            plans.check_writes(account)
        version = await self._libraries.version(self._database, account.account_id)
        if version is not None:
            # Of what is kept in memory, only the present may count.
            account = msgspec.structs.replace(account, version=version)
        post_ids = await self._post_ids(account, request)
        if len(post_ids) > limits.CHANGE_POSTS_MAX:
            raise Refusal(
                Code.INVALID_REQUEST,
                f"One change can have {limits.CHANGE_POSTS_MAX:,} posts, and "
                f"{len(post_ids):,} match. Narrow the filters.",
            )
        expected = request.expected_count
        if expected is not None and len(post_ids) != expected:
            raise Refusal(
                Code.COUNT_MISMATCH,
                f"expected_count is {expected:,}, but {len(post_ids):,} posts match. Nothing "
                "was changed.",
            )
        parts = await asyncio.to_thread(packed_parts, post_ids)
        found = frozenset(post_ids) if request.post_ids else frozenset()
        not_found = [one for one in request.post_ids or () if one not in found]
        return Chosen(parts, len(post_ids), post_ids[:_EXAMPLES], version, not_found)

    async def is_current(self, transaction: Transaction, account: Account, chosen: Chosen) -> bool:
        """Whether nobody has changed the library since the posts were read. Locks it."""
        library = await lock_library(self._libraries, transaction, account.account_id)
        return library.version == chosen.version

    async def examples(
        self, account: Account, request: BulkRequest, chosen: Chosen
    ) -> list[Example]:
        """Some of the bookmarks, for people who decide whether to go on."""
        if request.action == "restore":
            oldest = self._clock() - KEPT
            found = await self._trash.contents(account.account_id, chosen.first, oldest)
            body = b",".join(found[one] for one in chosen.first if one in found)
        else:
            only = msgspec.structs.replace(_EVERYTHING, post_ids=tuple(chosen.first))
            numbers = await self._store.numbers(account, only, None)
            body, _ = await self._store.contents(account, list(numbers))
        return [
            Example(one.post_id, one.author_username, one.tweet_details.text[:_TEXT_CHARACTERS])
            for one in _bookmarks(b"[" + body + b"]")
        ]

    async def _post_ids(self, account: Account, request: BulkRequest) -> Sequence[str]:
        named = request.post_ids
        if request.action == "restore":
            filters = request.filters
            if filters is not None:
                plans.check_fields(account, gates_for(ChangeFilters, dict.fromkeys(given(filters))))
                if (narrow := await self._search.filter(account, filters)) is not None:
                    found = await self._search.found(account, narrow)
                    return [one.post_id for one in reversed(found)]
            in_trash = await self._trash.post_ids(account.account_id, self._clock() - KEPT)
            wanted = None if named is None else frozenset(named)
            return [one for one in in_trash if wanted is None or one in wanted]
        if named is not None:
            ids = tuple(one for one in named if is_post_id(one))
            only = msgspec.structs.replace(_EVERYTHING, post_ids=ids)
            return await self._store.post_ids(account, only) if ids else []
        filter = await self._filter(account, request)
        return await self._matching(account, await self._labels.resolved(account, filter))

    async def _filter(self, account: Account, request: BulkRequest) -> BookmarkFilter:
        if request.view is not None:
            return await self._views.filter(account, request.view, request.bucket)
        assert request.filters is not None
        plans.check_fields(account, gates_for(ChangeFilters, sent(request.filters)))
        zone = await self._zones.of(account, request.filters)
        filter = filter_of(request.filters, self._clock(), zone)
        check_order(filter)
        return filter

    async def _matching(self, account: Account, filter: BookmarkFilter) -> Sequence[str]:
        if filter.meaning is not None:
            store = await self._meaning.require(account)
            numbers = await self._rankings.numbers(account, filter, None, store)
            return await self._store.post_ids(account, filter, list(numbers))
        if filter.words is not None and filter.words.is_empty:
            return []
        return await self._store.post_ids(account, filter)
