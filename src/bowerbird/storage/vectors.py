"""Reads and writes the vectors of posts, and the state of each account's build."""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from msgspec import Struct

from bowerbird.model.accounts import Account, Plan
from bowerbird.model.vectors import BUILD, NewVector, UnembeddedPost, VectorStoreState
from bowerbird.storage.database import Database, Reader, Row, Transaction
from bowerbird.storage.places import place_values


class Progress(Struct, frozen=True):
    """The progress of a build: complete below a number, unless a vector became stale since."""

    complete_below: int
    seen_invalidations: int


class VectorStore:
    def __init__(self, database: Database) -> None:
        self._database = database
        self._sql = database.queries("vectors")

    async def stores(self, account_id: int) -> list[VectorStoreState]:
        """One per model."""
        return await self._stores(self._database, account_id)

    async def stores_within(
        self, transaction: Transaction, account_id: int
    ) -> list[VectorStoreState]:
        return await self._stores(transaction, account_id)

    async def _stores(self, reader: Reader, account_id: int) -> list[VectorStoreState]:
        rows = await reader.rows(self._sql["stores"], {"account_id": account_id})
        return [_state(row) for row in rows]

    async def make(self, account_id: int, model: bytes, name: str, now: int) -> None:
        sql = self._sql["make_store"].format(bytes=self._sql["bytes"])
        values = {"account_id": account_id, "model": model, "name": name, "now": now}
        await self._run(sql, values)

    async def missing(
        self, account: Account, model: bytes, first: int, limit: int
    ) -> list[UnembeddedPost]:
        """Posts without a vector, by number, starting at `first`."""
        values = {"account_id": account.account_id, "model": model, "first": first, "limit": limit}
        rows = await self._database.slow_rows(
            self._sql["missing"], {**values, **place_values(account)}
        )
        return [UnembeddedPost(*row) for row in rows]

    async def put(
        self,
        transaction: Transaction,
        account_id: int,
        store: VectorStoreState,
        made: Sequence[NewVector],
        progress: Progress,
    ) -> bool | None:
        """Writes the vectors whose bookmark is unchanged.

        False if a bookmark has changed, None if the store is gone. The caller has locked the
        library.
        """
        values: dict[str, Any] = {"account_id": account_id, "model": store.model}
        listed = self._database.number_list([vector.number for vector in made])
        standing = await transaction.rows(self._sql["standing"], {**values, "numbers": listed})
        hashes = {number: hash for number, hash, _ in standing}
        known = {number for number, _, has_vector in standing if has_vector}
        fitting = [vector for vector in made if hashes.get(vector.number) == vector.content_hash]
        now = {held.model: held for held in await self.stores_within(transaction, account_id)}
        if store.model not in now:
            return None
        generation = now[store.model].generation + 1
        await transaction.run_many(
            self._sql["put_vector"],
            [_row(values, vector, generation) for vector in fitting],
        )
        # A bookmark deleted since needs no vector; a changed one does.
        is_whole = all(v.number not in hashes or v in fitting for v in made)
        below = progress.complete_below if is_whole else now[store.model].complete_below
        note = {
            **values,
            "added": sum(vector.number not in known for vector in fitting),
            "generation": generation,
            "dimensions": store.dimensions,
            "complete_below": below,
            "seen_invalidations": progress.seen_invalidations,
        }
        await transaction.run(self._sql["note_written"], note)
        return is_whole

    async def note_built(self, account_id: int, model: bytes) -> None:
        """Does nothing while any bookmark has no vector."""
        await self._run(self._sql["note_built"], {"account_id": account_id, "model": model})

    async def rows_since(
        self, account_id: int, model: bytes, after: tuple[int, int], limit: int
    ) -> Sequence[Row]:
        """(number, scales, vectors, written), after the given (written, number)."""
        written, number = after
        values = {"account_id": account_id, "model": model, "written": written, "number": number}
        return await self._database.slow_rows(self._sql["rows_since"], {**values, "limit": limit})

    async def number_text(self, account_id: int, model: bytes) -> str | None:
        """The numbers of all bookmarks that have a vector, separated by commas."""
        values = {"account_id": account_id, "model": model}
        rows = await self._database.slow_rows(self._sql["number_text"], values)
        text: str | None = rows[0][0]
        return text

    async def held(
        self, transaction: Transaction, account_id: int, numbers: Sequence[int]
    ) -> Sequence[Row]:
        """(number, model, text hash) of the given bookmarks that have vectors."""
        values = {"account_id": account_id, "numbers": self._database.number_list(numbers)}
        return await transaction.rows(self._sql["held"], values)

    async def drop_stale(
        self, transaction: Transaction, account_id: int, stale: Mapping[bytes, Sequence[int]]
    ) -> None:
        """Deletes the vectors of these bookmarks, by model; a build creates them again."""
        for model, numbers in stale.items():
            values = {"account_id": account_id, "model": model}
            rows = [{**values, "number": number} for number in numbers]
            await transaction.run_many(self._sql["drop_vector"], rows)
            note = {**values, "count": len(numbers), "lowest": min(numbers)}
            await transaction.run(self._sql["note_stale"], note)

    async def number_of(self, account_id: int, post_id: str) -> int | None:
        values = {"account_id": account_id, "post_id": post_id}
        rows = await self._database.rows(self._sql["number_of"], values)
        return rows[0][0] if rows else None

    async def waiting(self, model: bytes, after: int, limit: int) -> Sequence[tuple[int, int]]:
        """Paid accounts that need a build, by id, and how many posts each has to embed."""
        values = {"model": model, "after": after, "limit": limit, "plan": Plan.PRO.value}
        rows = await self._database.slow_rows(self._sql["waiting"], values)
        return [(account_id, count) for account_id, count in rows]

    async def build_error(self, account_id: int) -> str | None:
        """Why the last build failed, whichever process ran it."""
        return await self._build_error(self._database, account_id)

    async def build_error_within(self, transaction: Transaction, account_id: int) -> str | None:
        return await self._build_error(transaction, account_id)

    async def _build_error(self, reader: Reader, account_id: int) -> str | None:
        values = {"account_id": account_id, "kind": BUILD}
        rows = await reader.rows(self._sql["build_error"], values)
        error: str | None = rows[0][0] if rows else None
        return error

    async def note_paid(self, now: int) -> None:
        """Records which stores lost or regained their paid plan since the last call."""
        await self._run(self._sql["note_paid"], {"now": now, "plan": Plan.PRO.value})

    async def outlived(
        self, model: bytes, unpaid_before: int, limit: int
    ) -> Sequence[tuple[int, bytes]]:
        values: dict[str, Any] = {"model": model, "unpaid_before": unpaid_before}
        values |= {"plan": Plan.PRO.value, "limit": limit}
        rows = await self._database.slow_rows(self._outlived("outlived"), values)
        return [(account_id, held) for account_id, held in rows]

    async def is_outlived(
        self, transaction: Transaction, account_id: int, held: bytes, model: bytes, before: int
    ) -> bool:
        """For one store. The transaction has locked the library."""
        values = {"model": model, "unpaid_before": before, "plan": Plan.PRO.value}
        rows = await transaction.rows(
            self._outlived("is_outlived"), {**values, "account_id": account_id, "held": held}
        )
        return bool(rows)

    async def remove_some(
        self, transaction: Transaction, account_id: int, model: bytes, most: int
    ) -> int:
        """Removes up to `most` vectors of a store, and the store with the last of them.

        The caller has locked the library.
        """
        values = {"account_id": account_id, "model": model}
        rows = await transaction.rows(self._sql["some_vectors"], {**values, "most": most})
        await transaction.run(self._sql["note_removed"], {**values, "count": len(rows)})
        await transaction.run(self._sql["drop_store"], values)
        return len(rows)

    def _outlived(self, name: str) -> str:
        return self._sql[name].format(condition=self._sql["outlived_condition"])

    async def _run(self, sql: str, values: dict[str, Any]) -> None:
        async def work(transaction: Transaction) -> None:
            await transaction.run(sql, values)

        await self._database.write(work)


def _state(row: Row) -> VectorStoreState:
    state = VectorStoreState(*row)
    # SQLite has no booleans.
    return msgspec.structs.replace(state, is_built=bool(state.is_built))


def _row(values: dict[str, Any], vector: NewVector, generation: int) -> dict[str, Any]:
    return {
        **values,
        "number": vector.number,
        "text_hash": vector.text_hash,
        "written": generation,
        "scales": vector.scales,
        "vectors": vector.vectors,
    }
