"""Stores runs of imports and what they changed, and finds what the demo has left in an account."""

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

import msgspec

from bowerbird.model.arrival import (
    FIRST_DEMO_ID,
    LAST_DEMO_ID,
    Change,
    RunCounts,
    RunRow,
    RunState,
    State,
    UndoCounts,
    pack,
    packed_size,
    unpack,
)
from bowerbird.model.labels import Label
from bowerbird.storage.database import Readable, Row, Store, Writable, record
from bowerbird.storage.libraries import LockedLibrary


class RunStore(Store):
    resource = "imports"

    async def by_id(self, library: Readable, run_id: str) -> RunRow | None:
        rows = await self._of(library, "run", run_id=run_id)
        return _run(rows[0]) if rows else None

    async def open_of_kind(self, account_id: int, kind: str) -> list[RunRow]:
        """The runs of a kind that are not undone, the oldest first."""
        rows = await self._read("open_runs_of_kind", account_id=account_id, kind=kind)
        return [_run(row) for row in rows]

    async def page(self, account_id: int, before: int, limit: int) -> list[RunRow]:
        """The runs with lower numbers, the newest first."""
        values = {"account_id": account_id, "before": before, "limit": limit}
        return [_run(row) for row in await self._read("runs", **values)]

    async def count(self, account_id: int) -> int:
        rows = await self._read("count_runs", account_id=account_id)
        return int(rows[0][0])

    async def numbers(self, library: Writable) -> tuple[int, int, int]:
        """The next free number, how many runs there are, and the number of the oldest."""
        rows = await self._of(library, "next_number")
        following, count, oldest = rows[0]
        return following, count, oldest

    async def insert(self, library: Writable, run: RunRow) -> None:
        values = {**msgspec.structs.asdict(run)}
        values["state"] = run.state.value
        await self._do(library, "insert_run", **values)

    async def delete(self, library: Writable, number: int) -> None:
        await self._do(library, "delete_run", number=number)

    async def add_counts(
        self, library: Writable, number: int, counts: RunCounts, placed: int
    ) -> None:
        values: dict[str, Any] = {"number": number, "placed": placed}
        values |= msgspec.structs.asdict(counts)
        await self._do(library, "add_counts", **values)

    async def set_state(
        self,
        library: Writable,
        run: RunRow,
        *,
        state: RunState,
        reason: str,
        finished_at: int | None,
    ) -> None:
        values: dict[str, Any] = {"number": run.number}
        values |= {"state": state.value, "reason": reason, "finished_at": finished_at}
        await self._do(library, "set_state", **values)

    async def interrupt(self, library: Writable, *, before: int, kept: int, most: int) -> int:
        """Ends a few runs that have not changed since `before`; returns how many.

        `kept` is how long after its last change a run can be undone.
        """
        return len(await self._of(library, "interrupt_runs", before=before, kept=kept, most=most))

    async def add_undone(self, library: Writable, number: int, counts: UndoCounts) -> None:
        values: dict[str, Any] = {"number": number}
        values |= msgspec.structs.asdict(counts)
        await self._do(library, "add_undone", **values)


def _run(row: Row) -> RunRow:
    *first, undo_until, log_bytes = row
    counts, undone = record(RunCounts, first[10:14]), record(UndoCounts, first[14:17])
    run = record(RunRow, [*first[:10], counts, undone, first[17], undo_until, log_bytes])
    return msgspec.structs.replace(run, state=RunState(run.state))


_IDS: Final = {"first": str(FIRST_DEMO_ID), "last": str(LAST_DEMO_ID)}
MOST_POSTS: Final = LAST_DEMO_ID - FIRST_DEMO_ID + 1


class DemoStore(Store):
    resource = "demo"

    async def posts(self, library: Readable, limit: int = MOST_POSTS) -> list[str]:
        """The ids of the demo's posts in the library."""
        return [row[0] for row in await self._of(library, "posts", limit=limit, **_IDS)]

    async def forget_deleted(self, library: Writable) -> None:
        """Removes the demo's posts from the trash, and what is remembered about them."""
        for name in ("empty_trash", "forget_deletions"):
            await self._do(library, name, **_IDS)

    async def unused_labels(self, library: Writable, made: tuple[int, int]) -> list[int]:
        """Labels that were created between two instants and have no posts."""
        values = {"first": made[0], "last": made[1]}
        return [row[0] for row in await self._of(library, "unused_labels", **values)]


