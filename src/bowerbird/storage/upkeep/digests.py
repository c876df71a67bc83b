"""Reads and writes digests, their preferences and the delivery status of their emails.

Every read of posts for a digest has a limit.
"""

from collections.abc import AsyncIterator, Sequence
from datetime import date, timedelta
from typing import Any, Final

import msgspec
from msgspec import Struct

from bowerbird.model.accounts import Account
from bowerbird.model.digests import Contents, Digest, Frequency, Mailing, MailState, Preferences
from bowerbird.model.instants import Period, PeriodKind, Span
from bowerbird.model.posts.bookmarks import bookmark_json
from bowerbird.storage.database import (
    Readable,
    Reader,
    Row,
    Running,
    Store,
    Writable,
    place_values,
)


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


class DigestPostStore(Store):
    resource = "digest_posts"

    async def count(self, account: Account, span: Span) -> int:
        rows = await self._of_account(account, "count_between", start=span.start, end=span.end)
        return int(rows[0][0])

    async def saved(self, account: Account, span: Span, limit: int) -> list[Candidate]:
        """The posts saved in a span, the newest first."""
        values = {"start": span.start, "end": span.end, "limit": limit}
        return [Candidate(*row) for row in await self._of_account(account, "between", **values)]

    async def newest_unread(self, account: Account, end: int, limit: int) -> list[Candidate]:
        rows = await self._of_account(account, "newest_unread", end=end, limit=limit)
        return [Candidate(*row) for row in rows]

    async def oldest_unread(self, account: Account, end: int, limit: int) -> list[Candidate]:
        rows = await self._of_account(account, "oldest_unread", end=end, limit=limit)
        return [Candidate(*row) for row in rows]

    async def posts(self, account: Account, post_ids: Sequence[str]) -> dict[str, bytes]:
        """The posts that still exist, by id, as the API returns them."""
        if not post_ids:
            return {}
        rows = await self._read_slowly("posts", post_ids=post_ids, **place_values(account))
        return {row[0]: bookmark_json(row[1], row[2], row[3]) for row in rows}

    async def vectors(
        self, account: Account, model: bytes, numbers: Sequence[int]
    ) -> Sequence[Row]:
        """(number, scales, vectors) of the posts with vectors, by number."""
        return await self._of_account(account, "vectors", numbers=numbers, model=model)

    def _of_account(self, account: Account, name: str, **values: Any) -> Running[Sequence[Row]]:
        return self._read_slowly(name, account_id=account.account_id, **values)


NEVER: Final = 2**62
"""The `due_at` of an account without digests and without a pending email."""

_DAY_ZERO: Final = date(1970, 1, 1)
# Later than any day.
_LAST_DAY: Final = 2**40
# An account never has more pending emails, because an email fails after about a day.
_MAX_PENDING: Final = 20
_PAGE: Final = 200
_contents: Final = msgspec.json.Decoder(Contents).decode


