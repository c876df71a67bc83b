"""Measures how long the largest edits keep SQLite's only writer busy.

An edit of many posts takes several transactions, and others write in between. The target is for
the longest of them; the whole edit may take longer.
"""

import asyncio
import functools
import gc
import shutil
import time
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any, Final

import msgspec

from benchmarks import bars, library, posts, scales
from benchmarks.figures import Row, bar_row
from benchmarks.options import Options
from bowerbird.clock import system_clock
from bowerbird.library.bookmarks.annotations import Flags
from bowerbird.library.bookmarks.trash import Trash
from bowerbird.library.bulk.changes import BulkChanges, NewChange, packed_parts
from bowerbird.library.imports.intake import Intake, PreparedIntake
from bowerbird.library.labels.labels import Labels
from bowerbird.model.accounts import Account
from bowerbird.model.bulk import BulkAction, BulkRow
from bowerbird.requests.bookmarks import FlagsRequest
from bowerbird.requests.labels import LabelChange, LabelOperation, LabelRequest
from bowerbird.settings import Settings
from bowerbird.sources.own_json import found_post, read
from bowerbird.storage.bookmarks.word_index import AFTER_IMPORTING, WordMerging
from bowerbird.storage.database import Database, Transaction
from bowerbird.storage.opening import open_database

Work = Callable[[Transaction], Awaitable[Any]]

_CHUNK: Final = 200
_POSTS, _SMALL_POSTS = 100_000, 20_000
_LONG_POSTS: Final = 100
_LONG_TEXT: Final = "word " * 60_000


def measure(options: Options) -> Iterator[Row]:
    folder = options.work_folder / "turns"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    count = _SMALL_POSTS if options.scale is scales.SMALL else _POSTS
    yield from asyncio.run(_measure(folder, count))
    shutil.rmtree(folder)


async def _measure(folder: Path, count: int) -> list[Row]:
    database = await open_database(Settings(data_dir=folder))
    try:
        account, _ = await library.new_account(database, 0)
        edits = _Edits(database, account)
        post_ids = await edits.import_posts("import, 200 posts at a time", 0, count)
        long_ids = await edits.import_posts(
            "import of long articles, 1 MiB at a time", count, _LONG_POSTS, _LONG_TEXT
        )
        # The words and posts of the benchmark are not part of the service. Without this, a garbage
        # collection that visits them makes one transaction 20 to 70 ms longer.
        gc.collect()
        gc.freeze()
        await edits.label(post_ids, long_ids)
        return edits.rows
    finally:
        await database.close()


