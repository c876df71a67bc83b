"""Counts the bookmarks that match a filter, by one of their properties.

Also finds the authors of saved posts by the start of their handle or name.
"""

from collections.abc import Sequence
from typing import Any, Final

from bowerbird.model.accounts import Account
from bowerbird.model.posts import media, networks
from bowerbird.model.posts.filters import BookmarkFilter
from bowerbird.storage.bookmarks.filters import FRAGMENTS, narrowing
from bowerbird.storage.database import Database, Row, Store, place_values

_MEDIA: Final = ", ".join(
    f"count(*) FILTER (WHERE b.media & {bit} <> 0)" for bit in media.BITS.values()
)


class FacetStore(Store):
    resource = "facets"

    def __init__(self, database: Database) -> None:
        super().__init__(database)
        self._filters = database.queries("bookmarks")

    async def authors(self, account: Account, filter: BookmarkFilter, limit: int) -> Sequence[Row]:
        """(number of one of the posts, posts, authors), the most saved first."""
        return await self._matching("by_author", account, filter, limit=limit)

    async def labels(self, account: Account, filter: BookmarkFilter, limit: int) -> Sequence[Row]:
        """(name, posts, labels), the most used first."""
        return await self._matching("by_label", account, filter, limit=limit)

    async def languages(self, account: Account, filter: BookmarkFilter) -> Sequence[Row]:
        """(code, posts), the most saved first."""
        return await self._matching("by_language", account, filter)

    async def quarters(self, account: Account, filter: BookmarkFilter) -> Sequence[Row]:
        """(quarters of an hour since 1970, posts that were bookmarked then)."""
        return await self._matching("by_quarter", account, filter)

    async def media(self, account: Account, filter: BookmarkFilter) -> dict[str, int]:
        """The posts with each type of media."""
        [row] = await self._matching("by_media", account, filter)
        return dict(zip(media.BITS, row, strict=True))

    async def networks(self, account: Account, filter: BookmarkFilter) -> dict[str, int]:
        """The posts of each network; those of unknown ones under ""."""
        rows = await self._matching("by_network", account, filter)
        return {networks.of_bits(bits): count for bits, count in rows}

    async def renderings(self, account: Account, numbers: Sequence[int]) -> dict[int, bytes]:
        """The stored JSON of these posts by number."""
        values = {"numbers": numbers, **place_values(account)}
        rows = await self._database.lists(account).slow_rows(self._sql["numbered"], values)
        return {row[0]: row[1] for row in rows}

    async def _matching(
        self, name: str, account: Account, filter: BookmarkFilter, **more: Any
    ) -> Sequence[Row]:
        fragments, values = narrowing(self._database, account, filter)
        conditions = [FRAGMENTS.get(f) or self._filters.get(f"filter_{f}", f) for f in fragments]
        matching = " AND ".join(conditions) or "TRUE"
        sql = self._sql[name].format(filters=matching, media=_MEDIA, networks=networks.BITS)
        return await self._database.lists(account).slow_rows(sql, {**values, **more})


# After every text that starts with the one before it.
_LAST: Final = "\U0010ffff"


class AuthorStore:
    def __init__(self, database: Database) -> None:
        self._database = database
        sql = database.queries("authors")
        latest = {name: sql[name] for name in ("of_handle", "of_name")}
        self._sql = {name: sql[name].format(**latest) for name in ("by_handle", "by_name")}

    async def by_handle(self, account_id: int, start: str, limit: int) -> Sequence[Row]:
        """(folded handle, number of a late post) of the first authors in order of their handles."""
        return await self._starting("by_handle", account_id, start, limit)

    async def by_name(self, account_id: int, start: str, limit: int) -> Sequence[Row]:
        """(folded name, number of a late post) of the first authors in order of their names."""
        return await self._starting("by_name", account_id, start, limit)

    async def _starting(
        self, statement: str, account_id: int, start: str, limit: int
    ) -> Sequence[Row]:
        values = {"account_id": account_id, "first": start, "end": start + _LAST, "limit": limit}
        return await self._database.slow_rows(self._sql[statement], values)
