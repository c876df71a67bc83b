"""Counts the posts of an account. Every read is of one account and along one of its indexes."""

from collections.abc import Sequence
from typing import Any, Final

import msgspec
from msgspec import Struct

from bowerbird.model import json_depth
from bowerbird.model.accounts import Account
from bowerbird.model.digests import AuthorCount, LabelCount
from bowerbird.model.instants import Span
from bowerbird.storage.database import Row, Running, Store, place_values


class ShiftedSpan(Span, frozen=True):
    """A time in which the clocks did not change. `shift` is added to an instant to get local time.

    It also makes the hours of the week start on Monday.
    """

    shift: int


class StatisticsStore(Store):
    resource = "statistics"

    async def first_saved(self, account: Account, start: int) -> int | None:
        """When the first post since `start` was saved."""
        rows = await self._of(account, "first_saved", start=start)
        return rows[0][0] if rows else None

    async def hours(self, account: Account, spans: Sequence[ShiftedSpan]) -> Sequence[Row]:
        """(position of the span, hour of the week, posts, read posts)."""
        return await self._of(
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
        counted = await self._of(account, "by_author", start=span.start, end=span.end, limit=limit)
        numbers = [row[0] for row in counted]
        found = await self._read_slowly("numbered", numbers=numbers, **place_values(account))
        renderings = dict(map(tuple, found))
        named = [_named(renderings[row[0]], row[1]) for row in counted if row[0] in renderings]
        return named, counted[0][2] if counted else 0

    async def labels(self, account: Account, span: Span, limit: int) -> list[LabelCount]:
        """The most used first."""
        values = {"start": span.start, "end": span.end, "limit": limit}
        return [LabelCount(*row) for row in await self._of(account, "by_label", **values)]

    async def labelled(self, account: Account, span: Span) -> int:
        """The number of posts that have a label."""
        rows = await self._of(account, "labelled", start=span.start, end=span.end)
        return int(rows[0][0])

    async def newest(
        self, account: Account, start: int, before: tuple[int, int], limit: int
    ) -> Sequence[Row]:
        """(instant, number, stored post) before a place in the order, the newest first."""
        values = {"start": start, "before": before[0], "before_number": before[1], "limit": limit}
        return await self._read_slowly("newest", **values, **place_values(account))

    def _of(self, account: Account, name: str, **values: Any) -> Running[Sequence[Row]]:
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
