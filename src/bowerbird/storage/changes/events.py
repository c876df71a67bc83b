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
from bowerbird.storage.database import Reader, Row, Store, Transaction


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
        sizes = await self._database.rows(self._sql["sizes"], values)
        found = [last for last, size in sizes if last - size < number + limit]
        if not found:
            return [], False
        values = {"account_id": account_id, "after": number, "until": found[-1]}
        rows = await self._database.rows(self._sql["between"], values)
        logged = [Logged(last, size, at, events.decode(body)) for last, size, at, body in rows]
        return logged, len(found) < len(sizes) or found[-1] > number + limit

    async def kept(self, reader: Reader, account_id: int) -> Kept | None:
        """None if the account no longer exists."""
        rows = await reader.rows(self._sql["kept"], {"account_id": account_id})
        return Kept(*rows[0]) if rows else None

    async def posts_after(self, account_id: int, number: int, limit: int) -> dict[int, str]:
        """The next posts of the library in the order of their numbers, by these."""
        rows = await self._read("posts_after", account_id=account_id, after=number, limit=limit)
        return {row[0]: row[1] for row in rows}

    async def sweep(
        self, transaction: Transaction, account_id: int, *, before: int, kept: int, most: int
    ) -> int:
        """Removes some of the oldest changes: before a time, or beyond a number of events."""
        state = await self.kept(transaction, account_id)
        if state is None:
            return 0
        values = {"account_id": account_id, "limit": most}
        oldest = await transaction.rows(self._sql["oldest"], values)
        # Always the oldest, even if a clock was wrong: nothing is missing in between.
        old = [*takewhile(lambda row: row[1] < before or row[0] <= state.last - kept, oldest)]
        if old:
            values = {"account_id": account_id, "last": old[-1][0]}
            await transaction.run(self._sql["remove_up_to"], values)
        return len(old)


class WebhookStore(Store):
    resource = "webhooks"

    async def insert(
        self, transaction: Transaction, account_id: int, new: Webhook, most: int
    ) -> bool:
        """False if the account has so many already, or was deleted."""
        values = {**asdict(new), "account_id": account_id, "now": new.created_at, "most": most}
        return bool(await self._rows(transaction, "insert", **values))

    async def all(self, account_id: int) -> Sequence[Webhook]:
        return [_webhook(row) for row in await self._read("list", account_id=account_id)]

    async def one(self, reader: Reader, account_id: int, webhook_id: str) -> Webhook | None:
        rows = await self._rows(reader, "one", **_key(account_id, webhook_id))
        return _webhook(rows[0]) if rows else None

    async def due_accounts(self, after: int, now: int, limit: int) -> Sequence[int]:
        """The accounts that something has happened to, or that have to be told something."""
        rows = await self._read("due_accounts", after=after, now=now, limit=limit)
        return [row[0] for row in rows]

    async def waiting_accounts(self, after: int, limit: int) -> Sequence[int]:
        """The accounts with messages that somebody wants to be sent."""
        rows = await self._read("waiting_accounts", after=after, limit=limit)
        return [row[0] for row in rows]

    async def change(self, transaction: Transaction, account_id: int, changed: Webhook) -> bool:
        values = {**asdict(changed), "account_id": account_id}
        return bool(await self._rows(transaction, "change", **values))

    async def put_secrets(self, transaction: Transaction, account_id: int, hook: Webhook) -> None:
        values = {
            **_key(account_id, hook.webhook_id),
            "sealed": hook.sealed,
            "rotated_at": hook.rotated_at,
            "now": hook.updated_at,
        }
        await self._rows(transaction, "put_secrets", **values)

    async def hurry(
        self, transaction: Transaction, account_id: int, webhook_id: str, now: int
    ) -> None:
        """Lets the message that failed be tried again now."""
        await self._run(transaction, "hurry", **_key(account_id, webhook_id), now=now)

    async def delete(self, transaction: Transaction, account_id: int, webhook_id: str) -> bool:
        key = _key(account_id, webhook_id)
        if not await self._rows(transaction, "delete", **key):
            return False
        await self._run(transaction, "delete_messages", **key)
        return True

    async def advance(
        self, transaction: Transaction, account_id: int, hook: Webhook, to: int, sent_at: int | None
    ) -> bool:
        """Notes that the events up to a number need not be sent; False if somebody else did."""
        values = {"delivered": to, "before": hook.delivered, "sent_at": sent_at}
        key = _key(account_id, hook.webhook_id)
        if not await self._rows(transaction, "advance", **key, **values):
            return False
        await self._run(transaction, "give_up", **key)
        return True

    async def fail(
        self, transaction: Transaction, account_id: int, failed: Webhook, now: int
    ) -> bool:
        """Notes that the next event was not delivered; False if somebody else changed it."""
        values = {
            **asdict(failed),
            "account_id": account_id,
            "before": failed.delivered,
            "now": now,
        }
        return bool(await self._rows(transaction, "fail", **values))

    async def set_untold(
        self,
        transaction: Transaction,
        account_id: int,
        webhook_id: str,
        *,
        is_untold: bool,
        next_try_at: int,
    ) -> None:
        values = {"is_untold": is_untold, "next_try_at": next_try_at}
        await self._run(transaction, "set_untold", **_key(account_id, webhook_id), **values)

    async def put_delivery(
        self, transaction: Transaction, account_id: int, delivery: Delivery, kept: int
    ) -> bool:
        """Adds a message or what came of it, and removes old ones; False without the webhook."""
        values = {**asdict(delivery), "account_id": account_id}
        if not await self._rows(transaction, "put_delivery", **values):
            return False
        await self._run(transaction, "forget", **_key(account_id, delivery.webhook_id), kept=kept)
        return True

    async def deliveries(self, account_id: int, webhook_id: str, limit: int) -> Sequence[Delivery]:
        """The latest messages to a webhook, without their bodies."""
        rows = await self._read("deliveries", **_key(account_id, webhook_id), limit=limit)
        return [_delivery(row) for row in rows]

    async def latest(self, account_id: int, limit: int) -> Sequence[Delivery]:
        """The latest messages to all webhooks, without their bodies."""
        rows = await self._read("latest", account_id=account_id, limit=limit)
        return [_delivery(row) for row in rows]

    async def delivery(
        self, reader: Reader, account_id: int, webhook_id: str, message_id: str
    ) -> Delivery | None:
        key = _key(account_id, webhook_id)
        rows = await self._rows(reader, "delivery", **key, message_id=message_id)
        return _delivery(rows[0]) if rows else None

    async def waiting(self, account_id: int, limit: int) -> Sequence[Delivery]:
        rows = await self._read("waiting", account_id=account_id, limit=limit)
        return [_delivery(row) for row in rows]

    async def count_waiting(self, transaction: Transaction, account_id: int) -> int:
        rows = await self._rows(transaction, "count_waiting", account_id=account_id)
        return int(rows[0][0])


