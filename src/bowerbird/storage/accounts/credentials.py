"""Reads and writes API keys and devices, and which versions of the API accounts have called.

Only the hash of a secret is stored.
"""

from collections.abc import AsyncIterator, Mapping, Sequence
from typing import ClassVar, Final, Generic, TypeVar

import msgspec

from bowerbird.model.accounts import (
    ActivityEntry,
    Device,
    DeviceCaller,
    Key,
    NoticeState,
    SunsetRecipient,
)
from bowerbird.model.keys import part_of_hash
from bowerbird.storage.database import Database, Readable, Store, Transaction, Writable
from bowerbird.storage.libraries import ActivityStore

ANY_NUMBER: Final = 2**31

Record = TypeVar("Record", bound=msgspec.Struct)


class CredentialStore(Store, Generic[Record]):
    record: type[Record]
    # The table, its columns of the id and the hash, and the one that only it has.
    table: ClassVar[Mapping[str, str]]

    def __init__(self, database: Database) -> None:
        super().__init__(database)
        columns = ", ".join(f"t.{name}" for name in self.record.__struct_fields__)
        shared = database.queries("credentials").items()
        self._sql = self._sql | {
            name: text.format(**self.table, columns=columns) for name, text in shared
        }
        self._activity = ActivityStore(database)

    async def create(
        self,
        library: Writable,
        record: Record,
        hash: bytes,
        entry: ActivityEntry | None = None,
        *,
        most: int = ANY_NUMBER,
    ) -> bool:
        """False if the account has so many active ones already."""
        fields = msgspec.structs.asdict(record)
        values = {**fields, "hash": hash, "most": most}
        if not await self._of(library, "insert", **values):
            return False
        if entry is not None:
            await self._activity.add(library, entry)
        return True

    async def all(self, account_id: int) -> Sequence[Record]:
        return [self.record(*row) for row in await self._read("list", account_id=account_id)]

    async def revoke(
        self,
        account_id: int,
        id: str,
        hash: bytes,
        now: int,
        entry: ActivityEntry | None = None,
        *,
        kept: int = ANY_NUMBER,
    ) -> str | None:
        """Returns the id of what was revoked; None if nothing active has that id or hash.

        The entry in the activity log gets its name. Of all revoked ones of the account, the latest
        `kept` stay in the list.
        """
        values = {"account_id": account_id, "id": id, "hash": hash, "revoked_at": now}

        async def work(transaction: Transaction) -> str | None:
            rows = await self._rows(transaction, "revoke", **values)
            if not rows:
                return None
            await self._run(transaction, "forget_revoked", account_id=account_id, kept=kept)
            revoked, name = rows[0]
            if entry is not None:
                named = msgspec.structs.replace(entry, detail=name)
                await self._activity.add(Writable(transaction, account_id), named)
            return str(revoked)

        # Not in the name of the account: those who flood it must not delay this.
        return await self._database.write(work)


class KeyStore(CredentialStore[Key]):
    resource = "keys"
    record = Key
    table: ClassVar = {"table": "api_key", "id": "key_id", "hash": "key_hash", "own": "shown"}

    async def names(self, account_id: int) -> dict[str, str]:
        """The names of the keys by a part of their hashes."""
        rows = await self._database.rows(self._sql["names"], {"account_id": account_id})
        return {part_of_hash(bytes(row[0])): row[1] for row in rows}

    async def count_live(self, account_id: int) -> int:
        rows = await self._read("count_live", account_id=account_id)
        return int(rows[0][0])

    async def put_uses(self, uses: Mapping[tuple[int, bytes], int]) -> None:
        """Takes (account, hash of a key) -> day. A day before the stored one changes nothing."""
        rows = [
            {"account_id": account_id, "key_hash": key_hash, "day": day}
            for (account_id, key_hash), day in sorted(uses.items())
        ]
        await self._database.write(
            lambda transaction: transaction.run_many(self._sql["note_use"], rows)
        )


