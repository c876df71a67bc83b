"""Reads what the library has of found posts, so that they can be compared with it."""

from collections.abc import Sequence

from bowerbird.library.imports.planning import Known, conversations
from bowerbird.model.accounts import RemovedPostsChoice
from bowerbird.model.imports import RunRow
from bowerbird.sources.found import FoundPost
from bowerbird.storage.accounts.accounts import AccountStore
from bowerbird.storage.bookmarks.deletions import DeletionStore
from bowerbird.storage.bookmarks.upsert import StoredPost, UpsertStore
from bowerbird.storage.database import Database, Reader
from bowerbird.storage.ingest.source_posts import SourcePostStore


class KnownPosts:
    def __init__(self, database: Database) -> None:
        self._store = UpsertStore(database)
        self._deletions = DeletionStore(database)
        self._sources = SourcePostStore(database)
        self._accounts = AccountStore(database)

    async def read(
        self,
        reader: Reader,
        account_id: int,
        place: int,
        found: Sequence[FoundPost],
        run: RunRow | None,
    ) -> Known:
        # Of a stored post that is replaced as a whole, only its state at the source is needed.
        own = {
            one.record.post_id: one.own.content_hash
            for one in found
            if one.replaces_stored and one.own is not None
        }
        others = [one for one in found if not one.replaces_stored]
        ids = [one.record.post_id for one in others]
        wanted = list(dict.fromkeys([*ids, *conversations(others)]))
        posts: dict[str, StoredPost] = {}
        threads: set[tuple[str, str]] = set()
        if own:
            posts |= await self._store.with_changed_content(reader, account_id, place, own)
        if others:
            posts |= await self._store.posts(reader, account_id, place, wanted)
            threads = await self._store.threads(reader, account_id, ids)
        dated = [one.record.post_id for one in found if one.captured_at is not None]
        seen = await self._sources.last_changes(reader, account_id, dated) if dated else {}
        hides_removed = False
        if any(one.is_saved for one in found):
            choice = await self._accounts.removed_posts(reader, account_id)
            hides_removed = choice is RemovedPostsChoice.HIDE
        absent = [one for one in (*own, *ids) if one not in posts]
        hidden = await self._sources.hidden(reader, account_id, absent) if absent else {}
        return Known(
            posts=posts,
            seen=seen,
            hidden=hidden,
            deletions=await self._deletions.known(reader, account_id, [*own, *ids]),
            threads=threads,
            hides_removed=hides_removed,
            started_at=None if run is None else run.started_at,
            placed=0 if run is None else run.placed_posts,
        )