class _Edits:
    """Times each transaction of an edit, without its commit."""

    def __init__(self, database: Database, account: Account) -> None:
        self._database, self._account = database, account
        self._seconds: list[float] = []
        # Other load on the machine hardly affects these.
        self._cpu_seconds: list[float] = []
        self.rows: list[Row] = []

    async def import_posts(self, work: str, first: int, count: int, article: str = "") -> list[str]:
        intake, ids = Intake(self._database, system_clock), []
        merging = WordMerging(self._database)
        step = _CHUNK if not article else 3
        started = time.perf_counter()
        for start in range(first, first + count, step):
            raw = posts.batch(0, start, min(step, first + count - start))
            found = [found_post(read(_labelled(post, article)).incoming, 1) for post in raw]
            ids += [one.record.post_id for one in found]
            prepared = await intake.prepare(self._account, found)
            await self._edit_once(functools.partial(_put, intake, merging, self._account, prepared))
        self._add_row(work, time.perf_counter() - started)
        return ids

    async def label(self, post_ids: list[str], long_ids: list[str]) -> None:
        labels = Labels(self._database, system_clock)
        flags, trash = Flags(self._database, system_clock), Trash(self._database, system_clock)
        account, many = self._account, f"{len(post_ids):,}"
        spread = post_ids[:: len(post_ids) // 1_000][:1_000]
        await self._edit(
            "mark 1,000 posts read, out of all",
            lambda t: flags.update(t, account, spread, FlagsRequest(is_read=True)),
        )
        for name, ids in (("1,000 posts, out of all", spread), ("100 long articles", long_ids)):
            request = LabelRequest(post_ids=ids, label_name="new")
            add = functools.partial(labels.change, account=account, op="add", request=request)
            await self._edit(f"label {name}", add)
        operations = [
            LabelOperation(op="add", post_ids=post_ids[n * 100 : n * 100 + 100], label_name=f"l{n}")
            for n in range(50)
        ]
        await self._edit(
            "batch of 50 operations on 100 posts each",
            lambda t: labels.batch(t, account, operations),
        )
        found = await self._label_ids()
        wide, other = found["wide"], found["other"]
        change = LabelChange(label_name="wider")
        changes = BulkChanges(self._database, system_clock)

        async def rename(transaction: Transaction) -> Any:
            _, row = await labels.update(transaction, account, wide, change)
            return row

        await self._edit_label(f"rename a label of {many} posts", rename)
        await self._edit_label(
            f"merge a label of {many} posts",
            lambda t: changes.start_label(t, account, wide, other),
        )
        await self._edit_label(
            f"delete a label of {many} posts", lambda t: changes.start_label(t, account, other)
        )
        await self._edit("delete a post", lambda t: trash.delete(t, account, long_ids[0]))
        few = post_ids[:5_000]
        for action, ids in (
            (BulkAction.ARCHIVE, post_ids),
            (BulkAction.ADD_LABEL, post_ids),
            (BulkAction.TRASH, few),
            (BulkAction.TRASH, long_ids[1:]),
        ):
            await self._change(action, ids)

    async def _change(self, action: BulkAction, post_ids: list[str]) -> None:
        """Changes many posts and undoes it."""
        account, changes = self._account, BulkChanges(self._database, system_clock)
        label = "bulk" if action is BulkAction.ADD_LABEL else None
        change = NewChange(action, packed_parts(post_ids), len(post_ids), label)
        rows: list[BulkRow] = []

        async def start(transaction: Transaction) -> Any:
            rows.append(await changes.start(transaction, account, change))

        async def undo(transaction: Transaction) -> Any:
            return await changes.undo(transaction, account, rows[0].change_id)

        for name, first in ((action, start), (f"undo {action}", undo)):
            work = f"{name} {len(post_ids):,} posts"
            await self._edit(f"{work}, its start", first)
            await self._finish(work, rows[0].change_id)

    async def _edit_label(self, work: str, start: Work) -> None:
        row = await self._edit_once(start)
        await self._finish(work, row.change_id)

    async def _finish(self, work: str, change_id: str) -> None:
        """Takes the turns of a change, as its job does."""
        changes, started = BulkChanges(self._database, system_clock), time.perf_counter()
        is_finished = False
        while not is_finished:
            taken = await self._edit_once(lambda t: changes.turn(t, self._account, change_id))
            is_finished = taken.is_finished
        self._add_row(work, time.perf_counter() - started)

    async def _label_ids(self) -> dict[str, str]:
        listed = await Labels(self._database, system_clock).listed.all(self._account)
        return {one["label_name"]: one["id"] for one in msgspec.json.decode(b"[%b]" % listed)}

    async def _edit(self, work: str, edit: Work) -> None:
        started = time.perf_counter()
        await self._edit_once(edit)
        self._add_row(work, time.perf_counter() - started)

    async def _edit_once(self, work: Work) -> Any:
        async def timed(transaction: Transaction) -> Any:
            started, cpu_started = time.perf_counter(), time.thread_time()
            try:
                return await work(transaction)
            finally:
                self._seconds.append(time.perf_counter() - started)
                self._cpu_seconds.append(time.thread_time() - cpu_started)

        return await self._database.write(timed)

    def _add_row(self, work: str, seconds: float) -> None:
        longest = max(self._seconds) * 1_000
        cpu_ms = max(self._cpu_seconds) * 1_000
        detail = f"{len(self._seconds):,} transactions in {seconds:.2f} s"
        self.rows.append(
            bar_row(
                bars.TRANSACTION,
                [longest],
                work=f"{work}: longest transaction",
                cpu=f"{cpu_ms:.1f} ms",
                by_cpu=cpu_ms,
                detail=detail,
            )
        )
        self._seconds.clear()
        self._cpu_seconds.clear()


async def _put(
    intake: Intake,
    merging: WordMerging,
    account: Account,
    prepared: PreparedIntake,
    transaction: Transaction,
) -> None:
    async with merging.bounded(transaction, AFTER_IMPORTING):
        await intake.take_within(transaction, account, prepared)


def _labelled(post: bytes, article: str) -> bytes:
    record = msgspec.json.decode(post)
    record["tags"] = ["wide", "other"]
    if article:
        record["tweet_details"]["article"] = {"title": "t", "plain_text": article}
    return msgspec.json.encode(record)
