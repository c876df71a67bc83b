"""Takes found posts into a library. Taking the same posts again changes nothing.

A post of another source is merged with what the library has (`merging.py`), and keeps its flags and
labels; found labels are added. A record in the format of the API sets the labels, flags and place
that it has. In a file it replaces the content as a whole, and otherwise it is merged. A post that
its owner deleted stays deleted until it is saved again.
"""

import asyncio
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from enum import StrEnum
from functools import partial
from typing import Final, NamedTuple, TypeVar

import msgspec
from msgspec import Struct

from bowerbird.clock import Clock
from bowerbird.errors import TooManyWaiting
from bowerbird.library.access import turns
from bowerbird.library.bookmarks.writing.kept_changes import ChangedBy, Done, KeptChanges
from bowerbird.library.bookmarks.writing.label_renames import LabelRenames
from bowerbird.library.bookmarks.writing.trash_batch import KEPT
from bowerbird.library.bookmarks.writing.upsert import Upsert
from bowerbird.library.imports import runs
from bowerbird.library.imports.planning import Known, Plan, Planned, comes_back, conversations, plan
from bowerbird.model import json_depth
from bowerbird.model.accounts import Account, RemovedPostsChoice
from bowerbird.model.arrival import Completeness, LeftOutLabels, RunCounts, RunRow
from bowerbird.model.bulk import BulkAction, BulkRow, ChangedLabel
from bowerbird.requests import limits
from bowerbird.sources import own_json
from bowerbird.sources.found import Found, FoundPost, LeftOut, Notice
from bowerbird.storage.bookmarks.word_index import AFTER_IMPORTING
from bowerbird.storage.database import Database, Readable, Transaction, place_of
from bowerbird.storage.libraries import LockedLibrary
from bowerbird.storage.stores import TimedService

T = TypeVar("T")

# One transaction writes a chunk. Other writers wait for it, on SQLite those of all accounts.
CHUNK_POSTS: Final = 200
# With long articles or many labels, a chunk has fewer posts.
CHUNK_BYTES: Final = 512 << 10
# A label takes up to four rows: itself, its count, that the post has it, and the log of the run.
_CHUNK_LABELS: Final = 700
# A file may have a million rows that are left out, and no posts.
_CHUNK_REMARKS: Final = 1_000
_encode: Final = msgspec.json.Encoder().encode


@dataclass(slots=True)
class Chunk:
    posts: dict[str, FoundPost] = field(default_factory=dict)
    remarks: list[LeftOut | Notice] = field(default_factory=list)
    _bytes: int = 0
    _labels: int = 0

    @property
    def is_full(self) -> bool:
        return (
            len(self.posts) >= CHUNK_POSTS
            or self._bytes >= CHUNK_BYTES
            or self._labels >= _CHUNK_LABELS
            or len(self.remarks) >= _CHUNK_REMARKS
        )

    def add(self, post: FoundPost) -> None:
        record = post.record
        self.posts[record.post_id] = post
        # Not of the text alone: an attachment can be as large as the whole record.
        self._bytes += len(_encode(record) if post.own is None else post.own.post_json)
        labels = len(record.tags or ()) + len(post.added_labels)
        self._labels += min(labels, limits.POST_LABELS_MAX)


def chunks(found: Iterable[Found]) -> Iterator[Chunk]:
    chunk = Chunk()
    for item in found:
        # The later of two records of a post wins, so the earlier one is written first.
        is_again = isinstance(item, FoundPost) and item.record.post_id in chunk.posts
        if chunk.is_full or is_again:
            yield chunk
            chunk = Chunk()
        if isinstance(item, FoundPost):
            chunk.add(item)
        else:
            chunk.remarks.append(item)
    if chunk.posts or chunk.remarks:
        yield chunk


def parts(found: Iterable[FoundPost]) -> Iterator[list[FoundPost]]:
    """The posts of each chunk."""
    for chunk in chunks(found):
        yield list(chunk.posts.values())


# From so many posts on, a transaction bounds how much SQLite merges of its index of words.
_MERGED_FROM: Final = 100


