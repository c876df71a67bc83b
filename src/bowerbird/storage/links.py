"""Posts that are only links: which are due, and when each host may be asked."""

from collections.abc import Sequence
from typing import Any, Final

import msgspec

from bowerbird.model.posts.networks import (
    LEFT,
    WAITING,
    ContentState,
    DueLink,
    FailedLink,
    LinkCounts,
    LinkState,
    PostContent,
    Reason,
    content_of,
)
from bowerbird.storage.database import Store, Transaction, Writable
from bowerbird.storage.libraries import LockedLibrary

# Keeps a transaction short.
_AT_ONCE: Final = 500


class LinkStore(Store):
    resource = "links"

    async def add(self, library: LockedLibrary, post_ids: Sequence[str], now: int) -> None:
        await self._do_many(library, "add", [{"post_id": one, "now": now} for one in post_ids])

    async def remove(self, library: LockedLibrary, post_ids: Sequence[str]) -> None:
        await self._do_many(library, "remove", [{"post_id": one} for one in post_ids])

    async def due_accounts(self, after: int, now: int, limit: int) -> list[int]:
        rows = await self._read_slowly("due_accounts", after=after, now=now, limit=limit)
        return [row[0] for row in rows]

    async def due_hosts(self, account_id: int, now: int, limit: int) -> dict[str, int]:
        """How many links are due, by host."""
        rows = await self._read_slowly("due_hosts", account_id=account_id, now=now, limit=limit)
        return dict(tuple(row) for row in rows)

    async def due(self, account_id: int, host: str, now: int, limit: int) -> list[DueLink]:
        """The links of a host, or those that nothing has looked at, the newest first."""
        rows = await self._read("due", account_id=account_id, host=host, now=now, limit=limit)
        return [DueLink(*row) for row in rows]

    async def set_hosts(self, library: Writable, hosts: Sequence[tuple[str, str]]) -> None:
        """`hosts`: by post; a post without a host stays a link."""
        rows = [
            {
                "post_id": post_id,
                "host": host,
                "state": WAITING if host else LEFT,
                "reason": Reason.NONE if host else Reason.NO_SOURCE,
            }
            for post_id, host in hosts
        ]
        await self._do_many(library, "set_host", rows)

    async def failed(self, library: Writable, failures: Sequence[FailedLink]) -> None:
        rows = [{**msgspec.structs.asdict(one)} for one in failures]
        await self._do_many(library, "failed", rows)

    async def postpone(
        self, library: Writable, host: str, reason: Reason, *, due_at: int, oldest: int
    ) -> bool:
        """The links of a host wait, except those that have waited since before `oldest`.

        Some at a time: False if none was left to change.
        """
        values = {"host": host, "reason": reason, "limit": _AT_ONCE}
        given_up = await self._of(library, "give_up", **values, before=oldest)
        waiting = await self._of(library, "postpone", **values, due_at=due_at)
        return bool(given_up or waiting)

    async def content(self, account_id: int, post_id: str, *, is_fetched: bool) -> PostContent:
        """How much of a post the library has. `is_fetched`: whether the service asks for texts."""
        rows = await self._read("one", account_id=account_id, post_id=post_id)
        if not rows:
            return PostContent(ContentState.WHOLE)
        return _content(rows[0], is_fetched=is_fetched)

    async def contents(
        self, account_id: int, post_ids: Sequence[str], *, is_fetched: bool
    ) -> dict[str, PostContent]:
        """Of the given posts that are only links, by id."""
        rows = await self._read("states", account_id=account_id, post_ids=post_ids)
        return {row[0]: _content(row[1:], is_fetched=is_fetched) for row in rows}

    async def counts(self, account_id: int) -> LinkCounts:
        rows = await self._read_slowly("counts", account_id=account_id)
        waiting = sum(count for state, _, count in rows if state == WAITING)
        return LinkCounts(waiting, {Reason(why): n for state, why, n in rows if state == LEFT})

    async def bare_posts(self, account_id: int, after: int, limit: int) -> list[tuple[int, str]]:
        """The number and id of posts that are only links."""
        values = {"account_id": account_id, "after": after, "limit": limit}
        rows = await self._read_slowly("bare_posts", **values)
        return [(number, post_id) for number, post_id in rows]

    async def take_turn(
        self, transaction: Transaction, host: str, now: int, next_at: int
    ) -> int | None:
        """How many times in a row the host gave no answer; None if it is not its turn yet."""
        rows = await self._rows(transaction, "take_turn", host=host, now=now, next_at=next_at)
        return int(rows[0][0]) if rows else None

    async def next_turn(self, host: str) -> int:
        rows = await self._read("next_turn", host=host)
        return int(rows[0][0]) if rows else 0

    async def pause_host(
        self, transaction: Transaction, host: str, next_at: int, failures: int
    ) -> None:
        await self._run(transaction, "pause_host", host=host, next_at=next_at, failures=failures)

    async def host_answers(self, transaction: Transaction, host: str) -> None:
        await self._run(transaction, "host_answers", host=host)

    async def forget_hosts(self, transaction: Transaction, before: int) -> bool:
        """Forgets some hosts; False if none was left."""
        return bool(await self._rows(transaction, "forget_hosts", before=before, limit=_AT_ONCE))


def _content(row: Sequence[Any], *, is_fetched: bool) -> PostContent:
    """Of the state and the reason of a link, which are none if nobody has asked for its text."""
    state, reason = row
    link = None if state is None else LinkState(state == WAITING, Reason(reason))
    return content_of(link, is_fetched=is_fetched)
