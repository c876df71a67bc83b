"""Reads the events of a library and removes old ones, and stores the rules and webhooks they meet.

`LibraryStore` adds the events. Secrets are encrypted before they come here.
"""

from collections.abc import Mapping, Sequence
from itertools import takewhile
from typing import Any, Final, NamedTuple

import msgspec
from msgspec.structs import asdict

from bowerbird.model import events, rules
from bowerbird.model.events import Delivery, DeliveryState, Happening, Webhook, WebhookState
from bowerbird.model.rules import Body, LogEntry, Rule, RuleState
from bowerbird.storage.database import Readable, Row, Store, Writable


class Logged(NamedTuple):
    """A change of the library. Its events have the numbers after `last - size`, up to `last`."""

    last: int
    size: int
    at: int
    happened: list[Happening]


class Kept(NamedTuple):
    """The number of the last event of a library, and of the last one that was removed."""

    last: int
    removed: int


class EventStore(Store):
    resource = "events"

    async def after(self, account_id: int, number: int, limit: int) -> tuple[list[Logged], bool]:
        """Changes with at least this many later events, if there are, and whether more follow.

        A change can have thousands of events, so their sizes are read first.
        """
        values = {"account_id": account_id, "after": number, "limit": limit + 1}
        sizes = await self._read("sizes", **values)
        found = [last for last, size in sizes if last - size < number + limit]
        if not found:
            return [], False
        values = {"account_id": account_id, "after": number, "until": found[-1]}
        rows = await self._read("between", **values)
        logged = [Logged(last, size, at, events.decode(body)) for last, size, at, body in rows]
        return logged, len(found) < len(sizes) or found[-1] > number + limit

    async def kept(self, library: Readable) -> Kept | None:
        """None if the account no longer exists."""
        rows = await self._of(library, "kept")
        return Kept(*rows[0]) if rows else None

    async def posts_after(self, account_id: int, number: int, limit: int) -> dict[int, str]:
        """The next posts of the library in the order of their numbers, by these."""
        rows = await self._read("posts_after", account_id=account_id, after=number, limit=limit)
        return {row[0]: row[1] for row in rows}

    async def sweep(self, library: Writable, *, before: int, kept: int, most: int) -> int:
        """Removes some of the oldest changes: before a time, or beyond a number of events."""
        state = await self.kept(library)
        if state is None:
            return 0
        values = {"limit": most}
        oldest = await self._of(library, "oldest", **values)
        # Always the oldest, even if a clock was wrong: nothing is missing in between.
        old = [*takewhile(lambda row: row[1] < before or row[0] <= state.last - kept, oldest)]
        if old:
            values = {"last": old[-1][0]}
            await self._do(library, "remove_up_to", **values)
        return len(old)


class WebhookStore(Store):
    resource = "webhooks"

    async def insert(self, library: Writable, new: Webhook, most: int) -> bool:
        """False if the account has so many already, or was deleted."""
        return bool(await self._of(library, "insert", **asdict(new), now=new.created_at, most=most))

    async def all(self, account_id: int) -> Sequence[Webhook]:
        return [_webhook(row) for row in await self._read("list", account_id=account_id)]

    async def one(self, library: Readable, webhook_id: str) -> Webhook | None:
        rows = await self._of(library, "one", webhook_id=webhook_id)
        return _webhook(rows[0]) if rows else None

    async def due_accounts(self, after: int, now: int, limit: int) -> Sequence[int]:
        """The accounts that something has happened to, or that have to be told something."""
        rows = await self._read("due_accounts", after=after, now=now, limit=limit)
        return [row[0] for row in rows]

    async def waiting_accounts(self, after: int, limit: int) -> Sequence[int]:
        """The accounts with messages that somebody wants to be sent."""
        rows = await self._read("waiting_accounts", after=after, limit=limit)
        return [row[0] for row in rows]

    async def change(self, library: Writable, changed: Webhook) -> bool:
        return bool(await self._of(library, "change", **asdict(changed)))

    async def put_secrets(self, library: Writable, hook: Webhook) -> None:
        values = {
            "webhook_id": hook.webhook_id,
            "sealed": hook.sealed,
            "rotated_at": hook.rotated_at,
            "now": hook.updated_at,
        }
        await self._of(library, "put_secrets", **values)

    async def hurry(self, library: Writable, webhook_id: str, now: int) -> None:
        """Lets the message that failed be tried again now."""
        await self._do(library, "hurry", webhook_id=webhook_id, now=now)

    async def delete(self, library: Writable, webhook_id: str) -> bool:
        if not await self._of(library, "delete", webhook_id=webhook_id):
            return False
        await self._do(library, "delete_messages", webhook_id=webhook_id)
        return True

    async def advance(self, library: Writable, hook: Webhook, to: int, sent_at: int | None) -> bool:
        """Notes that the events up to a number need not be sent; False if somebody else did."""
        values = {"delivered": to, "before": hook.delivered, "sent_at": sent_at}
        if not await self._of(library, "advance", webhook_id=hook.webhook_id, **values):
            return False
        await self._do(library, "give_up", webhook_id=hook.webhook_id)
        return True

    async def fail(self, library: Writable, failed: Webhook, now: int) -> bool:
        """Notes that the next event was not delivered; False if somebody else changed it."""
        values = {**asdict(failed), "before": failed.delivered, "now": now}
        return bool(await self._of(library, "fail", **values))

    async def set_untold(
        self, library: Writable, webhook_id: str, *, is_untold: bool, next_try_at: int
    ) -> None:
        values = {"is_untold": is_untold, "next_try_at": next_try_at}
        await self._do(library, "set_untold", webhook_id=webhook_id, **values)

    async def put_delivery(self, library: Writable, delivery: Delivery, kept: int) -> bool:
        """Adds a message or what came of it, and removes old ones; False without the webhook."""
        if not await self._of(library, "put_delivery", **asdict(delivery)):
            return False
        await self._do(library, "forget", webhook_id=delivery.webhook_id, kept=kept)
        return True

    async def deliveries(self, account_id: int, webhook_id: str, limit: int) -> Sequence[Delivery]:
        """The latest messages to a webhook, without their bodies."""
        rows = await self._read(
            "deliveries", account_id=account_id, webhook_id=webhook_id, limit=limit
        )
        return [_delivery(row) for row in rows]

    async def latest(self, account_id: int, limit: int) -> Sequence[Delivery]:
        """The latest messages to all webhooks, without their bodies."""
        rows = await self._read("latest", account_id=account_id, limit=limit)
        return [_delivery(row) for row in rows]

    async def delivery(
        self, library: Readable, webhook_id: str, message_id: str
    ) -> Delivery | None:
        rows = await self._of(library, "delivery", webhook_id=webhook_id, message_id=message_id)
        return _delivery(rows[0]) if rows else None

    async def waiting(self, account_id: int, limit: int) -> Sequence[Delivery]:
        rows = await self._read("waiting", account_id=account_id, limit=limit)
        return [_delivery(row) for row in rows]

    async def count_waiting(self, library: Writable) -> int:
        rows = await self._of(library, "count_waiting")
        return int(rows[0][0])