class DigestStore(Store):
    resource = "digests"

    async def preferences(self, account_id: int, reader: Reader | None = None) -> Preferences:
        rows = await self._rows(reader or self._database, "preferences", account_id=account_id)
        if not rows:
            return Preferences()
        frequency, time_zone, hour, is_mailed, since, is_zone_chosen, updated_at, marked = rows[0]
        return Preferences(
            Frequency(frequency),
            time_zone,
            hour,
            bool(is_mailed),
            since,
            bool(is_zone_chosen),
            updated_at,
            bool(marked),
        )

    async def put_preferences(
        self, library: Writable, preferences: Preferences, due_at: int
    ) -> None:
        values = {"due_at": due_at, **msgspec.structs.asdict(preferences)}
        await self._do(library, "put_preferences", **values)

    async def set_due(self, library: Writable, due_at: int) -> None:
        await self._do(library, "set_due", due_at=due_at)

    async def settle(self, library: Writable, since: int) -> None:
        """Records that everything due before `since` is done."""
        await self._do(library, "settle", since=since)

    async def postpone(self, account_id: int, due_at: int) -> None:
        await self._write("set_due", None, account_id=account_id, due_at=due_at)

    async def due_accounts(self, after: int, now: int, limit: int, *, job_kind: str) -> list[int]:
        """A page of accounts that are due and have no unfinished job of that kind, by id."""
        values = {"after": after, "now": now, "limit": limit, "job_kind": job_kind}
        return [row[0] for row in await self._read_slowly("due_accounts", **values)]

    async def put(self, library: Writable, digest: Digest) -> bool:
        """False if the period already has a digest."""
        values = {
            **_period(digest.period),
            "end_day": _number_of(digest.period.next_day),
            "time_zone": digest.time_zone,
            "made_at": digest.made_at,
            "contents": msgspec.json.encode(digest.contents),
            **_mailing(digest.mailing),
        }
        return bool(await self._of(library, "put", **values))

    async def by_period(self, library: Readable, period: Period) -> Digest | None:
        rows = await self._of(library, "by_period", **_period(period))
        return _digest(rows[0]) if rows else None

    async def page(self, account_id: int, before: Period | None, limit: int) -> list[Digest]:
        """The latest first. `before` is the period of the last digest of the previous page."""
        place = (_LAST_DAY, "") if before is None else _place(before)
        return await self._before(account_id, place, limit)

    async def _before(self, account_id: int, place: tuple[int, str], limit: int) -> list[Digest]:
        values = {"account_id": account_id, "end_day": place[0], "kind": place[1], "limit": limit}
        return [_digest(row) for row in await self._read("page", **values)]

    async def pages(self, account_id: int) -> AsyncIterator[list[Digest]]:
        """Every digest, page by page, the latest first."""
        before = None
        while found := await self.page(account_id, before, _PAGE):
            yield found
            before = found[-1].period

    async def ended_before(self, account_id: int, day: date, limit: int) -> list[Digest]:
        """The latest digests whose period ended before a day."""
        return await self._before(account_id, (_number_of(day) + 1, ""), limit)

    async def count(self, account_id: int) -> int:
        rows = await self._read("count", account_id=account_id)
        return int(rows[0][0])

    async def unsent(self, library: Readable) -> list[Digest]:
        """Digests whose email is pending or being sent, the first due first."""
        rows = await self._of(library, "unsent", limit=_MAX_PENDING)
        return [_digest(row) for row in rows]

    async def set_mailing(self, library: Writable, found: Digest, mailing: Mailing) -> bool:
        """False if the delivery status has changed since the digest was read."""
        values = {
            **_period(found.period),
            **_mailing(mailing),
            "found_state": found.mailing.state,
            "found_tries": found.mailing.tries,
        }
        return bool(await self._of(library, "set_mailing", **values))

    async def take_token(self, library: Writable, new: str) -> str:
        """Stores the new unsubscribe token unless the account has one; returns the stored token."""
        rows = await self._of(library, "take_token", token=new)
        return str(rows[0][0])

    async def token(self, account_id: int) -> str | None:
        rows = await self._database.rows(self._sql["token"], {"account_id": account_id})
        return rows[0][0] if rows else None


def _number_of(day: date) -> int:
    return (day - _DAY_ZERO).days


def _place(period: Period) -> tuple[int, str]:
    return _number_of(period.next_day), period.kind


def _period(period: Period) -> dict[str, Any]:
    return {"kind": period.kind, "first_day": _number_of(period.first_day)}


def _mailing(mailing: Mailing) -> dict[str, Any]:
    return {f"mail_{name}": value for name, value in msgspec.structs.asdict(mailing).items()}


def _digest(row: Row) -> Digest:
    kind, first_day, time_zone, made_at, contents, state, tries, at, reason = row
    return Digest(
        kind=PeriodKind(kind),
        first_day=_DAY_ZERO + timedelta(days=first_day),
        time_zone=time_zone,
        made_at=made_at,
        contents=_contents(contents),
        mailing=Mailing(MailState(state), tries, at, reason),
    )