_LAST: Final = 2**63 - 1


class Log(NamedTuple):
    """How much of the log a run takes."""

    number: int
    size: int
    undo_until: int


class CurrentPost(NamedTuple):
    post_id: str
    state: State
    # Not compressed.
    rendering: bytes


class Replaced(NamedTuple):
    """A change of a run, and the one that takes its place."""

    run: int
    number: int
    before: Change
    change: Change


class ChangeStore(Store):
    resource = "imports"

    async def add(
        self,
        library: Writable,
        run: int,
        changes: Mapping[int, Change],
        *,
        labels: Sequence[Label],
        undo_until: int,
    ) -> None:
        """Records changes of bookmarks, by number, and the labels that were created.

        A bookmark that the run has already changed keeps its first state before the run.
        """
        # The run cannot have changed a bookmark that it creates only now.
        existing = [number for number, change in changes.items() if change.before is not None]
        earlier: dict[int, list[tuple[int, Change]]] = {}
        if existing:
            earlier = await self.of_posts(library, existing, after=run - 1)
        rows, size = [], 0
        for number, change in changes.items():
            first = _of_run(run, earlier[number]) if number in earlier else None
            if first is not None:
                size -= packed_size(pack(first))
                change = _together(first, change)  # noqa: PLW2901 - with its first state
            packed = pack(change)
            size += packed_size(packed)
            rows.append({"run": run, "number": number, "change": packed})
        await self._do_many(library, "insert_change", rows)
        await self.add_labels(library, run, [(one.label_id, one.name) for one in labels])
        await self._do(library, "add_log", number=run, bytes=size, undo_until=undo_until)

    async def of_run(
        self, library: Writable, run: int, limit: int
    ) -> list[tuple[int, Change | None]]:
        """The run's first changes; None for bookmarks that their owner has taken over since."""
        rows = await self._of(library, "changes_of_run", run=run, limit=limit)
        return [(number, unpack(change) if change else None) for number, change in rows]

    async def sizes(self, library: Writable, run: int, limit: int) -> Sequence[int]:
        """The sizes of the run's first changes."""
        return [row[1] for row in await self._of(library, "sizes_of_run", run=run, limit=limit)]

    async def later_run(self, library: Writable, run: int) -> int | None:
        """The next run whose changes are still recorded."""
        rows = await self._of(library, "later_run", number=run)
        return rows[0][0] if rows else None

    async def of_posts(
        self, library: Writable, numbers: Sequence[int], *, after: int
    ) -> dict[int, list[tuple[int, Change]]]:
        """The changes of these bookmarks by runs after this one, as (run, change), by number."""
        rows = await self._of(library, "changes_of_posts", numbers=numbers, after=after)
        found: dict[int, list[tuple[int, Change]]] = {}
        for number, run, change in rows:
            found.setdefault(number, []).append((run, unpack(change)))
        return found

    async def replace(self, library: Writable, changes: Sequence[Replaced]) -> None:
        """Replaces the stored changes of runs."""
        rows: list[dict[str, Any]] = []
        growth: dict[int, int] = {}
        for one in changes:
            packed = pack(one.change)
            # Never lowered, so that the log of a run is empty only if nothing is left of it.
            more = max(len(packed) - len(pack(one.before)), 0)
            growth[one.run] = growth.get(one.run, 0) + more
            key = {"run": one.run, "number": one.number}
            rows.append({**key, "change": packed})
        await self._do_many(library, "insert_change", rows)
        await self._do_many(
            library,
            "grow_log",
            [{"number": run, "bytes": size} for run, size in sorted(growth.items()) if size],
        )

    async def remove_first(self, library: Writable, run: int, most: int) -> int:
        """Removes the run's first changes from the log; returns how many."""
        values: dict[str, Any] = {"run": run, "limit": most}
        rows = await self._of(library, "sizes_of_run", **values)
        if rows:
            numbers = [row[0] for row in rows]
            # An earlier run that is undone would remove what this run did, without a trace.
            await self._forget(library, numbers, before=run)
            await self.remove_to(library, run, numbers)
        else:
            await self._do(library, "delete_labels", **values, last=2**63 - 1)
            await self._do(library, "clear_log", **values, number=run)
        return len(rows)

    async def remove_to(self, library: Writable, run: int, numbers: Sequence[int]) -> None:
        await self._do(library, "delete_changes", run=run, last=max(numbers))

    async def forget(self, library: Writable, numbers: Sequence[int]) -> None:
        """The owner takes these bookmarks over: no run changes them when it is undone."""
        await self._forget(library, numbers, before=_LAST)

    async def forget_states(self, library: Writable, numbers: Sequence[int]) -> None:
        """No run restores earlier states of these bookmarks. One that created them removes them."""
        found = await self.of_posts(library, numbers, after=0)
        rows = [
            {"run": run, "number": number, "change": b""}
            for number, changes in found.items()
            for run, change in changes
            if change.before is not None
        ]
        await self._do_many(library, "insert_change", rows)

    async def _forget(self, library: Writable, numbers: Sequence[int], *, before: int) -> None:
        """The runs up to this one leave these bookmarks as they are when they are undone."""
        await self._do(library, "forget_posts", numbers=numbers, nothing=b"", before=before)

    async def logs(self, library: Readable) -> list[Log]:
        """The runs that have a log, the oldest first."""
        return [Log(*row) for row in await self._of(library, "log_sizes")]

    async def give_up(self, library: Writable, run: int) -> None:
        """The run cannot be undone from now on."""
        await self._do(library, "give_up_log", number=run)

    async def expired(self, library: Writable, now: int) -> int | None:
        rows = await self._of(library, "expired_run", now=now)
        return rows[0][0] if rows else None

    async def labels(self, library: Writable, run: int, limit: int) -> list[tuple[int, str]]:
        rows = await self._of(library, "labels_of_run", run=run, limit=limit)
        return [(label_id, name) for label_id, name in rows]

    async def delete_labels(self, library: Writable, run: int, last: int) -> None:
        await self._do(library, "delete_labels", run=run, last=last)

    async def add_labels(
        self, library: Writable, run: int, labels: Sequence[tuple[int, str]]
    ) -> None:
        rows = [{"run": run, "label_id": label_id, "name": name} for label_id, name in labels]
        await self._do_many(library, "insert_label", rows)

    async def current(
        self, opened: LockedLibrary, numbers: Sequence[int]
    ) -> dict[int, CurrentPost]:
        """The present state of these bookmarks, without a compressed rendering, by number."""
        labels: dict[int, list[int]] = {}
        for number, label_id in await self._of(opened, "labels_of_posts", numbers=numbers):
            labels.setdefault(number, []).append(label_id)
        found = {}
        for post_id, number, rendering, is_read, is_archived, *others in await self._of(
            opened, "posts", numbers=numbers
        ):
            state = State(
                *(b"", *others, bool(is_read), bool(is_archived), tuple(labels.get(number, ())))
            )
            found[number] = CurrentPost(post_id, state, rendering)
        return found


def _of_run(run: int, changes: Sequence[tuple[int, Change]]) -> Change | None:
    return next((change for of, change in changes if of == run), None)


def _together(first: Change, second: Change) -> Change:
    """Two changes of a bookmark by the same run, without what the owner did between them."""
    between = second.before
    if between is None:
        return msgspec.structs.replace(second, before=first.before, deletion=first.deletion)
    added = set(second.labels) - set(between.labels)
    removed = set(between.labels) - set(second.labels)
    has_read = second.is_read != between.is_read
    has_archived = second.is_archived != between.is_archived
    return Change(
        first.before,
        second.is_read if has_read else first.is_read,
        second.is_archived if has_archived else first.is_archived,
        tuple(sorted((set(first.labels) | added) - removed)),
        first.deletion,
        first.removed_at if second.removed_at is None else second.removed_at,
    )
