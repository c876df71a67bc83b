"""Reads and writes accounts: library row, plan, counted calls and owner."""

import secrets
from collections.abc import Mapping, Sequence
from typing import Final

import msgspec

from bowerbird.model.accounts import (
    Account,
    ActivityEntry,
    Membership,
    Reading,
    RemovedPostsChoice,
)
from bowerbird.model.labels import name_key
from bowerbird.storage.database import Database, Readable, Reader, Row, Store, Transaction, Writable
from bowerbird.storage.libraries import ActivityStore

_LAST_CHARACTER: Final = "\U0010ffff"


class AccountStore(Store):
    resource = "accounts"

    def __init__(self, database: Database) -> None:
        super().__init__(database)
        self._activity = ActivityStore(database)

    def generation(self) -> int | None:
        """Changes with every commit; None if the database cannot tell."""
        return self._database.generation()

    async def by_key(self, account_id: int, key_hash: bytes, month: int) -> Account | None:
        rows = await self._read("by_key", account_id=account_id, key_hash=key_hash, month=month)
        return Account(*rows[0]) if rows else None

    async def by_id(self, account_id: int, month: int) -> Account | None:
        rows = await self._read("by_id", account_id=account_id, month=month)
        return Account(*rows[0]) if rows else None

    async def id_of_email(self, email_key: str) -> int | None:
        rows = await self._read("id_of_email", email_key=email_key)
        return rows[0][0] if rows else None

    async def has_person(self, account_id: int) -> bool:
        """Also if the account is partly deleted."""
        return bool(await self._read("person", account_id=account_id))

    async def has_others(self, library: Readable) -> bool:
        """Whether there is another account."""
        return bool(await self._of(library, "other_account"))

    async def partly_deleted(self, limit: int) -> Sequence[int]:
        """Accounts whose removal has begun."""
        return [row[0] for row in await self._read_slowly("partly_deleted", limit=limit)]

    async def all(self) -> Sequence[Membership]:
        return [Membership(*row) for row in await self._read("every_account")]

    async def count(self) -> int:
        rows = await self._read("count_accounts")
        return int(rows[0][0])

    async def count_up_to(self, limit: int) -> int:
        rows = await self._read_slowly("count_some", limit=limit)
        return int(rows[0][0])

    async def page(self, before: tuple[int, int], limit: int) -> Sequence[Membership]:
        """The accounts before the given date and id, the newest first."""
        created_at, account_id = before
        values = {"created_at": created_at, "account_id": account_id, "limit": limit}
        return [_listed(row) for row in await self._read("page", **values)]

    async def starting_with(self, email_key: str, limit: int) -> Sequence[Membership]:
        """The accounts whose folded address starts with a text, by address."""
        values = {"first": email_key, "end": email_key + _LAST_CHARACTER, "limit": limit}
        return [_listed(row) for row in await self._read("starting_with", **values)]

    async def membership(self, account_id: int) -> Membership | None:
        rows = await self._read("membership", account_id=account_id)
        return Membership(*rows[0]) if rows else None

    async def create(self, membership: Membership, email_key: str) -> bool:
        """False if the email address already has an account. The first account owns the service."""
        return await self._database.write(
            lambda transaction: self.create_within(transaction, membership, email_key, may_own=True)
        )

    async def create_within(
        self, transaction: Transaction, membership: Membership, email_key: str, *, may_own: bool
    ) -> bool:
        """False if the address is taken. `may_own`: it becomes the owner's if there is no owner."""
        values = {
            "account_id": membership.account_id,
            "email": membership.email,
            "email_key": email_key,
            "plan": membership.plan,
            "epoch": secrets.randbits(62),
            "created_at": membership.created_at,
            "may_own": may_own,
        }
        inserted = await self._rows(transaction, "insert_person", **values)
        if not inserted and may_own:
            # Another account may have become the owner's at the same moment: now it is seen.
            inserted = await self._rows(transaction, "insert_person", **values)
        if not inserted:
            return False
        rows = await self._rows(transaction, "take_local_number", **values)
        await self._run(transaction, "insert_library", **values, local_number=rows[0][0])
        await self._run(transaction, "insert_digest_preference", **values)
        return True

    async def owner(self, reader: Reader) -> int | None:
        """The account of the person who operates the service."""
        rows = await self._rows(reader, "owner")
        return rows[0][0] if rows else None

    async def set_owner(self, library: Writable) -> None:
        await self._do(library, "take_ownership")
        await self._of(library, "give_ownership")

    async def set_email(self, library: Writable, email: str, email_key: str) -> bool:
        """False if another account has the address."""
        return bool(await self._of(library, "set_email", email=email, email_key=email_key))

    async def set_plan(
        self, account_id: int, plan: str, entry: ActivityEntry | None = None
    ) -> None:
        async def work(transaction: Transaction) -> None:
            await self._run(transaction, "set_plan", account_id=account_id, plan=plan)
            if entry is not None:
                await self._activity.add(Writable(transaction, account_id), entry)

        await self._database.write(work)

    async def removed_posts(self, library: Readable) -> RemovedPostsChoice:
        """What happens to posts that are removed at their source."""
        rows = await self._of(library, "removed_posts")
        return RemovedPostsChoice(rows[0][0]) if rows else RemovedPostsChoice.KEEP

    async def set_removed_posts(self, account_id: int, choice: RemovedPostsChoice) -> None:
        await self._write("set_removed_posts", None, account_id=account_id, choice=choice)

    async def reading(self, library: Readable) -> Reading:
        rows = await self._of(library, "reading")
        return Reading(rows[0][0], bool(rows[0][1])) if rows else Reading()

    async def set_reading(self, account_id: int, reading: Reading) -> None:
        values = {"account_id": account_id, **msgspec.structs.asdict(reading)}
        await self._write("set_reading", None, **values)

    async def follow_label(self, library: Writable, before: str, after: str) -> bool:
        """Whether the favourite label was the one of a name. Then it is the one of the other."""
        reading = await self.reading(library)
        if name_key(reading.favourite) != name_key(before):
            return False
        changed = msgspec.structs.replace(reading, favourite=after)
        await self._do(library, "set_reading", **msgspec.structs.asdict(changed))
        return True

    async def add_calls(self, month: int, calls: Mapping[int, int]) -> None:
        rows = [{"account_id": a, "month": month, "calls": n} for a, n in sorted(calls.items())]
        await self._database.write(
            lambda transaction: transaction.run_many(self._sql["add_calls"], rows)
        )

    async def charge(self, account_id: int, month: int, limit: int) -> int | None:
        """Counts one call and returns the calls of the month; None if `limit` is reached."""

        async def work(transaction: Transaction) -> int | None:
            return await self.charge_within(Writable(transaction, account_id), month, limit)

        # In the name of the account, or its reads would queue as the service's own, without bounds.
        return await self._database.write(work, account_id)

    async def charge_within(self, library: Writable, month: int, limit: int) -> int | None:
        rows = await self._of(library, "charge_call", month=month, limit=limit)
        return int(rows[0][0]) if rows else None


def _listed(row: Row) -> Membership:
    account_id, email, plan, total, created_at, is_owner = row
    # SQLite stores booleans as 0 and 1.
    return Membership(account_id, email, plan, total, created_at, bool(is_owner))