def _webhook(row: Row) -> Webhook:
    fields = dict(zip(Webhook.__struct_fields__, row, strict=True))
    fields["state"] = WebhookState(fields["state"])
    fields["sealed"] = bytes(fields["sealed"])
    fields["is_untold"] = bool(fields["is_untold"])
    return Webhook(**fields)


def _delivery(row: Row) -> Delivery:
    fields = dict(zip(Delivery.__struct_fields__, row, strict=False))
    fields["state"] = DeliveryState(fields["state"])
    fields["body"] = bytes(fields.get("body", b""))
    return Delivery(**fields)


_body: Final = msgspec.json.Decoder(Body).decode
_entry: Final = msgspec.json.Decoder(LogEntry).decode


class RuleStore(Store):
    resource = "rules"

    async def all(self, library: Readable) -> list[Rule]:
        """Every rule in the order in which they run."""
        return [_rule(row) for row in await self._of(library, "all")]

    async def put(self, library: Writable, rule: Rule) -> None:
        values: dict[str, Any] = {**msgspec.structs.asdict(rule)}
        values["body"] = msgspec.json.encode(rule.body).decode()
        await self._do(library, "put", **values)

    async def place(self, library: Writable, positions: Mapping[str, int]) -> None:
        """Moves rules, by id, to other places."""
        rows = [
            {"rule_id": rule_id, "position": position} for rule_id, position in positions.items()
        ]
        await self._do_many(library, "place", rows)

    async def delete(self, library: Writable, rule_id: str) -> None:
        await self._do(library, "delete", rule_id=rule_id)

    async def add_fired(self, library: Writable, posts: Mapping[str, int], now: int) -> None:
        """How many posts rules have changed just now, by their ids."""
        rows = [
            {"rule_id": rule_id, "posts": count, "now": now} for rule_id, count in posts.items()
        ]
        await self._do_many(library, "fired", rows)

    async def set_failures(self, library: Writable, rule: Rule) -> None:
        values = {"failures": rule.failures, "is_on": rule.is_on, "notice": rule.notice}
        await self._do(library, "failed", rule_id=rule.rule_id, **values)

    async def state(self, library: Readable) -> RuleState | None:
        """None if the account never had a rule."""
        rows = await self._of(library, "state")
        if not rows:
            return None
        is_active, version, seen, night_at = rows[0]
        return RuleState(bool(is_active), version, seen, night_at)

    async def put_state(self, library: Writable, state: RuleState) -> None:
        values = msgspec.structs.asdict(state)
        await self._do(library, "put_state", **values)

    async def due_accounts(self, after: int, now: int, limit: int) -> list[int]:
        rows = await self._read_slowly("due_accounts", after=after, now=now, limit=limit)
        return [row[0] for row in rows]

    async def log(self, account_id: int, limit: int) -> list[rules.Logged]:
        """The latest first."""
        rows = await self._read("log", account_id=account_id, limit=limit)
        return [
            rules.Logged(number, rule_id, at, _entry(entry)) for number, rule_id, at, entry in rows
        ]

    async def add_to_log(
        self, library: Writable, entries: Sequence[tuple[str, LogEntry]], now: int, kept: int
    ) -> None:
        """Adds what rules did, by their ids, and removes the oldest beyond a number."""
        if not entries:
            return
        rows = await self._of(library, "last_logged")
        last = int(rows[0][0])
        added = [
            {
                "number": number,
                "rule_id": rule_id,
                "at": now,
                "entry": msgspec.json.encode(entry).decode(),
            }
            for number, (rule_id, entry) in enumerate(entries, last + 1)
        ]
        await self._do_many(library, "add_to_log", added)
        oldest = last + len(entries) - kept
        await self._do(library, "shorten_log", last=oldest)


def _rule(row: Row) -> Rule:
    rule_id, position, name, body, is_on, *others = row
    return Rule(rule_id, position, name, _body(body), bool(is_on), *others)
