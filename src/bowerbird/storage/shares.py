"""Reads and writes what accounts share."""

from collections.abc import Sequence
from typing import Any

import msgspec

from bowerbird.model.shares import Audience, Choices, Share, Shared
from bowerbird.storage.database import Reader, Row, Store, Transaction

_choices = msgspec.json.Decoder(Choices).decode


class ShareStore(Store):
    resource = "shares"

    def generation(self) -> int | None:
        """Changes with every commit; None if the database cannot tell."""
        return self._database.generation()

    async def by_address(self, address: str) -> Share | None:
        rows = await self._read("by_address", address=address)
        return _share(rows[0]) if rows else None

    async def of_account(self, account_id: int) -> list[Share]:
        return [_share(row) for row in await self._read("of_account", account_id=account_id)]

    async def by_id(self, reader: Reader, account_id: int, share_id: str) -> Share | None:
        rows = await self._rows(reader, "by_id", account_id=account_id, share_id=share_id)
        return _share(rows[0]) if rows else None

    async def count(self, reader: Reader, account_id: int) -> int:
        return int((await self._rows(reader, "count", account_id=account_id))[0][0])

    async def page(self, before: tuple[int, str], limit: int) -> Sequence[Share]:
        """Of all accounts: the newest before this time and id."""
        created_at, share_id = before
        values = {"created_at": created_at, "share_id": share_id, "limit": limit}
        return [_share(row) for row in await self._read("page", **values)]

    async def insert(self, transaction: Transaction, share: Share) -> bool:
        """False if the address is taken."""
        return bool(await self._rows(transaction, "insert", **_values(share)))

    async def claim(self, transaction: Transaction, share: Share) -> bool:
        """Holds a new address of a share until the transaction ends. False if it is taken.

        An update alone would fail if two shares got the same address at the same time.
        """
        held = msgspec.structs.replace(share, share_id=f"{share.share_id} claim")
        is_free = await self.insert(transaction, held)
        await self.delete(transaction, held.account_id, held.share_id)
        return is_free

    async def update(self, transaction: Transaction, share: Share) -> None:
        await self._run(transaction, "update", **_values(share))

    async def stop(
        self, transaction: Transaction, share_id: str, now: int, *, is_stopped: bool
    ) -> tuple[int, Choices] | None:
        """The account and the choices of the share; None if there is none with this id."""
        values = {"share_id": share_id, "is_stopped": is_stopped, "now": now}
        rows = await self._rows(transaction, "stop", **values)
        return (rows[0][0], _choices(rows[0][1])) if rows else None

    async def delete(self, transaction: Transaction, account_id: int, share_id: str) -> None:
        await self._run(transaction, "delete", account_id=account_id, share_id=share_id)

    async def end(
        self, transaction: Transaction, account_id: int, kind: Shared, target: str
    ) -> None:
        """Ends the sharing of what is being deleted."""
        await self._run(transaction, "end", account_id=account_id, kind=kind, target=target)


def _values(share: Share) -> dict[str, Any]:
    choices = msgspec.json.encode(share.choices).decode()
    return {**msgspec.structs.asdict(share), "choices": choices}


def _share(row: Row) -> Share:
    share_id, account_id, address, audience, kind, target, is_on, is_stopped, *rest = row
    ends_at, choices, revision, created_at, updated_at = rest
    return Share(
        share_id=share_id,
        account_id=account_id,
        address=address,
        audience=Audience(audience),
        kind=Shared(kind),
        target=target,
        is_on=bool(is_on),
        is_stopped=bool(is_stopped),
        ends_at=ends_at,
        choices=_choices(choices),
        revision=revision,
        created_at=created_at,
        updated_at=updated_at,
    )
