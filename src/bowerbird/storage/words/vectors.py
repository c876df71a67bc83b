"""Reads and writes the vectors of posts, and the build progress of each account."""

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

import msgspec
from msgspec import Struct

from bowerbird.model.accounts import Account, Plan
from bowerbird.model.words import (
    BUILD,
    ListedVectorStore,
    NewVector,
    UnembeddedPost,
    VectorStoreState,
)
from bowerbird.storage.database import Reader, Row, Store, Transaction, place_values

_NO_MODEL: Final = b""
# Of a stale vector.
_NO_HASH: Final = b""


class BuildProgress(Struct, frozen=True):
    """Every bookmark below a number has a vector, unless one became stale since then."""

    complete_below: int
    seen_invalidations: int


# The identities of the first and the second model; empty for a model that was not built.
CurrentModels = tuple[bytes, bytes]


class AccountToBuild(NamedTuple):
    """An account, and how many of its posts lack a vector of the first and of the second model."""

    account_id: int
    missing: int
    missing_second: int


class VectorPart(NamedTuple):
    """The vectors of some posts in one value, up to the row with this `written` and `number`."""

    written: int
    number: int
    posts: int
    content: bytes


class VectorStore(Store):
    resource = "vectors"

    async def stores(self, account_id: int, reader: Reader | None = None) -> list[VectorStoreState]:
        """One store per model."""
        rows = await (reader or self._database).rows(
            self._sql["stores"], {"account_id": account_id}
        )
        return [_state(row) for row in rows]

    async def page(self, after: tuple[int, bytes], limit: int) -> list[ListedVectorStore]:
        """The stores of all accounts after the given account and model."""
        account_id, model = after
        rows = await self._read("page", account_id=account_id, model=model, limit=limit)
        return [ListedVectorStore(*row) for row in rows]

    async def create(self, account_id: int, model: bytes, name: str, now: int) -> None:
        await self._write(
            "insert_store", None, account_id=account_id, model=model, name=name, now=now
        )

    async def missing(
        self, account: Account, model: bytes, first: int, limit: int
    ) -> list[UnembeddedPost]:
        """Bookmarks without a vector or with a stale one, by number, from `first` on."""
        values = {"model": model, "first": first, "limit": limit, **place_values(account)}
        rows = await self._read_slowly("missing", **values)
        return [UnembeddedPost(*row) for row in rows]

    async def posts(self, account: Account, first: int, limit: int) -> list[UnembeddedPost]:
        """All bookmarks, by number, from `first` on."""
        return await self.missing(account, _NO_MODEL, first, limit)

    async def mark_examined(self, account_id: int, store: VectorStoreState, below: int) -> None:
        """Records that the language of every bookmark below a number is known."""
        values = {"account_id": account_id, "model": store.model, "below": below}
        await self._write("mark_examined", None, **values, seen_invalidations=store.invalidations)

    async def put(
        self,
        transaction: Transaction,
        account_id: int,
        store: VectorStoreState,
        vectors: Sequence[NewVector],
        progress: BuildProgress,
    ) -> bool | None:
        """Writes the vectors whose bookmark has not changed since it was read.

        Returns False if some had changed, and None if the store is gone. The caller has locked
        the library.
        """
        values: dict[str, Any] = {"account_id": account_id, "model": store.model}
        numbers = [vector.number for vector in vectors]
        bookmarks = await transaction.rows(self._sql["bookmarks"], {**values, "numbers": numbers})
        hashes = {number: hash for number, hash, _ in bookmarks}
        embedded = {number for number, _, has_vector in bookmarks if has_vector}
        current = [v for v in vectors if hashes.get(v.number) == v.content_hash]
        stores = {stored.model: stored for stored in await self.stores(account_id, transaction)}
        if store.model not in stores:
            return None
        generation = stores[store.model].generation + 1
        await transaction.run_many(
            self._sql["put_vector"],
            [_row(values, vector, generation) for vector in current],
        )
        # A bookmark deleted since it was read needs no vector; a changed one still does.
        is_complete = all(v.number not in hashes or v in current for v in vectors)
        below = progress.complete_below if is_complete else stores[store.model].complete_below
        update = {
            **values,
            "added": sum(vector.number not in embedded for vector in current),
            "generation": generation,
            "dimensions": store.dimensions,
            "complete_below": below,
            "seen_invalidations": progress.seen_invalidations,
        }
        await transaction.run(self._sql["update_after_write"], update)
        return is_complete

    async def mark_built(self, account_id: int, model: bytes) -> None:
        """Does nothing as long as a bookmark has no vector."""
        await self._write("mark_built", None, account_id=account_id, model=model)

    async def rows_since(
        self, account_id: int, model: bytes, after: tuple[int, int], limit: int
    ) -> Sequence[Row]:
        """(number, scales, vectors, written) of the rows after the given (written, number)."""
        written, number = after
        values = {"account_id": account_id, "model": model, "written": written, "number": number}
        return await self._database.slow_rows(self._sql["rows_since"], {**values, "limit": limit})

    async def parts(
        self, account_id: int, model: bytes, after: tuple[int, int], limit: int
    ) -> Sequence[Row]:
        """(written, number, content) of the parts after the given (written, number)."""
        written, number = after
        values = {"account_id": account_id, "model": model, "written": written, "number": number}
        return await self._database.slow_rows(self._sql["parts"], {**values, "limit": limit})

    async def part_ends(self, account_id: int, model: bytes) -> Sequence[Row]:
        """(written, number, posts) of each part, in their order."""
        return await self._read_slowly("part_ends", account_id=account_id, model=model)

    async def count_between(
        self, account_id: int, model: bytes, after: tuple[int, int], last: tuple[int, int]
    ) -> int:
        """How many rows are after one (written, number), up to another."""
        values = {"account_id": account_id, "model": model, "written": after[0]}
        values |= {"number": after[1], "last_written": last[0], "last_number": last[1]}
        rows = await self._database.slow_rows(self._sql["count_between"], values)
        count: int = rows[0][0]
        return count

    async def put_part(
        self, transaction: Transaction, account_id: int, model: bytes, part: VectorPart
    ) -> None:
        """Stores the vectors of some rows together. The caller has locked the library."""
        values = {"account_id": account_id, "model": model, **part._asdict()}
        await transaction.run(self._sql["put_part"], values)

    async def number_text(self, account_id: int, model: bytes) -> str | None:
        """The numbers of all bookmarks that have a vector, separated by commas."""
        rows = await self._read_slowly("number_text", account_id=account_id, model=model)
        text: str | None = rows[0][0]
        return text

    async def text_hashes(
        self, transaction: Transaction, account_id: int, numbers: Sequence[int]
    ) -> Sequence[Row]:
        """(number, model, text hash) for each vector of the bookmarks that is not stale."""
        return await self._rows(transaction, "text_hashes", account_id=account_id, numbers=numbers)

    async def mark_stale(
        self, transaction: Transaction, account_id: int, stale: Mapping[bytes, Sequence[int]]
    ) -> None:
        """The bookmarks per model whose vectors the next build replaces. Until then they serve.

        Their vectors are among `text_hashes`, so none of them is stale yet.
        """
        for model, numbers in stale.items():
            values = {"account_id": account_id, "model": model}
            rows = [{**values, "number": number, "no_hash": _NO_HASH} for number in numbers]
            await transaction.run_many(self._sql["mark_stale"], rows)
            update = {**values, "count": len(numbers), "lowest": min(numbers)}
            await transaction.run(self._sql["update_after_stale"], update)

    async def number_of(self, account_id: int, post_id: str) -> int | None:
        rows = await self._read("number_of", account_id=account_id, post_id=post_id)
        return rows[0][0] if rows else None

    async def accounts_to_build(
        self, models: CurrentModels, after: int, limit: int
    ) -> Sequence[AccountToBuild]:
        """Paid accounts that need a build, by account."""
        values = {**_current(models), "has_second": int(models[1] != _NO_MODEL)}
        values |= {"after": after, "limit": limit, "plan": Plan.PRO.value}
        rows = await self._database.slow_rows(self._sql["accounts_to_build"], values)
        return [AccountToBuild(*row) for row in rows]

    async def build_error(self, account_id: int, reader: Reader | None = None) -> str | None:
        """Why the last build failed, in whichever process it ran."""
        values = {"account_id": account_id, "kind": BUILD}
        rows = await (reader or self._database).rows(self._sql["build_error"], values)
        error: str | None = rows[0][0] if rows else None
        return error

    async def update_unpaid_since(self, now: int) -> None:
        """Records which stores lost or regained their paid plan since the last call."""
        await self._write("update_unpaid_since", None, now=now, plan=Plan.PRO.value)

    async def expired(
        self, models: CurrentModels, unpaid_before: int, limit: int
    ) -> Sequence[tuple[int, bytes]]:
        values: dict[str, Any] = {**_current(models), "unpaid_before": unpaid_before}
        values |= {"plan": Plan.PRO.value, "limit": limit}
        rows = await self._database.slow_rows(self._sql["expired"], values)
        return [(account_id, expired) for account_id, expired in rows]

    async def is_expired(
        self,
        transaction: Transaction,
        account_id: int,
        store: bytes,
        models: CurrentModels,
        before: int,
    ) -> bool:
        """Checks one store. The caller has locked the library."""
        values = {**_current(models), "unpaid_before": before, "plan": Plan.PRO.value}
        rows = await transaction.rows(
            self._sql["is_expired"], {**values, "account_id": account_id, "store": store}
        )
        return bool(rows)

    async def remove_some(
        self, transaction: Transaction, account_id: int, model: bytes, limit: int
    ) -> int:
        """Removes up to `limit` vectors of a store, and the store with the last of them.

        The caller has locked the library.
        """
        values = {"account_id": account_id, "model": model}
        rows = await transaction.rows(self._sql["delete_some_vectors"], {**values, "limit": limit})
        counted = sum(is_counted for (is_counted,) in rows)
        await transaction.run(self._sql["update_after_removal"], {**values, "count": counted})
        await transaction.run(self._sql["delete_parts"], values)
        await transaction.run(self._sql["delete_empty_store"], values)
        return len(rows)


def _current(models: CurrentModels) -> dict[str, Any]:
    return {"model": models[0], "second": models[1]}


def _state(row: Row) -> VectorStoreState:
    state = VectorStoreState(*row)
    # SQLite stores booleans as 0 and 1.
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
