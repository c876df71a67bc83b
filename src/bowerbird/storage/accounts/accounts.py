"""Reads and writes accounts: library row, plan, counted calls and owner."""

import secrets
from collections.abc import Mapping, Sequence

from bowerbird.model.accounts import Account, Membership, RemovedPostsChoice
from bowerbird.storage.database import Database, Reader, Transaction


class AccountStore:
    def __init__(self, database: Database) -> None:
        self._database = database
        self._sql = database.queries("accounts")

    def generation(self) -> int | None:
        """Changes with every commit; None if the database cannot tell."""
        return self._database.generation()

    async def by_key(self, account_id: int, key_hash: bytes, month: int) -> Account | None:
        values = {"account_id": account_id, "key_hash": key_hash, "month": month}
        rows = await self._database.rows(self._sql["by_key"], values)
        return Account(*rows[0]) if rows else None

    async def by_id(self, account_id: int, month: int) -> Account | None:
        values = {"account_id": account_id, "month": month}
        rows = await self._database.rows(self._sql["by_id"], values)
        return Account(*rows[0]) if rows else None

    async def id_of_email(self, email_key: str) -> int | None:
        rows = await self._database.rows(self._sql["id_of_email"], {"email_key": email_key})
        return rows[0][0] if rows else None

    async def all(self) -> Sequence[Membership]:
        return [
            Membership(*row) for row in await self._database.rows(self._sql["every_account"], {})
        ]

    async def count(self) -> int:
        rows = await self._database.rows(self._sql["count_accounts"], {})
        return int(rows[0][0])

    async def membership(self, account_id: int) -> Membership | None:
        rows = await self._database.rows(self._sql["membership"], {"account_id": account_id})
        return Membership(*rows[0]) if rows else None

    async def create(self, membership: Membership, email_key: str) -> bool:
        """False if the email address already has an account."""

        async def work(transaction: Transaction) -> bool:
            values = {
                "account_id": membership.account_id,
                "email": membership.email,
                "email_key": email_key,
                "plan": membership.plan,
                "epoch": secrets.randbits(62),
                "created_at": membership.created_at,
            }
            if not await transaction.rows(self._sql["insert_person"], values):
                return False
            rows = await transaction.rows(self._sql["take_local_number"], values)
            await transaction.run(
                self._sql["insert_library"], {**values, "local_number": rows[0][0]}
            )
            await transaction.run(self._sql["insert_digest_preference"], values)
            return True

        return await self._database.write(work)

    async def set_plan(self, account_id: int, plan: str) -> None:
        async def work(transaction: Transaction) -> None:
            await transaction.run(self._sql["set_plan"], {"account_id": account_id, "plan": plan})

        await self._database.write(work)

    async def removed_posts(self, reader: Reader, account_id: int) -> RemovedPostsChoice:
        """What happens to posts that are removed at their source."""
        rows = await reader.rows(self._sql["removed_posts"], {"account_id": account_id})
        return RemovedPostsChoice(rows[0][0]) if rows else RemovedPostsChoice.KEEP

    async def set_removed_posts(self, account_id: int, choice: RemovedPostsChoice) -> None:
        async def work(transaction: Transaction) -> None:
            values = {"account_id": account_id, "choice": choice}
            await transaction.run(self._sql["set_removed_posts"], values)

        await self._database.write(work)

    async def add_calls(self, month: int, calls: Mapping[int, int]) -> None:
        rows = [{"account_id": a, "month": month, "calls": n} for a, n in sorted(calls.items())]

        async def work(transaction: Transaction) -> None:
            await transaction.run_many(self._sql["add_calls"], rows)

        await self._database.write(work)

    async def charge(self, account_id: int, month: int, limit: int) -> int | None:
        """Counts one call and returns the calls of the month; None if `limit` is reached."""

        async def work(transaction: Transaction) -> int | None:
            return await self.charge_within(transaction, account_id, month, limit)

        # In the name of the account, or its reads would queue as the service's own, without bounds.
        return await self._database.write(work, account_id)

    async def charge_within(
        self, transaction: Transaction, account_id: int, month: int, limit: int
    ) -> int | None:
        values = {"account_id": account_id, "month": month, "limit": limit}
        rows = await transaction.rows(self._sql["charge_call"], values)
        return int(rows[0][0]) if rows else None