class ItemResult(StrEnum):
    NEW = "new"
    CHANGED = "changed"
    # Also if only counts or the picture of the author changed.
    UNCHANGED = "unchanged"
    # The owner deleted the post, and it was not saved again.
    IGNORED_DELETED = "ignored_deleted"


class IntakeOutcome(Struct, frozen=True):
    """One result per found post, in their order."""

    results: list[tuple[str, ItemResult]] = []
    labels_left_out: tuple[LeftOutLabels, ...] = ()
    new_labels: tuple[str, ...] = ()
    # Of posts that a person saves: the change, for its undo.
    change: BulkRow | None = None

    @property
    def counts(self) -> RunCounts:
        of = [result for _, result in self.results]
        return RunCounts(
            new=of.count(ItemResult.NEW),
            changed=of.count(ItemResult.CHANGED),
            unchanged=of.count(ItemResult.UNCHANGED),
            ignored_deleted=of.count(ItemResult.IGNORED_DELETED),
        )

    def __add__(self, other: "IntakeOutcome") -> "IntakeOutcome":
        return IntakeOutcome(
            self.results + other.results,
            self.labels_left_out + other.labels_left_out,
            self.new_labels + other.new_labels,
            other.change or self.change,
        )


class PreparedIntake(NamedTuple):
    """Found posts, compared with the library before the transaction."""

    found: Sequence[FoundPost]
    run_id: str | None
    is_saving: bool
    known: Known
    plan: Plan

    @property
    def has_work(self) -> bool:
        return self.run_id is not None or self.is_saving or self.changes_library

    @property
    def changes_library(self) -> bool:
        """Otherwise only the counts of the run change."""
        return bool(self.plan.writes)


