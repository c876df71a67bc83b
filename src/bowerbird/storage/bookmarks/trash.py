"""Stores deleted bookmarks until they can no longer be restored.

Also remembers which posts their owner deleted, so that an import does not bring them back.
"""

from collections.abc import Sequence
from typing import Final, NamedTuple

import msgspec

from bowerbird.model.arrival import Deletion
from bowerbird.storage.database import Readable, Store
from bowerbird.storage.libraries import LockedLibrary

_QUICKLY: Final = 1_000


class Trashed(NamedTuple):
    post_id: str
    # As JSON.
    bookmark: bytes
    trashed_at: int


class TrashStore(Store):
    resource = "trash"

    async def put(self, library: LockedLibrary, trashed: Sequence[Trashed]) -> None:
        await self._do_many(library, "put", [one._asdict() for one in trashed])

    async def take(
        self, library: LockedLibrary, post_ids: Sequence[str], oldest: int
    ) -> list[Trashed]:
        """Moves bookmarks out of the trash, except those that were deleted before `oldest`."""
        taken = await self.within(library, post_ids, oldest)
        await self.remove(library, [one.post_id for one in taken])
        return taken

    async def within(
        self, library: Readable, post_ids: Sequence[str], oldest: int
    ) -> list[Trashed]:
        """The bookmarks, among the given posts, that can still be restored."""
        values = {"post_ids": post_ids, "oldest": oldest}
        return [Trashed(*row) for row in await self._of(library, "contents", **values)]

    async def sizes(self, library: LockedLibrary, post_ids: Sequence[str]) -> dict[str, int]:
        """The stored size in bytes of each given post that is in the trash."""
        return {row[0]: row[1] for row in await self._of(library, "sizes", post_ids=post_ids)}

    async def post_ids(self, account_id: int, oldest: int) -> list[str]:
        """The posts that can still be restored, the oldest first."""
        rows = await self._read_slowly("post_ids", account_id=account_id, oldest=oldest)
        return [row[0] for row in rows]

    async def page(
        self, account_id: int, oldest: int, before: tuple[int, str], limit: int
    ) -> list[Trashed]:
        """The latest bookmarks before a time and a post, the latest first."""
        trashed_at, post_id = before
        values = {
            "account_id": account_id,
            "oldest": oldest,
            "trashed_at": trashed_at,
            "post_id": post_id,
            "limit": limit,
        }
        return [Trashed(*row) for row in await self._read_slowly("page", **values)]

    async def count(self, account_id: int, oldest: int, limit: int) -> int:
        values = {"account_id": account_id, "oldest": oldest, "limit": limit}
        # Counting a large trash takes milliseconds.
        read = self._database.rows if limit <= _QUICKLY else self._database.slow_rows
        return int((await read(self._sql["count"], values))[0][0])

    async def remove(self, library: LockedLibrary, post_ids: Sequence[str]) -> None:
        await self._do_many(library, "remove", [{"post_id": post_id} for post_id in post_ids])

    async def contents(
        self, account_id: int, post_ids: Sequence[str], oldest: int
    ) -> dict[str, bytes]:
        """Deleted bookmarks that can still be restored, by the ids of their posts."""
        values = {"account_id": account_id, "post_ids": post_ids, "oldest": oldest}
        return {row[0]: row[1] for row in await self._read("contents", **values)}

    async def empty(self, library: LockedLibrary, *, before: int, most: int) -> list[str]:
        """Returns the posts that were removed."""
        return [row[0] for row in await self._of(library, "empty", before=before, most=most)]


class DeletionStore(Store):
    resource = "deletions"

    async def known(self, library: Readable, post_ids: Sequence[str]) -> dict[str, Deletion]:
        values = {"post_ids": post_ids}
        return {row[0]: Deletion(*row) for row in await self._of(library, "known", **values)}

    async def put(self, library: LockedLibrary, deletions: Sequence[Deletion], most: int) -> None:
        """Remembers these deletions, and forgets the oldest beyond the maximum."""
        if not deletions:
            return
        await self._do_many(library, "put", map(msgspec.structs.asdict, deletions))
        await self._do(library, "forget_oldest", limit=most)

    async def remove(self, library: LockedLibrary, post_ids: Sequence[str]) -> None:
        await self._do_many(library, "remove", [{"post_id": post_id} for post_id in post_ids])