class DeviceStore(CredentialStore[Device]):
    resource = "devices"
    record = Device
    table: ClassVar = {
        "table": "device",
        "id": "device_id",
        "hash": "token_hash",
        "own": "source_user_id",
    }

    async def by_token(self, account_id: int, token_hash: bytes, month: int) -> DeviceCaller | None:
        values = {"account_id": account_id, "token_hash": token_hash, "month": month}
        rows = await self._read("by_token", **values)
        return DeviceCaller(*rows[0]) if rows else None

    async def is_revoked(self, account_id: int, token_hash: bytes) -> bool:
        """Whether the token is that of a device which was revoked."""
        return bool(await self._read("revoked", account_id=account_id, token_hash=token_hash))

    async def source_user(self, library: Readable, device_id: str) -> str:
        """The account of the source that the device is bound to, or ""."""
        rows = await self._of(library, "source_user", device_id=device_id)
        return rows[0][0] if rows else ""

    async def bind(self, library: Writable, device_id: str, source_user_id: str) -> None:
        await self._do(library, "bind", device_id=device_id, source_user_id=source_user_id)

    async def note_use(self, library: Writable, device_id: str, now: int, every: int) -> None:
        """Stores when the device was used, unless the stored time is only a little older."""
        if device_id:
            await self._do(library, "note_use", device_id=device_id, now=now, before=now - every)


_PAGE: Final = 500


class SunsetNoticeStore(Store):
    resource = "sunset_notices"

    async def callers(self, version: str, first_day: int) -> AsyncIterator[SunsetRecipient]:
        """Every account that called the version on that day or later, by account id."""
        values = {"version": version, "first_day": first_day, "limit": _PAGE}
        after = -(2**63)
        while True:
            rows = await self._read_slowly("callers_of_version", **values, after=after)
            for row in rows:
                yield SunsetRecipient(*row)
            if len(rows) < _PAGE:
                return
            after = rows[-1][0]

    async def claim(self, caller: SunsetRecipient, version: str, now: int) -> bool:
        """False if another run has claimed the notice or completed it."""
        values = {
            "account_id": caller.account_id,
            "version": version,
            "state": NoticeState.SENDING.value,
            "now": now,
        }
        if caller.state is None:
            return bool(await self._write("claim", None, **values))
        seen = {"seen_state": caller.state, "seen_at": caller.changed_at}
        return bool(await self._write("claim_again", None, **values, **seen))

    async def complete(
        self, caller: SunsetRecipient, version: str, state: NoticeState, now: int
    ) -> None:
        values = {"account_id": caller.account_id, "version": version}
        await self._write("complete", None, **values, state=state.value, now=now)

    async def release(self, caller: SunsetRecipient, version: str) -> None:
        """Undoes a claim whose email was certainly not sent, so that the next run retries."""
        await self._write("release", None, account_id=caller.account_id, version=version)


class VersionUseStore(Store):
    resource = "version_use"

    async def versions(self, account_id: int, first_day: int) -> Sequence[str]:
        """The versions that the account called on that day or later."""
        values = {"account_id": account_id, "first_day": first_day}
        return [row[0] for row in await self._read("versions", **values)]

    async def callers(self, first_day: int) -> Sequence[tuple[str, int, int]]:
        """Version, number of accounts that called it since that day, and day of the last call."""
        rows = await self._read_slowly("callers", first_day=first_day)
        return [(version, count, last_day) for version, count, last_day in rows]

    async def put(self, uses: Mapping[tuple[int, str], int]) -> None:
        """Takes (account, version) -> day. A day older than the stored one changes nothing."""
        rows = [
            {"account_id": account_id, "version": version, "last_day": day}
            for (account_id, version), day in sorted(uses.items())
        ]
        await self._database.write(lambda transaction: transaction.run_many(self._sql["put"], rows))
