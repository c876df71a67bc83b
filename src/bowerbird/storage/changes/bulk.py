"""Stores changes of many posts: their progress, the posts that are left, and what they changed."""

import zlib
from collections.abc import Iterable, Sequence
from typing import Any, Final, NamedTuple

import msgspec

from bowerbird.model.bulk import (
    BulkAction,
    BulkRow,
    BulkState,
    Changed,
    ChangedLabel,
    PostField,
    Recorded,
    labels_of,
    labels_text,
    owner_of,
)
from bowerbird.storage.database import Database, Reader, Row, Transaction

_SEPARATOR: Final = ","
_FIRST_PART: Final = 1
_MANY: Final = 100
# No label and no `PostField` has it.
_NO_FIELD: Final = -100


class Kept(NamedTuple):
    """How many rows are kept for the undo of a change, and until when."""

    number: int
    rows: int
    undo_until: int
    is_finished: bool


class BulkStore:
    def __init__(self, database: Database) -> None:
        self._database = database
        self._sql = database.queries("bulk")

    async def next_number(self, transaction: Transaction, account_id: int) -> int:
        rows = await transaction.rows(self._sql["next_number"], {"account_id": account_id})
        return int(rows[0][0])

    async def count_unfinished(self, transaction: Transaction, account_id: int) -> int:
        """How many changes a job works on."""
        return len(await transaction.rows(self._sql["unfinished"], {"account_id": account_id}))

    async def insert(self, transaction: Transaction, account_id: int, row: BulkRow) -> None:
        await transaction.run(self._sql["insert"], _values(account_id, row))

    async def update(self, transaction: Transaction, account_id: int, row: BulkRow) -> None:
        await transaction.run(self._sql["update"], _values(account_id, row))

    async def by_id(self, reader: Reader, account_id: int, change_id: str) -> BulkRow | None:
        values = {"account_id": account_id, "change_id": change_id}
        rows = await reader.rows(self._sql["by_id"], values)
        return _row(rows[0]) if rows else None

    async def recent(
        self, account_id: int, *, now: int, before: int, limit: int, action: str = ""
    ) -> list[BulkRow]:
        """The latest changes with lower numbers, the latest first: all, or of one action."""
        values: dict[str, Any] = {"account_id": account_id, "now": now, "before": before}
        values |= {"limit": limit, "action": action}
        rows = await self._database.rows(self._sql["recent"], values)
        return [_row(row) for row in rows]

    async def count_recent(self, account_id: int, now: int) -> int:
        values = {"account_id": account_id, "now": now}
        return int((await self._database.rows(self._sql["count_recent"], values))[0][0])

    async def next_position(self, transaction: Transaction, account_id: int) -> int:
        rows = await transaction.rows(self._sql["next_position"], {"account_id": account_id})
        return int(rows[0][0])

    async def first_open(
        self, transaction: Transaction, account_id: int, *, besides: int
    ) -> BulkRow | None:
        """The first change or undo that a job works on, besides the change of this number."""
        values = {"account_id": account_id, "besides": besides}
        rows = await transaction.rows(self._sql["first_open"], values)
        return _row(rows[0]) if rows else None

    async def ending_labels(self, transaction: Transaction, account_id: int) -> dict[int, int]:
        """The labels that changes are about to delete, each with the number of its change."""
        found = await self._ending(transaction, account_id)
        return {label.label_id: number for number, label in found}

    async def keep_label(self, transaction: Transaction, account_id: int, label_id: int) -> None:
        """Another request wants this label: a change that is about to delete it leaves it."""
        for number, label in await self._ending(transaction, account_id):
            if label.label_id == label_id:
                kept = labels_text([msgspec.structs.replace(label, is_kept=True)])
                values = {"account_id": account_id, "number": number, "label": kept}
                await transaction.run(self._sql["set_label"], values)

    async def _ending(
        self, transaction: Transaction, account_id: int
    ) -> list[tuple[int, ChangedLabel]]:
        rows = await transaction.rows(self._sql["ending_labels"], {"account_id": account_id})
        return [(number, label) for number, text in rows for label in labels_of(text)]

    async def add_parts(
        self, transaction: Transaction, account_id: int, change: int, parts: Sequence[bytes]
    ) -> None:
        rows = [
            {"account_id": account_id, "change": change, "part": part, "posts": posts}
            for part, posts in enumerate(parts, _FIRST_PART)
        ]
        await transaction.run_many(self._sql["add_part"], rows)

    async def first_part(
        self, reader: Reader, account_id: int, change: int
    ) -> tuple[int, list[str]] | None:
        """The number of the first part that is left, and its posts."""
        values = {"account_id": account_id, "change": change}
        rows = await reader.rows(self._sql["first_part"], values)
        return (rows[0][0], unpacked(rows[0][1])) if rows else None

    async def shorten_part(
        self,
        transaction: Transaction,
        account_id: int,
        change: int,
        part: int,
        post_ids: Sequence[str],
    ) -> None:
        """Leaves these posts of a part, or removes it if there are none."""
        values = {"account_id": account_id, "change": change, "part": part}
        if post_ids:
            await transaction.run(self._sql["add_part"], {**values, "posts": packed(post_ids)})
        else:
            await transaction.run(self._sql["delete_part"], values)

    async def delete_parts(self, transaction: Transaction, account_id: int, change: int) -> None:
        values = {"account_id": account_id, "change": change}
        await transaction.run(self._sql["delete_parts"], values)

    async def record(
        self,
        transaction: Transaction,
        account_id: int,
        change: int,
        changed: Sequence[Changed],
        version: int,
    ) -> None:
        """Keeps what a change did, so that it can be undone."""
        rows = [
            {
                "account_id": account_id,
                "change": change,
                "post_id": one.post_id,
                "field": one.field,
                "was_set": one.was_set,
                "version": version,
                "kept": one.kept,
            }
            # In the order in which they are stored.
            for one in sorted(changed, key=lambda each: each.post_id)
        ]
        await transaction.run_many(self._sql["record"], rows)

    async def record_named(
        self,
        transaction: Transaction,
        account_id: int,
        change: int,
        changed: Sequence[Changed],
        version: int,
    ) -> None:
        """`record` for a change without any rows yet: few statements for many posts."""
        if len(changed) < _MANY or any(one.kept is not None for one in changed):
            await self.record(transaction, account_id, change, changed, version)
            return
        posts: dict[tuple[int, bool], list[str]] = {}
        for one in changed:
            posts.setdefault((one.field, one.was_set), []).append(one.post_id)
        values = {"account_id": account_id, "change": change, "version": version}
        for (field, was_set), ids in posts.items():
            listed = sorted(ids)
            row = {**values, "field": field, "was_set": was_set, "post_ids": listed}
            await transaction.run(self._sql["record_posts"], row)

    async def first_posts(
        self, reader: Reader, account_id: int, change: int, limit: int
    ) -> list[Recorded]:
        values = {"account_id": account_id, "change": change, "limit": limit}
        rows = await reader.rows(self._sql["first_posts"], values)
        return [
            Recorded(Changed(post_id, field, bool(was_set), kept), version)
            for post_id, field, was_set, version, kept in rows
        ]

    async def latest(
        self, transaction: Transaction, account_id: int, post_ids: Sequence[str]
    ) -> dict[tuple[str, int], int]:
        """The version of the latest change that is recorded, by post and field."""
        values = {"account_id": account_id, "post_ids": post_ids}
        rows = await transaction.rows(self._sql["latest"], values)
        return {(post_id, field): version for post_id, field, version in rows}

    async def delete_posts(
        self, transaction: Transaction, account_id: int, change: int, last: str
    ) -> None:
        """Removes what is recorded of the posts up to this one."""
        values = {"account_id": account_id, "change": change, "last": last}
        await transaction.run(self._sql["delete_posts"], values)

    async def has_any(self, transaction: Transaction, account_id: int) -> bool:
        """Whether a change of the account is recorded. Otherwise no write has to look at them."""
        return bool(await transaction.rows(self._sql["has_any"], {"account_id": account_id}))

    async def take_over(
        self,
        transaction: Transaction,
        account_id: int,
        fields: Iterable[tuple[str, int]] = (),
        posts: Iterable[str] = (),
        *,
        last_change: int | None = None,
        is_recorded: bool = False,
    ) -> None:
        """Another write has set these fields, or created these posts: no undo touches them.

        A value is a field too, with its key in place of the post. `last_change`: that of the
        library, if it is known. `is_recorded`: the write keeps that it has created the posts, and
        once it is undone, a change that has moved them to the trash can be undone too.
        """
        owned = [
            {"account_id": account_id, "post_id": one, "field": field} for one, field in fields
        ]
        spared = PostField.TRASHED if is_recorded else _NO_FIELD
        created = [{"account_id": account_id, "post_id": one, "spared": spared} for one in posts]
        if last_change == 0 or not (owned or created):
            return
        if last_change is None and not await self.has_any(transaction, account_id):
            return
        await transaction.run_many(self._sql["take_over_field"], owned)
        await transaction.run_many(self._sql["take_over_post"], created)
        if created:
            await self._take_over_values(
                transaction, account_id, {one["post_id"] for one in created}
            )

    async def _take_over_values(
        self, transaction: Transaction, account_id: int, post_ids: set[Any]
    ) -> None:
        """The notes and highlights of posts that have others now, or none."""
        rows = await transaction.rows(self._sql["value_keys"], {"account_id": account_id})
        owned = [
            {"account_id": account_id, "post_id": key, "spared": _NO_FIELD}
            for (key,) in rows
            if owner_of(key) in post_ids
        ]
        await transaction.run_many(self._sql["take_over_post"], owned)

    async def claim(
        self,
        transaction: Transaction,
        account_id: int,
        labelled: Iterable[tuple[str, int]],
        version: int,
    ) -> None:
        """Another write has added these labels to posts.

        A change that is about to delete such a label leaves these posts alone, as if the label
        had been deleted before and created again.
        """
        pairs = list(labelled)
        ending = await self.ending_labels(transaction, account_id) if pairs else {}
        by_change: dict[int, list[Changed]] = {}
        for post_id, label_id in pairs:
            if label_id in ending:
                claimed = Changed(post_id, label_id, was_set=True)
                by_change.setdefault(ending[label_id], []).append(claimed)
        for number, claimed_posts in by_change.items():
            await self.record(transaction, account_id, number, claimed_posts, version)
            values = {"account_id": account_id, "number": number, "removed": -len(claimed_posts)}
            await transaction.run(self._sql["lower_kept"], values)

    async def recorded(
        self,
        transaction: Transaction,
        account_id: int,
        change: int,
        field: int,
        post_ids: Sequence[str],
    ) -> set[str]:
        """The posts, among the given ones, for which the change has a row of this field."""
        values = {"account_id": account_id, "change": change, "field": field}
        rows = await transaction.rows(self._sql["recorded"], {**values, "post_ids": post_ids})
        return {row[0] for row in rows}

    async def kept(self, transaction: Transaction, account_id: int) -> list[Kept]:
        """All changes of the account, the oldest first."""
        rows = await transaction.rows(self._sql["kept"], {"account_id": account_id})
        return [Kept(*row) for row in rows]

    async def remove(self, transaction: Transaction, account_id: int, number: int) -> None:
        """Removes the row of a change alone."""
        values = {"account_id": account_id, "number": number}
        await transaction.run(self._sql["delete"], values)

    async def remove_up_to(self, transaction: Transaction, account_id: int, number: int) -> None:
        """Removes all changes up to this one. They must be finished."""
        values = {"account_id": account_id, "number": number}
        await transaction.run(self._sql["delete_posts_up_to"], values)
        await transaction.run(self._sql["delete_up_to"], values)

    async def expire(self, transaction: Transaction, account_id: int, number: int) -> None:
        values = {"account_id": account_id, "number": number}
        await transaction.run(self._sql["expire"], values)

    async def sweep(
        self,
        transaction: Transaction,
        account_id: int,
        *,
        now: int,
        stopped_before: int,
        most: int,
    ) -> int:
        """Removes some rows of changes that cannot be undone any more, or have stopped."""
        values = {"account_id": account_id, "now": now, "stopped_before": stopped_before}
        rows = await transaction.rows(self._sql["expired"], {**values, "limit": most})
        removed = 0
        for (number,) in rows:
            if removed < most:
                left = most - removed
                removed += await self.remove_first(transaction, account_id, number, left)
        return removed

    async def remove_first(
        self, transaction: Transaction, account_id: int, number: int, most: int
    ) -> int:
        """Removes the first rows of a change, and the change itself with the last of them.

        Returns how many rows were removed. Earlier changes that are still kept lose their rows of
        the same fields: their undo must not touch what this change has set.
        """
        first = await self.first_posts(transaction, account_id, number, most)
        values: dict[str, Any] = {"account_id": account_id, "number": number}
        rows = [
            {**values, "post_id": post_id, "field": field, "version": one.version}
            for one in first
            for post_id, field in [(one.change.post_id, one.change.field)]
        ]
        await transaction.run_many(self._sql["forget"], rows)
        if len(first) < most:
            await self.delete_parts(transaction, account_id, number)
            await transaction.run(self._sql["delete"], values)
            return len(first) + 1
        await transaction.run(self._sql["lower_kept"], {**values, "removed": len(first)})
        return len(first)


def packed(post_ids: Sequence[str]) -> bytes:
    return zlib.compress(_SEPARATOR.join(post_ids).encode(), 1)


def unpacked(data: bytes) -> list[str]:
    return zlib.decompress(data).decode().split(_SEPARATOR)


def _row(row: Row) -> BulkRow:
    number, change_id, action, label, state, *others = row
    return BulkRow(
        number, change_id, BulkAction(action), labels_of(label), BulkState(state), *others
    )


def _values(account_id: int, row: BulkRow) -> dict[str, Any]:
    values = msgspec.structs.asdict(row)
    values["label"] = labels_text(values.pop("labels"))
    values |= {"action": row.action.value, "state": row.state.value}
    return {**values, "account_id": account_id}