class Intake(TimedService):
    def __init__(self, database: Database, clock: Clock, *, finds_words: bool = True) -> None:
        """`finds_words`: a dry run indexes nothing, and finding words is most of the work."""
        super().__init__(database, clock)
        self._finds_words = finds_words
        self._upsert = Upsert(database, clock)
        self._kept = KeptChanges(database, clock)

    async def take(
        self,
        account: Account,
        found: Sequence[FoundPost],
        *,
        run_id: str | None = None,
        is_saving: bool = False,
    ) -> IntakeOutcome:
        """Takes any number of posts, in transactions of up to 200.

        `is_saving`: the person saves these posts on purpose, so posts deleted earlier come back.
        """
        outcome = IntakeOutcome()
        for chunk in parts(found):
            prepared = await self.prepare(account, chunk, run_id=run_id, is_saving=is_saving)
            outcome += await self.write(account, prepared)
        return outcome

    async def write(
        self, account: Account, prepared: PreparedIntake, onto: BulkRow | None = None
    ) -> IntakeOutcome:
        """Writes prepared posts in one transaction. If too many changes wait, it writes nothing.

        `onto`: the change of the posts that the same request has saved before.
        """
        if not prepared.has_work:
            return unwritten(prepared)

        async def work(transaction: Transaction) -> IntakeOutcome:
            if len(prepared.plan.writes) < _MERGED_FROM:
                return await self.take_within(transaction, account, prepared, onto)
            async with self._stores.word_merging.bounded(transaction, AFTER_IMPORTING):
                return await self.take_within(transaction, account, prepared, onto)

        outcome = await turns.run(self._database, work, account.account_id)
        if prepared.run_id is not None and prepared.plan.writes:
            # The posts are written. If too many changes wait, the next write makes room.
            with suppress(TooManyWaiting):
                await self.make_room(account)
        return outcome

    async def prepare(
        self,
        account: Account,
        found: Sequence[FoundPost],
        *,
        run_id: str | None = None,
        is_saving: bool = False,
        known_after: Callable[[Known], Known] | None = None,
    ) -> PreparedIntake:
        """Compares up to 200 posts with the library. No post may occur twice.

        `known_after` adds what a dry run has found before.
        """
        now, account_id = self._clock(), account.account_id
        library = self._library(account_id)
        run = await self._stores.import_runs.by_id(library, run_id) if run_id else None
        place = place_of(account.local_number)
        known = await self._read(
            library,
            place,
            found,
            started_at=run.started_at if runs.is_open(run) else now,
            placed=run.placed_posts if runs.is_open(run) else 0,
        )
        known = known if known_after is None else known_after(known)
        if known.deletions:
            back = [one for one in found if comes_back(one, known, now, is_saving=is_saving)]
            found = await self._refilled(account, found, known, back)
        # Finding the words of long posts takes too long for the event loop.
        made = await off_the_loop(
            partial(plan, found, known, now, is_saving=is_saving, finds_words=self._finds_words)
        )
        return PreparedIntake(found, run_id, is_saving, known, made)

    async def _read(
        self,
        library: Readable,
        place: int,
        found: Sequence[FoundPost],
        *,
        started_at: int,
        placed: int,
    ) -> Known:
        # Of a stored post that is replaced as a whole, only its state at the source is needed.
        own = {
            one.record.post_id: one.own.content_hash
            for one in found
            if one.replaces_stored and one.own is not None
        }
        others = [one for one in found if not one.replaces_stored]
        ids = [one.record.post_id for one in others]
        wanted = list(dict.fromkeys([*ids, *conversations(others)]))
        threads: set[tuple[str, str]] = set()
        posts = await self._stores.upserts.with_changed_content(library, place, own) if own else {}
        if others:
            posts |= await self._stores.upserts.posts(library, place, wanted)
            threads = await self._stores.upserts.threads(library, ids)
        dated = [one.record.post_id for one in found if one.captured_at is not None]
        seen = await self._stores.source_posts.last_changes(library, dated) if dated else {}
        hides_removed = False
        if any(one.is_saved for one in found):
            choice = await self._stores.accounts.removed_posts(library)
            hides_removed = choice is RemovedPostsChoice.HIDE
        absent = [one for one in (*own, *ids) if one not in posts]
        hidden = await self._stores.source_posts.hidden(library, absent) if absent else {}
        return Known(
            posts=posts,
            seen=seen,
            hidden=hidden,
            deletions=await self._stores.deletions.known(library, [*own, *ids]),
            threads=threads,
            hides_removed=hides_removed,
            started_at=started_at,
            placed=placed,
        )

    async def _refilled(
        self, account: Account, found: Sequence[FoundPost], known: Known, back: Sequence[FoundPost]
    ) -> Sequence[FoundPost]:
        """If only the link of a deleted post comes back, the post gets its content back too."""
        stubs = [one.record.post_id for one in back if one.completeness is Completeness.STUB]
        if not stubs:
            return found
        oldest = self._clock() - KEPT
        contents = await self._stores.trash.contents(account.account_id, stubs, oldest)
        return [
            _with_content(one, content, known.deletions[one.record.post_id].completeness)
            if (content := contents.get(one.record.post_id))
            else one
            for one in found
        ]

    async def take_within(
        self,
        transaction: Transaction,
        account: Account,
        prepared: PreparedIntake,
        onto: BulkRow | None = None,
    ) -> IntakeOutcome:
        """Writes prepared posts inside the caller's transaction."""
        account_id = account.account_id
        opened = await LabelRenames(self._database).lock(transaction, account_id)
        run = None
        if prepared.run_id is not None:
            found = await self._stores.import_runs.by_id(opened, prepared.run_id)
            run = runs.require_running(found, prepared.run_id)
        ids = [one.record.post_id for one in prepared.found]
        await self._stores.media.try_again(opened, ids, self._clock())
        made = prepared.plan
        before = prepared.known
        known = await self._read(
            opened,
            opened.place,
            prepared.found,
            started_at=before.started_at if run is None else run.started_at,
            placed=before.placed if run is None else run.placed_posts,
        )
        if known != prepared.known:
            # Somebody else changed these posts since they were compared.
            made = plan(prepared.found, known, self._clock(), is_saving=prepared.is_saving)
        outcome, done = await self._put(opened, made, known, run, by=_changed_by(prepared))
        if prepared.is_saving:
            change = await self._kept.keep(opened, done, onto)
            outcome = msgspec.structs.replace(outcome, change=change)
            if numbers := _numbers(made, known):
                # Posts that their owner saves are no longer part of earlier runs.
                await self._stores.import_changes.forget(opened, numbers)
        if run is not None:
            placed = made.placed - run.placed_posts
            await self._stores.import_runs.add_counts(opened, run.number, outcome.counts, placed)
        return outcome

    async def make_room(self, account: Account) -> None:
        """Call it after `take_within` with a run: the logs of all runs are bounded together."""
        await self._upsert.log.make_room(account.account_id)

    async def _put(
        self, opened: LockedLibrary, made: Plan, known: Known, run: RunRow | None, *, by: ChangedBy
    ) -> tuple[IntakeOutcome, Done]:
        """What was written. If it is of no run, also for its undo."""
        if not made.writes:
            return outcome_of(made.items, frozenset(), ()), Done(BulkAction.SAVE, [])
        back = {one.post_id: known.deletions[one.post_id] for one in made.items if one.is_back}
        written = await self._upsert.put_into(
            opened,
            made.writes,
            stored={post_id: post.existing for post_id, post in known.posts.items()},
            run=run,
            deletions=back,
            by=by,
            is_recorded=run is None and by is ChangedBy.OWNER,
        )
        labels = [ChangedLabel(one.label_id, one.name, is_new=True) for one in written.created]
        done = Done(BulkAction.SAVE, written.recorded, labels, len(made.items))
        minor = frozenset(write.incoming.post_id for write in made.writes if write.is_minor)
        names = tuple(label.name for label in written.created)
        outcome = outcome_of(
            made.items, written.changed - minor, written.left_out, written.new, names
        )
        return outcome, done


