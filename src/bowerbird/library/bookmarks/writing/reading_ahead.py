"""Computes the words of posts that the next transaction deletes or restores."""

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final

from bowerbird.clock import Clock
from bowerbird.library.access import turns
from bowerbird.library.bookmarks.searching.counted_words import stored_post
from bowerbird.library.bookmarks.writing.bookmark_row import searchable_texts
from bowerbird.library.bookmarks.writing.trash_batch import KEPT
from bowerbird.library.bookmarks.writing.words_ahead import words_ahead
from bowerbird.model import json_depth
from bowerbird.model.accounts import Account
from bowerbird.model.bookmarks import Post
from bowerbird.sources import own_json
from bowerbird.storage.bookmarks.changeset import ChangesetStore
from bowerbird.storage.bookmarks.trash import TrashStore
from bowerbird.storage.bookmarks.upsert import UpsertStore
from bowerbird.storage.database import Database, place_of

# The words of shorter posts take little time within the transaction.
LONG_BYTES: Final = 64 << 10
# A turn has at least one post, however long. More than these bytes are not read for it.
_MOST_BYTES: Final = 256 << 10


class ReadingAhead:
    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock
        self._posts = ChangesetStore(database)
        self._upserts = UpsertStore(database)
        self._trash = TrashStore(database)

    async def stored(self, account: Account, post_ids: Sequence[str]) -> None:
        """For posts that are about to be deleted: the first of these that fit into a turn."""
        place = place_of(account.local_number)
        sizes = await self._posts.sizes(self._database, account.account_id, place, post_ids)
        if not _are_long(sizes):
            return
        some = _fitting(post_ids, sizes)
        found = await self._upserts.posts(self._database, account.account_id, place, some)
        await _add(stored_post, (one.rendering for one in found.values()))

    async def trashed(self, account: Account, post_ids: Sequence[str]) -> None:
        """For posts that are about to be restored: the first of these that fit into a turn."""
        sizes = await self._trash.sizes(self._database, account.account_id, post_ids)
        if not _are_long(sizes):
            return
        some = _fitting(post_ids, sizes)
        found = await self._trash.contents(account.account_id, some, self._clock() - KEPT)
        await _add(_trashed_post, found.values())


def _are_long(sizes: Mapping[str, int]) -> bool:
    return sum(sizes.values()) > LONG_BYTES


def _fitting(post_ids: Sequence[str], sizes: dict[str, int]) -> list[str]:
    known = [one for one in post_ids if one in sizes]
    return known[: turns.fitting((sizes[one] for one in known), most_bytes=_MOST_BYTES)]


async def _add(read: Callable[[bytes], Post | None], contents: Iterable[bytes]) -> None:
    if found := list(contents):
        await asyncio.to_thread(_add_all, read, found)


def _add_all(read: Callable[[bytes], Post | None], contents: Sequence[bytes]) -> None:
    for one in contents:
        if (post := read(one)) is not None:
            words_ahead.add(*searchable_texts(post))


def _trashed_post(bookmark: bytes) -> Post:
    return own_json.read(json_depth.cut(bookmark), is_stored=True).incoming.record
