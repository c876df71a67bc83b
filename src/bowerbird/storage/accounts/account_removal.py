"""Removes an account and every row it has, in transactions that hold nobody up.

The library's row and the keys go first, so that nobody reads half an account; the person goes
last, so that a removal that was interrupted is found by its address and finished.
"""

from typing import Any, Final

from bowerbird.storage.database import Database, Transaction
from bowerbird.storage.places import LAST_NUMBER, place_of

_HIDING: Final = (
    "delete_keys",
    "delete_calls",
    "delete_version_uses",
    "delete_sunset_notices",
    "delete_digest_preference",
    "delete_library",
)
_PLACED: Final = ("delete_words", "delete_contents")
_BOOKMARKS: Final = (*_PLACED, "delete_vectors", "delete_attachments", "delete_bookmarks")
_BESIDE: Final = ("some_trash", "some_answers", "some_jobs", "some_digests")
# Keys, calls and uses once more: a server may have written what it had counted meanwhile.
_REST: Final = (
    *_BOOKMARKS,
    "delete_trash",
    "delete_answers",
    "delete_jobs",
    "delete_views",
    "delete_digests",
    "delete_labels",
    "delete_vector_stores",
    *_HIDING,
    "give_back_local_number",
    "delete_person",
)


class AccountRemoval:
    def __init__(self, database: Database, account_id: int) -> None:
        self._database = database
        self._sql = database.queries("account_removal")
        self._account_id = account_id

    async def count(self) -> int:
        """How many bookmarks are left."""
        values = {"account_id": self._account_id}
        rows = await self._database.slow_rows(self._sql["count"], values)
        return int(rows[0][0])

    async def hide(self) -> None:
        async def work(transaction: Transaction) -> None:
            await transaction.run(self._sql["overwrite_what_goes"], {})
            await self._run(transaction, _HIDING, {"account_id": self._account_id})

        await self._database.write(work)

    async def step(self, limit: int) -> int:
        """Removes up to `limit` bookmarks; returns how many there were."""

        async def work(transaction: Transaction) -> int:
            values = {"account_id": self._account_id, "limit": limit}
            rows = await transaction.rows(self._sql["first_bookmarks"], values)
            if rows:
                await self._remove(transaction, _BOOKMARKS, rows[-1][0])
            return len(rows)

        return await self._database.write(work)

    async def step_beside(self, limit: int) -> bool:
        """Removes up to `limit` rows of each kind that bookmarks leave behind; False at the end."""

        async def work(transaction: Transaction) -> bool:
            values = {"account_id": self._account_id, "limit": limit}
            return any([await transaction.rows(self._sql[name], values) for name in _BESIDE])

        return await self._database.write(work)

    async def finish(self) -> None:
        async def work(transaction: Transaction) -> None:
            await self._remove(transaction, _REST, LAST_NUMBER)

        await self._database.write(work)

    async def forget_words(self) -> bool:
        """Takes deleted words out of the index's old parts, a step at a time; False at the end."""

        async def work(transaction: Transaction) -> bool:
            before = await transaction.rows(self._sql["changes"], {})
            await transaction.run(self._sql["merge_words"], {})
            after = await transaction.rows(self._sql["changes"], {})
            return bool(after[0][0] - before[0][0] > 1)

        return await self._database.write(work)

    async def begin_to_forget_words(self) -> None:
        async def work(transaction: Transaction) -> None:
            await transaction.run(self._sql["begin_merge_of_words"], {})

        await self._database.write(work)

    async def _remove(self, transaction: Transaction, names: tuple[str, ...], last: int) -> None:
        values: dict[str, Any] = {"account_id": self._account_id, "last": last}
        rows = await transaction.rows(self._sql["local_number"], values)
        if rows:
            values["place"] = place_of(rows[0][0])
        else:
            # Where these lie is not known any more; `check` finds them as nobody's.
            names = tuple(name for name in names if name not in _PLACED)
        await self._run(transaction, names, values)

    async def _run(
        self, transaction: Transaction, names: tuple[str, ...], values: dict[str, Any]
    ) -> None:
        for name in names:
            await transaction.run(self._sql[name], values)
