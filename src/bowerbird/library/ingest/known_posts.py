"""Finds out which posts of a page the library has, and whether it has the rest of the list.

Version 2 of X's API gives no indexes, only the order of the list.
"""

from collections.abc import Sequence
from itertools import pairwise

import msgspec

from bowerbird.library.ingest.page_reading import ReadPage
from bowerbird.model.accounts import Account
from bowerbird.model.ingest import IngestRun
from bowerbird.storage.bookmarks.deletions import DeletionStore
from bowerbird.storage.bookmarks.upsert import UpsertStore
from bowerbird.storage.database import Database
from bowerbird.storage.ingest.runs import IngestRunStore
from bowerbird.storage.ingest.source_posts import SourcePostStore


async def of_known_posts(bookmarks: UpsertStore, account: Account, read: ReadPage) -> ReadPage:
    """Posts that are not shown any more are marked if the library has them.

    The page of a post also has answers to it, which nobody saved.
    """
    searched = read.marks if read.lists_saved_posts else (*read.posts, *read.marks)
    ids = [one.record.post_id for one in searched]
    known = await bookmarks.stored(account, ids) if ids else {}
    marks = tuple(one for one in read.marks if one.record.post_id in known)
    if read.lists_saved_posts:
        return msgspec.structs.replace(read, marks=marks)
    posts = tuple(one for one in read.posts if one.record.post_id in known)
    return msgspec.structs.replace(read, posts=posts, marks=marks, left_out=())


class KnownParts:
    def __init__(self, database: Database) -> None:
        self._database = database
        self._runs = IngestRunStore(database)
        self._posts = SourcePostStore(database)
        self._bookmarks = UpsertStore(database)
        self._deletions = DeletionStore(database)

    async def is_known(self, account: Account, run: IngestRun, post_ids: Sequence[str]) -> bool:
        """Whether the last complete run, or one before it, saw these posts in this order.

        Below them, the list is as it was. Posts that were saved again come in another order.
        """
        account_id = account.account_id
        complete = await self._runs.last_complete(self._database, account_id, run.user)
        if complete is None or not post_ids:
            return False
        seen = await self._posts.seen_runs(account_id, run.user, post_ids)
        if not all(seen.get(post_id) for post_id in post_ids):
            return False
        # Runs that started later are not complete, and may have left a gap.
        if await self._runs.started_after(account_id, complete, set(seen.values())):
            return False
        stored = await self._bookmarks.stored(account, post_ids)
        missing = [post_id for post_id in post_ids if post_id not in stored]
        # Posts that their owner has deleted stay in the list, on every page of it perhaps.
        deleted = await self._deletions.known(self._database, account_id, missing)
        if len(deleted) < len(missing):
            return False
        indexes = [stored[post_id].sort_index for post_id in post_ids if post_id in stored]
        return all(upper > lower for upper, lower in pairwise(indexes))
