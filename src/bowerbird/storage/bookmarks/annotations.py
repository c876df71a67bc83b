"""Stores what changes of notes and highlights replaced, and which notes are not indexed yet."""

from collections.abc import Sequence
from typing import Final

import msgspec

from bowerbird.model.accounts import Account
from bowerbird.storage.database import Reader, Store, Transaction, place_values

# A prime. It times the number of a bookmark, which has 40 bits, fits into 63.
_MODULUS: Final = 1_000_003
_numbers: Final = msgspec.json.Decoder(list[int]).decode


class AnnotationStore(Store):
    resource = "annotations"

    async def highlight_count(self, account: Account) -> int:
        """How many passages all posts have together."""
        values = {"account_id": account.account_id, **place_values(account)}
        rows = await self._read_slowly("highlight_count", **values)
        return int(rows[0][0])

    async def not_again(self, reader: Reader, account_id: int) -> list[int]:
        """The numbers of the posts that are not shown again as the one of a day."""
        rows = await self._rows(reader, "not_again", account_id=account_id)
        return _numbers(rows[0][0]) if rows else []

    async def set_not_again(
        self, transaction: Transaction, account_id: int, numbers: Sequence[int]
    ) -> None:
        values = {"account_id": account_id, "numbers": msgspec.json.encode(numbers).decode()}
        await self._run(transaction, "set_not_again", **values)

    async def in_order_of_day(self, account: Account, day: int, limit: int) -> Sequence[int]:
        """The numbers of posts that may have a note or highlights, and may be shown again.

        `day`: a random number; each one gives another order.
        """
        left_out = await self.not_again(self._database, account.account_id)
        values = {
            "account_id": account.account_id,
            **place_values(account),
            "factor": 1 + day % (_MODULUS - 1),
            "shift": day // _MODULUS % _MODULUS,
            "modulus": _MODULUS,
            "limit": limit,
            "not_again": left_out,
        }
        return [row[0] for row in await self._read_slowly("in_order_of_day", **values)]

    async def accounts_to_index(self, limit: int) -> Sequence[int]:
        return [row[0] for row in await self._read_slowly("accounts_to_index", limit=limit)]

    async def first_to_index(
        self, transaction: Transaction, account_id: int, limit: int
    ) -> Sequence[int]:
        """The numbers of bookmarks whose notes are not indexed."""
        rows = await self._rows(transaction, "first_to_index", account_id=account_id, limit=limit)
        return [row[0] for row in rows]

    async def delete_indexed(self, transaction: Transaction, account_id: int, last: int) -> None:
        await self._run(transaction, "delete_indexed", account_id=account_id, last=last)
