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
from bowerbird.storage.database import Readable, Row, Store
from bowerbird.storage.libraries import LockedLibrary

_SEPARATOR: Final = ","
_FIRST_PART: Final = 1
# No label and no `PostField` has it.
_NO_FIELD: Final = -100


class Kept(NamedTuple):
    """How many rows are kept for the undo of a change, and until when."""

    number: int
    rows: int
    undo_until: int
    is_finished: bool


class BulkStore(Store):
    resource = "bulk"

    async def next_number(self, library: LockedLibrary) -> int:
        rows = await self._of(library, "next_number")
        return int(rows[0][0])

    async def count_unfinished(self, library: LockedLibrary) -> int:
        """How many changes a job works on."""
        return len(await self._of(library, "unfinished"))

    async def insert(self, library: LockedLibrary, row: BulkRow) -> None:
        await self._do(library, "insert", **_values(row))

    async def update(self, library: LockedLibrary, row: BulkRow) -> None:
        await self._do(library, "update", **_values(row))

    async def by_id(self, library: Readable, change_id: str) -> BulkRow | None:
        rows = await self._of(library, "by_id", change_id=change_id)
        return _row(rows[0]) if rows else None

    async def recent(
        self, account_id: int, *, now: int, before: int, limit: int, action: str = ""
    ) -> list[BulkRow]:
        """The latest changes with lower numbers, the latest first: all, or of one action."""
        values: dict[str, Any] = {"account_id": account_id, "now": now, "before": before}
        values |= {"limit": limit, "action": action}
        rows = await self._read("recent", **values)
        return [_row(row) for row in rows]

    async def count_recent(self, account_id: int, now: int) -> int:
        return int((await self._read("count_recent", account_id=account_id, now=now))[0][0])

    async def next_position(self, library: LockedLibrary) -> int:
        rows = await self._of(library, "next_position")
        return int(rows[0][0])

    async def first_open(self, library: LockedLibrary, *, besides: int) -> BulkRow | None:
        """The first change or undo that a job works on, besides the change of this number."""
        rows = await self._of(library, "first_open", besides=besides)
        return _row(rows[0]) if rows else None

    async def ending_labels(self, library: LockedLibrary) -> dict[int, int]:
        """The labels that changes are about to delete, each with the number of its change."""
        found = await self._ending(library)
        return {label.label_id: number for number, label in found}

    async def keep_label(self, library: LockedLibrary, label_id: int) -> None:
        """Another request wants this label: a change that is about to delete it leaves it."""
        for number, label in await self._ending(library):
            if label.label_id == label_id:
                kept = labels_text([msgspec.structs.replace(label, is_kept=True)])
                await self._do(library, "set_label", number=number, label=kept)

    async def _ending(self, library: LockedLibrary) -> list[tuple[int, ChangedLabel]]:
        rows = await self._of(library, "ending_labels")
        return [(number, label) for number, text in rows for label in labels_of(text)]

    async def add_parts(self, library: LockedLibrary, change: int, parts: Sequence[bytes]) -> None:
        rows = [
            {"change": change, "part": part, "posts": posts}
            for part, posts in enumerate(parts, _FIRST_PART)
        ]
        await self._do_many(library, "add_part", rows)

    async def first_part(self, library: LockedLibrary, change: int) -> tuple[int, list[str]] | None:
        """The number of the first part that is left, and its posts."""
        rows = await self._of(library, "first_part", change=change)
        return (rows[0][0], unpacked(rows[0][1])) if rows else None

    async def shorten_part(
        self, library: LockedLibrary, change: int, part: int, post_ids: Sequence[str]
    ) -> None:
        """Leaves these posts of a part, or removes it if there are none."""
        values = {"change": change, "part": part}
        if post_ids:
            await self._do(library, "add_part", **values, posts=packed(post_ids))
        else:
            await self._do(library, "delete_part", **values)

    async def delete_parts(self, library: LockedLibrary, change: int) -> None:
        await self._do(library, "delete_parts", change=change)

    async def record(
        self, library: LockedLibrary, change: int, changed: Sequence[Changed], version: int
    ) -> None:
        """Keeps what a change did, so that it can be undone."""
        rows = [
            {
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
        await self._do_many(library, "record", rows)

    async def first_posts(self, library: LockedLibrary, change: int, limit: int) -> list[Recorded]:
        rows = await self._of(library, "first_posts", change=change, limit=limit)
        return [
            Recorded(Changed(post_id, field, bool(was_set), kept), version)
            for post_id, field, was_set, version, kept in rows
        ]

    async def latest(
        self, library: LockedLibrary, post_ids: Sequence[str]
    ) -> dict[tuple[str, int], int]:
        """The version of the latest change that is recorded, by post and field."""
        rows = await self._of(library, "latest", post_ids=post_ids)
        return {(post_id, field): version for post_id, field, version in rows}

    async def delete_posts(self, library: LockedLibrary, change: int, last: str) -> None:
        """Removes what is recorded of the posts up to this one."""
        await self._do(library, "delete_posts", change=change, last=last)

    async def take_over(
        self,
        library: LockedLibrary,
        fields: Iterable[tuple[str, int]] = (),
        posts: Iterable[str] = (),
        *,
        is_recorded: bool = False,
    ) -> None:
        """Another write has set these fields, or created these posts: no undo touches them.

        A value is a field too, with its key in place of the post. `is_recorded`: the
        write keeps that it has created the posts, and once it is undone, a change that has moved
        them to the trash can be undone too.
        """
        owned = [{"post_id": one, "field": field} for one, field in fields]
        spared = PostField.TRASHED if is_recorded else _NO_FIELD
        created = [{"post_id": one, "spared": spared} for one in posts]
        if not (owned or created) or not await self._of(library, "has_any"):
            return
        await self._do_many(library, "take_over_field", owned)
        await self._do_many(library, "take_over_post", created)
        if created:
            await self._take_over_values(library, {one["post_id"] for one in created})

    async def _take_over_values(self, library: LockedLibrary, post_ids: set[Any]) -> None:
        """The notes and highlights of posts that have others now, or none."""
        rows = await self._of(library, "value_keys")
        owned = [
            {"post_id": key, "spared": _NO_FIELD} for (key,) in rows if owner_of(key) in post_ids
        ]
        await self._do_many(library, "take_over_post", owned)

    async def claim(
        self, library: LockedLibrary, labelled: Iterable[tuple[str, int]], version: int
    ) -> None:
        """Another write has added these labels to posts.

        A change that is about to delete such a label leaves these posts alone, as if the label
        had been deleted before and created again.
        """
        pairs = list(labelled)
        ending = await self.ending_labels(library) if pairs else {}
        by_change: dict[int, list[Changed]] = {}
        for post_id, label_id in pairs:
            if label_id in ending:
                claimed = Changed(post_id, label_id, was_set=True)
                by_change.setdefault(ending[label_id], []).append(claimed)
        for number, claimed_posts in by_change.items():
            await self.record(library, number, claimed_posts, version)
            await self._do(library, "lower_kept", number=number, removed=-len(claimed_posts))

    async def recorded(
        self, library: LockedLibrary, change: int, field: int, post_ids: Sequence[str]
    ) -> set[str]:
        """The posts, among the given ones, for which the change has a row of this field."""
        rows = await self._of(library, "recorded", change=change, field=field, post_ids=post_ids)
        return {row[0] for row in rows}

    async def kept(self, library: LockedLibrary) -> list[Kept]:
        """All changes of the account, the oldest first."""
        rows = await self._of(library, "kept")
        return [Kept(*row) for row in rows]

    async def remove(self, library: LockedLibrary, number: int) -> None:
        """Removes the row of a change alone."""
        await self._do(library, "delete", number=number)

    async def remove_up_to(self, library: LockedLibrary, number: int) -> None:
        """Removes all changes up to this one. They must be finished."""
        values = {"number": number}
        await self._do(library, "delete_posts_up_to", **values)
        await self._do(library, "delete_up_to", **values)

    async def expire(self, library: LockedLibrary, number: int) -> None:
        await self._do(library, "expire", number=number)

    async def sweep(
        self, library: LockedLibrary, *, now: int, stopped_before: int, most: int
    ) -> int:
        """Removes some rows of changes that cannot be undone any more, or have stopped."""
        rows = await self._of(
            library, "expired", now=now, stopped_before=stopped_before, limit=most
        )
        removed = 0
        for (number,) in rows:
            if removed < most:
                left = most - removed
                removed += await self.remove_first(library, number, left)
        return removed

    async def remove_first(self, library: LockedLibrary, number: int, most: int) -> int:
        """Removes the first rows of a change, and the change itself with the last of them.

        Returns how many rows were removed. Earlier changes that are still kept lose their rows of
        the same fields: their undo must not touch what this change has set.
        """
        first = await self.first_posts(library, number, most)
        rows = [
            {
                "number": number,
                "post_id": one.change.post_id,
                "field": one.change.field,
                "version": one.version,
            }
            for one in first
        ]
        await self._do_many(library, "forget", rows)
        if len(first) < most:
            await self.delete_parts(library, number)
            await self._do(library, "delete", number=number)
            return len(first) + 1
        await self._do(library, "lower_kept", number=number, removed=len(first))
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


def _values(row: BulkRow) -> dict[str, Any]:
    values = msgspec.structs.asdict(row)
    values["label"] = labels_text(values.pop("labels"))
    return {**values, "action": row.action.value, "state": row.state.value}
