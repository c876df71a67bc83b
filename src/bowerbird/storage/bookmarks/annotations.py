"""Stores what changes of notes and highlights replaced, and which notes are not indexed yet."""

from collections.abc import Sequence
from typing import Any, Final

import msgspec

from bowerbird.model.accounts import Account
from bowerbird.storage.database import Reader, Store, Transaction, place_values

# A prime. It times the number of a bookmark, which has 40 bits, fits into 63.
_MODULUS: Final = 1_000_003
_numbers: Final = msgspec.json.Decoder(list[int]).decode


class AnnotationStore(Store):
    resource = "annotations"

    async def put_replaced(
        self,
        transaction: Transaction,
        account_id: int,
        replaced: tuple[str, str, bytes],
        now: int,
        most: int,
    ) -> None:
        """`replaced`: the post, the annotation and its content. Keeps the latest `most`."""
        post_id, annotation_id, content = replaced
        values: dict[str, Any] = {"account_id": account_id}
        row = {"post_id": post_id, "annotation_id": annotation_id, "content": content}
        await self._run(transaction, "put_replaced", **values, **row, replaced_at=now)
        await self._run(transaction, "drop_oldest", **values, limit=most)

    async def take_replaced(
        self,
        transaction: Transaction,
        account_id: int,
        post_id: str,
        annotation_id: str,
        oldest: int,
    ) -> bytes | None:
        values = {"account_id": account_id, "post_id": post_id, "annotation_id": annotation_id}
        rows = await self._rows(transaction, "take_replaced", **values, oldest=oldest)
        return rows[0][0] if rows else None

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

    async def accounts_with_expired(self, before: int, limit: int) -> Sequence[int]:
        rows = await self._read_slowly("accounts_with_expired", before=before, limit=limit)
        return [row[0] for row in rows]

    async def delete_expired(self, transaction: Transaction, account_id: int, before: int) -> None:
        await self._run(transaction, "delete_expired", account_id=account_id, before=before)

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
