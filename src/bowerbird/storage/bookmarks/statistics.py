"""Counts the posts of an account, also those that match a filter, by one of their properties.

Also finds posts with the same text, links or pictures. Every read is of one account and along one
of its indexes.
"""

from collections.abc import Sequence
from typing import Any, Final, Literal, NamedTuple

import msgspec
from msgspec import Struct

from bowerbird.model import json_depth
from bowerbird.model.accounts import Account
from bowerbird.model.digests import AuthorCount, LabelCount
from bowerbird.model.instants import Span
from bowerbird.model.posts import media, networks
from bowerbird.model.posts.filters import BookmarkFilter
from bowerbird.storage.bookmarks.filters import FRAGMENTS, narrowing
from bowerbird.storage.database import Database, Readable, Row, Running, Store, place_values


class ShiftedSpan(Span, frozen=True):
    """A time in which the clocks did not change. `shift` is added to an instant to get local time.

    It also makes the hours of the week start on Monday.
    """

    shift: int


class StatisticsStore(Store):
    resource = "statistics"

    async def first_saved(self, account: Account, start: int) -> int | None:
        """When the first post since `start` was saved."""
        rows = await self._of_account(account, "first_saved", start=start)
        return rows[0][0] if rows else None

    async def hours(self, account: Account, spans: Sequence[ShiftedSpan]) -> Sequence[Row]:
        """(position of the span, hour of the week, posts, read posts)."""
        return await self._of_account(
            account,
            "by_hour",
            starts=[span.start for span in spans],
            ends=[span.end for span in spans],
            shifts=[span.shift for span in spans],
        )

    async def authors(
        self, account: Account, span: Span, limit: int
    ) -> tuple[list[AuthorCount], int]:
        """The most saved first; and how many authors."""
        counted = await self._of_account(
            account, "by_author", start=span.start, end=span.end, limit=limit
        )
        numbers = [row[0] for row in counted]
        found = await self._read_slowly("numbered", numbers=numbers, **place_values(account))
        renderings = dict(map(tuple, found))
        named = [_named(renderings[row[0]], row[1]) for row in counted if row[0] in renderings]
        return named, counted[0][2] if counted else 0

    async def labels(self, account: Account, span: Span, limit: int) -> list[LabelCount]:
        """The most used first."""
        values = {"start": span.start, "end": span.end, "limit": limit}
        return [LabelCount(*row) for row in await self._of_account(account, "by_label", **values)]

    async def labelled(self, account: Account, span: Span) -> int:
        """The number of posts that have a label."""
        rows = await self._of_account(account, "labelled", start=span.start, end=span.end)
        return int(rows[0][0])

    async def newest(
        self, account: Account, start: int, before: tuple[int, int], limit: int
    ) -> Sequence[Row]:
        """(instant, number, stored post) before a place in the order, the newest first."""
        values = {"start": start, "before": before[0], "before_number": before[1], "limit": limit}
        return await self._read_slowly("newest", **values, **place_values(account))

    def _of_account(self, account: Account, name: str, **values: Any) -> Running[Sequence[Row]]:
        return self._read_slowly(name, account_id=account.account_id, **values)


class _Name(Struct, frozen=True):
    name: str = ""


class _Author(Struct, frozen=True):
    author_username: str = ""
    author_details: _Name = _Name()


_author: Final = msgspec.json.Decoder(_Author).decode


def _named(rendering: bytes, count: int) -> AuthorCount:
    author = _author(json_depth.cut(rendering + b"}"))
    return AuthorCount(author.author_username, author.author_details.name, count)


_ANY_SIZE: Final = 1 << 40
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

    async def renderings(
        self, account: Account, numbers: Sequence[int], most_bytes: int = _ANY_SIZE
    ) -> dict[int, bytes]:
        """The stored JSON of these posts by number, without larger ones."""
        values = {"numbers": numbers, "most_bytes": most_bytes, **place_values(account)}
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


class AuthorStore(Store):
    resource = "authors"

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
        return await self._read_slowly(statement, **values)


Same = Literal["link", "text", "picture"]


class GroupedPost(NamedTuple):
    print: int
    number: int
    post_id: str
    link_print: int | None
    text_print: int | None


class Prints(NamedTuple):
    text: int | None
    link: int | None
    picture: int | None


class DuplicateStore(Store):
    resource = "duplicates"

    async def groups(
        self, account_id: int, same: Same, after: int, limit: int
    ) -> Sequence[tuple[int, int]]:
        """The next groups by their print, each with the number of its posts."""
        values = {"account_id": account_id, "after": after, "limit": limit}
        sql = self._sql["groups"].format(same=same)
        return [(print, count) for print, count in await self._database.slow_rows(sql, values)]

    async def posts(
        self, account_id: int, same: Same, prints: Sequence[int], most: int
    ) -> list[GroupedPost]:
        """The first posts of each of these groups."""
        values = {"account_id": account_id, "prints": prints, "most": most}
        sql = self._sql["posts"].format(same=same)
        return [GroupedPost(*row) for row in await self._database.slow_rows(sql, values)]

    async def prints(self, library: Readable, post_ids: Sequence[str]) -> dict[str, Prints]:
        rows = await self._of(library, "prints", post_ids=post_ids)
        return {post_id: Prints(*prints) for post_id, *prints in rows}
