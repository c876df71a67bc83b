"""Reads and writes rules, how far they are, and what they did."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec

from bowerbird.model.rules import Body, LogEntry, Logged, Rule, RuleState
from bowerbird.storage.database import Reader, Row, Store, Transaction

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

    async def log(self, account_id: int, limit: int) -> list[Logged]:
        """The latest first."""
        rows = await self._read("log", account_id=account_id, limit=limit)
        return [Logged(number, rule_id, at, _entry(entry)) for number, rule_id, at, entry in rows]

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
