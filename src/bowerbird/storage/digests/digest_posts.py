"""Reads the posts for a digest. Every read has a limit."""

from collections.abc import Sequence
from typing import Any

from msgspec import Struct

from bowerbird.model.accounts import Account
from bowerbird.model.bookmarks import bookmark_json
from bowerbird.storage.database import Database, Row, place_values


class Candidate(Struct, frozen=True):
    """The fields of a post that decide whether a digest contains it."""

    number: int
    post_id: str
    author_key: str
    bookmarked_at: int
    quote_count: int
    reply_count: int
    retweet_count: int
    bookmark_count: int
    favorite_count: int


class Span(Struct, frozen=True):
    """The time from `start` up to but not including `end`."""

    start: int
    end: int


class DigestPostStore:
    def __init__(self, database: Database) -> None:
        self._database = database
        sql = database.queries("digest_posts")
        self._sql = {name: text.format(candidate=sql["candidate"]) for name, text in sql.items()}

    async def count(self, account: Account, span: Span) -> int:
        rows = await self._rows("count_between", account, start=span.start, end=span.end)
        return int(rows[0][0])

    async def saved(self, account: Account, span: Span, limit: int) -> list[Candidate]:
        """The posts saved in a span, the newest first."""
        values = {"start": span.start, "end": span.end, "limit": limit}
        return [Candidate(*row) for row in await self._rows("between", account, **values)]

    async def newest_unread(self, account: Account, end: int, limit: int) -> list[Candidate]:
        rows = await self._rows("newest_unread", account, end=end, limit=limit)
        return [Candidate(*row) for row in rows]

    async def oldest_unread(self, account: Account, end: int, limit: int) -> list[Candidate]:
        rows = await self._rows("oldest_unread", account, end=end, limit=limit)
        return [Candidate(*row) for row in rows]

    async def labels(self, account: Account, span: Span, limit: int) -> Sequence[Row]:
        """(label, number of posts) of a span, the most used label first."""
        values = {"start": span.start, "end": span.end, "limit": limit}
        return await self._rows("by_label", account, **values)

    async def authors(self, account: Account, span: Span, limit: int) -> list[tuple[bytes, int]]:
        """(one post of the author, number of posts) of a span, the most saved author first."""
        values = {"start": span.start, "end": span.end, "limit": limit}
        counted = await self._rows("by_author", account, **values)
        numbers = self._database.number_list([row[0] for row in counted])
        found = await self._contents("numbered", account, numbers=numbers)
        return [(found[number], count) for number, count in counted if number in found]

    async def posts(self, account: Account, post_ids: Sequence[str]) -> dict[str, bytes]:
        """The posts that still exist, by id, as the API returns them."""
        if not post_ids:
            return {}
        encoded = self._database.text_list(post_ids)
        return await self._contents("posts", account, post_ids=encoded)

    async def vectors(
        self, account: Account, model: bytes, numbers: Sequence[int]
    ) -> Sequence[Row]:
        """(number, scales, vectors) of the posts with vectors, by number."""
        encoded = self._database.number_list(numbers)
        return await self._rows("vectors", account, numbers=encoded, model=model)

    async def _contents(self, name: str, account: Account, **values: Any) -> dict[Any, bytes]:
        rows = await self._rows(name, account, **values, **place_values(account))
        return {row[0]: bookmark_json(row[1], row[2], row[3]) for row in rows}

    async def _rows(self, name: str, account: Account, **values: Any) -> Sequence[Row]:
        return await self._database.slow_rows(
            self._sql[name], {"account_id": account.account_id, **values}
        )