def _key(account_id: int, webhook_id: str) -> dict[str, Any]:
    return {"account_id": account_id, "webhook_id": webhook_id}


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

    async def all(self, reader: Reader, account_id: int) -> list[Rule]:
        """Every rule in the order in which they run."""
        return [_rule(row) for row in await self._rows(reader, "all", account_id=account_id)]

    async def put(self, transaction: Transaction, account_id: int, rule: Rule) -> None:
        values: dict[str, Any] = {"account_id": account_id, **msgspec.structs.asdict(rule)}
        values["body"] = msgspec.json.encode(rule.body).decode()
        await self._run(transaction, "put", **values)

    async def place(
        self, transaction: Transaction, account_id: int, positions: Mapping[str, int]
    ) -> None:
        """Moves rules, by id, to other places."""
        rows = [
            {"account_id": account_id, "rule_id": rule_id, "position": position}
            for rule_id, position in positions.items()
        ]
        await transaction.run_many(self._sql["place"], rows)

    async def delete(self, transaction: Transaction, account_id: int, rule_id: str) -> None:
        await self._run(transaction, "delete", account_id=account_id, rule_id=rule_id)

    async def add_fired(
        self, transaction: Transaction, account_id: int, posts: Mapping[str, int], now: int
    ) -> None:
        """How many posts rules have changed just now, by their ids."""
        rows = [
            {"account_id": account_id, "rule_id": rule_id, "posts": count, "now": now}
            for rule_id, count in posts.items()
        ]
        await transaction.run_many(self._sql["fired"], rows)

    async def set_failures(self, transaction: Transaction, account_id: int, rule: Rule) -> None:
        values = {"failures": rule.failures, "is_on": rule.is_on, "notice": rule.notice}
        await self._run(
            transaction, "failed", account_id=account_id, rule_id=rule.rule_id, **values
        )

    async def state(self, reader: Reader, account_id: int) -> RuleState | None:
        """None if the account never had a rule."""
        rows = await self._rows(reader, "state", account_id=account_id)
        if not rows:
            return None
        is_active, version, seen, night_at = rows[0]
        return RuleState(bool(is_active), version, seen, night_at)

    async def put_state(self, transaction: Transaction, account_id: int, state: RuleState) -> None:
        values = msgspec.structs.asdict(state)
        await self._run(transaction, "put_state", account_id=account_id, **values)

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
        self,
        transaction: Transaction,
        account_id: int,
        entries: Sequence[tuple[str, LogEntry]],
        now: int,
        kept: int,
    ) -> None:
        """Adds what rules did, by their ids, and removes the oldest beyond a number."""
        if not entries:
            return
        rows = await self._rows(transaction, "last_logged", account_id=account_id)
        last = int(rows[0][0])
        added = [
            {
                "account_id": account_id,
                "number": number,
                "rule_id": rule_id,
                "at": now,
                "entry": msgspec.json.encode(entry).decode(),
            }
            for number, (rule_id, entry) in enumerate(entries, last + 1)
        ]
        await transaction.run_many(self._sql["add_to_log"], added)
        oldest = last + len(entries) - kept
        await self._run(transaction, "shorten_log", account_id=account_id, last=oldest)


def _rule(row: Row) -> Rule:
    rule_id, position, name, body, is_on, *others = row
    return Rule(rule_id, position, name, _body(body), bool(is_on), *others)