async def off_the_loop(work: Callable[[], T]) -> T:
    """On a thread, unless the caller is on one: a library in memory is filled on its own."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return work()
    return await asyncio.to_thread(work)


def _numbers(made: Plan, known: Known) -> list[int]:
    stored = (known.posts.get(one.post_id) for one in made.items)
    return [one.existing.number for one in stored if one is not None]


def _changed_by(prepared: PreparedIntake) -> ChangedBy:
    if prepared.is_saving:
        return ChangedBy.OWNER
    marks = (one.is_mark and one.completeness is Completeness.STUB for one in prepared.found)
    return ChangedBy.MARK if all(marks) else ChangedBy.SOURCE


def _with_content(found: FoundPost, deleted: bytes, completeness: int) -> FoundPost:
    """The found post with the content of a deleted one; its place and state are new."""
    stored = own_json.read(json_depth.cut(deleted), is_stored=True)
    content = own_json.post_of(stored.incoming.record)
    given = {name: getattr(content, name) for name in content.__struct_fields__}
    return msgspec.structs.replace(
        found,
        record=msgspec.structs.replace(found.record, **given),
        own=None,
        completeness=Completeness(completeness),
    )


def unwritten(prepared: PreparedIntake) -> IntakeOutcome:
    """What writing these posts would do."""
    writes = [write for write in prepared.plan.writes if not write.is_minor]
    written = frozenset(write.incoming.post_id for write in writes)
    new = written - prepared.known.posts.keys()
    return outcome_of(prepared.plan.items, written - new, (), new)


def outcome_of(
    items: Sequence[Planned],
    changed: frozenset[str],
    left_out: tuple[LeftOutLabels, ...],
    new: frozenset[str] = frozenset(),
    new_labels: tuple[str, ...] = (),
) -> IntakeOutcome:
    results = []
    for one in items:
        result = ItemResult.UNCHANGED
        if one.is_ignored:
            result = ItemResult.IGNORED_DELETED
        elif one.post_id in new:
            result = ItemResult.NEW
        elif one.post_id in changed:
            result = ItemResult.CHANGED
        results.append((one.post_id, result))
    return IntakeOutcome(results, left_out, new_labels)
