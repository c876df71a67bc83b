"""Imports files of any known format into a library, chunk by chunk.

Each chunk is written completely or not at all, so an import that was interrupted can be repeated:
posts that are already there do not change. A dry run compares each chunk with the library as it
would be after the chunks before it, and writes nothing.
"""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Iterator, Sequence
from contextlib import suppress
from tempfile import SpooledTemporaryFile
from typing import Any, Final, NamedTuple, TypeVar

import msgspec
from msgspec import UNSET

from bowerbird.clock import Clock
from bowerbird.errors import TooManyWaiting, shown
from bowerbird.library.bookmarks.writing.label_renames import LabelRoom
from bowerbird.library.bookmarks.writing.upsert import Write
from bowerbird.library.bookmarks.writing.upsert_batch import differs, placement_of
from bowerbird.library.imports.intake import (
    Chunk,
    Intake,
    IntakeOutcome,
    chunks,
    outcome_of,
    unwritten,
)
from bowerbird.library.imports.planning import Known, conversations
from bowerbird.library.imports.report import (
    LABELS,
    MAX_LINKS,
    MAX_LINKS_CHARACTERS,
    FileReport,
    ImportReport,
    Row,
)
from bowerbird.library.imports.runs import ImportRuns
from bowerbird.model import instants
from bowerbird.model.accounts import Account
from bowerbird.model.arrival import (
    ExistingBookmark,
    Incoming,
    LeftOutLabels,
    OrderSource,
    RunCounts,
)
from bowerbird.model.labels import MAX_NAME_CHARACTERS, Label, name_key
from bowerbird.requests import limits
from bowerbird.sources import reading
from bowerbird.sources.found import MAX_AHEAD_US, Choices, FoundPost, LeftOut, Notice
from bowerbird.sources.parsing.text_lines import SeekableFile, storable
from bowerbird.sources.reading import UnknownFile
from bowerbird.storage.bookmarks.upsert import StoredPost
from bowerbird.storage.database import Database
from bowerbird.storage.stores import TimedService

# Each takes about 200 bytes of memory. Of further posts, a second record is compared with the
# library as it is.
MAX_REMEMBERED: Final = 200_000
_BYTES_IN_MEMORY: Final = 4 << 20


class DryRun(TimedService):
    def __init__(self, database: Database, clock: Clock, account: Account) -> None:
        super().__init__(database, clock)
        self._account = account
        self._intake = Intake(database, clock, finds_words=False)
        self._posts = _PostsAfter()
        self._threads: dict[str, set[str]] = {}
        self._created = dict[str, Label]()
        self._started_at = clock()
        self._placed = 0

    def close(self) -> None:
        self._posts.close()

    async def take(self, found: Sequence[FoundPost]) -> IntakeOutcome:
        """What taking these posts would do, after all that were taken before."""
        prepared = await self._intake.prepare(self._account, found, known_after=self._after(found))
        plan, posts = prepared.plan, prepared.known.posts
        self._placed = plan.placed
        room = await self._room([write.incoming for write in plan.writes])
        new: set[str] = set()
        changed: set[str] = set()
        for write in plan.writes:
            stored = posts.get(write.incoming.post_id)
            existing = None if stored is None else stored.existing
            incoming = room.fit(write.incoming, existing)
            if not differs(incoming, existing):
                continue
            if existing is None:
                new.add(incoming.post_id)
            elif not write.is_minor:
                changed.add(incoming.post_id)
            self._remember(write, incoming, existing)
        self._created |= {label.name_key: label for label in room.created}
        labels = tuple(label.name for label in room.created)
        left_out = tuple(room.left_out)
        return outcome_of(plan.items, frozenset(changed), left_out, frozenset(new), labels)

    def _after(self, found: Sequence[FoundPost]) -> Callable[[Known], Known]:
        ids = [one.record.post_id for one in found]

        def after(known: Known) -> Known:
            threads = {(one, author) for one in ids for author in self._threads.get(one, ())}
            return known._replace(
                posts={**known.posts, **self._posts.among([*ids, *conversations(found)])},
                threads=known.threads | threads,
                started_at=self._started_at,
                placed=self._placed,
            )

        return after

    async def _room(self, arrivals: Sequence[Incoming]) -> LabelRoom:
        account_id = self._account.account_id
        keys = {key for arrival in arrivals for key in arrival.tags or ()}
        labels = dict[str, Label]()
        count = 0
        if keys - self._created.keys():
            labels = await self._stores.labels.named(self._library(account_id), sorted(keys))
            count = await self._stores.labels.count(account_id) + len(self._created)
        return LabelRoom(
            # Nothing is written, so they need no ids.
            lambda name: Label(0, name, name_key(name)),
            labels | self._created,
            limits.LABELS_MAX - count,
            limits.POST_LABELS_MAX,
        )

    def _remember(
        self, write: Write, incoming: Incoming, existing: ExistingBookmark | None
    ) -> None:
        tags = frozenset[str]() if existing is None else existing.tags
        placement = placement_of(incoming, existing, self._clock())
        after = ExistingBookmark(
            number=0 if existing is None else existing.number,
            content_hash=incoming.content_hash,
            tags=tags if incoming.tags is None else frozenset(incoming.tags),
            **msgspec.structs.asdict(placement),
        )
        # A rendering is an object without its end.
        is_kept = self._posts.put(incoming.post_id, StoredPost(after, incoming.post_json[:-1]))
        if is_kept and write.draft["thread"]:
            self._threads.setdefault(write.draft["thread"], set()).add(write.draft["author_key"])


class _PostsAfter:
    """Posts as they would be in the library. Many of them are in a temporary file."""

    def __init__(self) -> None:
        self._file = SpooledTemporaryFile(max_size=_BYTES_IN_MEMORY)  # noqa: SIM115 - closed by its owner
        self._places: dict[str, tuple[int, int]] = {}
        self._end = 0
        self._encode = msgspec.msgpack.Encoder().encode
        self._decode = msgspec.msgpack.Decoder(StoredPost).decode

    def close(self) -> None:
        self._file.close()

    def put(self, post_id: str, post: StoredPost) -> bool:
        """Whether there was room for it."""
        if post_id not in self._places and len(self._places) >= MAX_REMEMBERED:
            return False
        data = self._encode(post)
        self._file.seek(self._end)
        self._file.write(data)
        self._places[post_id] = self._end, len(data)
        self._end += len(data)
        return True

    def among(self, post_ids: Iterable[str]) -> dict[str, StoredPost]:
        found = {}
        for post_id in post_ids:
            if place := self._places.get(post_id):
                self._file.seek(place[0])
                found[post_id] = self._decode(self._file.read(place[1]))
        return found


# Between the tries to write a chunk while too many other changes wait: ten minutes in all.
_PAUSES_S: Final = (0.1, 0.5, 2.0, *[5.0] * 120)
_SHOWN_NAMES: Final = 20
_MAX_NAME_CHARACTERS: Final = 100

T = TypeVar("T")

OnRow = Callable[[FileReport, Row], None]


class ImportOptions(NamedTuple):
    with_likes: bool = False
    # Added to every post.
    label: str = ""
    # Compares the files with the library, and changes nothing.
    is_dry_run: bool = False


class FileImports:
    """One import of one or more files: it is undone as a whole."""

    # Called once the import has started, before its first chunk.
    on_start: Callable[[], Coroutine[Any, Any, None]] | None = None

    def __init__(
        self,
        database: Database,
        clock: Clock,
        account: Account,
        options: ImportOptions,
        on_row: OnRow = lambda _file, _row: None,
        *,
        names: Sequence[str] = (),
    ) -> None:
        """`on_row` gets every record that is left out; the report has only the first ones.

        `names` are those of all files, for the list of imports.
        """
        self._intake = Intake(database, clock)
        self._runs = ImportRuns(database, clock)
        self._clock = clock
        self._account = account
        self._options = options
        self._on_row = on_row
        self._names = names
        self._uncounted = RunCounts()
        self._stopping = asyncio.Event()
        # The labels of the current file that are too long.
        self._shortened = set[str]()
        # How many characters of links that are not posts its report can still have.
        self._link_room = MAX_LINKS_CHARACTERS
        self._dry_run = DryRun(database, clock, account) if options.is_dry_run else None
        self.report = ImportReport(is_dry_run=options.is_dry_run)

    async def read(self, file: SeekableFile, name: str, client: str) -> FileReport:
        """Imports one file. If it is cancelled, the current chunk is still completed.

        A file of another kind is reported, and does not raise.
        """
        report = FileReport(name=name)
        self._shortened.clear()
        self._link_room = MAX_LINKS_CHARACTERS
        self.report.files.append(report)
        choices = Choices(self._options.with_likes, self._clock(), name)
        try:
            found = await asyncio.to_thread(reading.read, file, choices)
        except UnknownFile as problem:
            report.problem = str(problem)
            return report
        report.format = found.name
        if not self.report.run_id and not self._options.is_dry_run:
            names = self._names[len(self.report.files) - 1 :]
            await self._complete(self._start(_source_of(names, found.name), client))
        await self._write_all(report, chunks(found.found))
        return report

    async def finish(self, reason: str) -> None:
        if self._dry_run is not None:
            self._dry_run.close()
        if self.report.run_id:
            run_id = self.report.run_id
            if reason != "end":
                self._stopping.set()
            await self._patiently(
                lambda: self._runs.finish(self._account, run_id, reason, self._uncounted)
            )

    async def _start(self, source: str, client: str) -> None:
        run = await self._runs.start(self._account, source=source, kind="file", client=client)
        self.report.run_id = run.run_id
        self.report.undo_until = run.undo_until or ""
        if self.on_start is not None:
            await self.on_start()

    async def _write_all(self, report: FileReport, found: Iterator[Chunk]) -> None:
        self._stopping.clear()
        # The next chunk is read while one is written.
        ahead = asyncio.ensure_future(asyncio.to_thread(next, found, None))
        try:
            while chunk := await asyncio.shield(ahead):
                ahead = asyncio.ensure_future(asyncio.to_thread(next, found, None))
                await self._complete(self._write(report, chunk))
        finally:
            # A generator that runs on a thread cannot be closed.
            await asyncio.wait([ahead])
            # Retrieve the exception; asyncio warns otherwise.
            ahead.exception()

    async def _write(self, report: FileReport, chunk: Chunk) -> None:
        posts = [self._adapted(post) for post in chunk.posts.values()]
        outcome = await self._take(posts)
        self._count(report, chunk, posts, outcome)

    async def _take(self, posts: Sequence[FoundPost]) -> IntakeOutcome:
        if not posts:
            return IntakeOutcome()
        if self._dry_run is not None:
            return await self._dry_run.take(posts)
        prepared = await self._intake.prepare(
            self._account, posts, run_id=self.report.run_id or None
        )
        if prepared.changes_library:
            return await self._patiently(lambda: self._intake.write(self._account, prepared))
        # The run gets these counts at its end, so that importing a file again writes nothing.
        outcome = unwritten(prepared)
        self._uncounted += outcome.counts
        return outcome

    async def _complete(self, work: Coroutine[Any, Any, T]) -> T:
        """Waits until the work is done, even if the import is cancelled."""
        task = asyncio.ensure_future(work)
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            self._stopping.set()
            await asyncio.wait([task])
            # Retrieve the exception; asyncio warns otherwise.
            task.exception()
            raise

    async def _patiently(self, write: Callable[[], Awaitable[T]]) -> T:
        """A busy account delays an import that has begun, and does not end it.

        Of a chunk that is refused because too many changes wait, nothing is written. A database
        that does not work refuses otherwise, and ends the import.
        """
        for pause_s in _PAUSES_S:
            try:
                return await write()
            except TooManyWaiting:
                if self._stopping.is_set():
                    raise
            with suppress(TimeoutError):
                await asyncio.wait_for(self._stopping.wait(), pause_s)
        return await write()

    def _count(
        self, report: FileReport, chunk: Chunk, posts: Sequence[FoundPost], outcome: IntakeOutcome
    ) -> None:
        for remark in chunk.remarks:
            self._remark(report, remark)
        counts = outcome.counts
        for post, adapted in zip(chunk.posts.values(), posts, strict=True):
            self._count_shortened(report, post.shortened_labels)
            report.future_dates += adapted.order_source is not post.order_source
        report.found += len(chunk.posts)
        report.notes += sum(bool(post.note) for post in chunk.posts.values())
        report.new += counts.new
        report.changed += counts.changed
        report.unchanged += counts.unchanged
        report.ignored_deleted += counts.ignored_deleted
        report.create_labels(outcome.new_labels)
        for left_out in outcome.labels_left_out:
            report.labels_left_out += len(left_out.names)
            row = Row(chunk.posts[left_out.post_id].line, LABELS, _without_labels(left_out))
            report.show(row)
            self._on_row(report, row)

    def _count_shortened(self, report: FileReport, labels: Sequence[str]) -> None:
        """Counts each label of a file once, although many posts may have it."""
        for label in labels:
            if label in self._shortened or len(self._shortened) >= limits.LABELS_MAX:
                continue
            self._shortened.add(label)
            report.labels_shortened += 1
            report.notice(
                f"A label is shortened to {MAX_NAME_CHARACTERS} characters: {shown(label)}."
            )

    def _adapted(self, post: FoundPost) -> FoundPost:
        record = post.record
        if post.order_source is OrderSource.SAVED_DATE and self._is_future(record.bookmarked_at):
            record = msgspec.structs.replace(record, bookmarked_at=UNSET)
            post = msgspec.structs.replace(post, record=record, order_source=OrderSource.IMPORT)
        if self._options.label:
            post = msgspec.structs.replace(post, added_labels=(self._options.label,))
        return post

    def _is_future(self, date: object) -> bool:
        instant = instants.parse(date) if isinstance(date, str) else None
        return instant is not None and instant > self._clock() + MAX_AHEAD_US

    def _remark(self, report: FileReport, remark: LeftOut | Notice) -> None:
        if isinstance(remark, Notice):
            report.notice(remark.sentence)
            return
        sentence = remark.sentence.removeprefix(f"Line {remark.line}: ")
        row = Row(remark.line, remark.reason.value, sentence, remark.link)
        report.leave_out(row)
        if row.link and len(report.links) < MAX_LINKS and len(row.link) <= self._link_room:
            self._link_room -= len(row.link)
            report.links.append(row.link)
        self._on_row(report, row)


def _source_of(names: Sequence[str], format: str) -> str:
    """What the list of imports calls them: the file and its format, or how many files there are."""
    if not names:
        return format
    name = storable(names[0])
    if len(name) > _MAX_NAME_CHARACTERS:
        name = f"{name[: _MAX_NAME_CHARACTERS - 1]}…"
    return f"{name} and {len(names) - 1:,} more" if names[1:] else f"{name} ({format})"


def _without_labels(labels: LeftOutLabels) -> str:
    names = ", ".join(map(shown, labels.names[:_SHOWN_NAMES]))
    if len(labels.names) > _SHOWN_NAMES:
        names += f" and {len(labels.names) - _SHOWN_NAMES:,} more"
    return (
        f"Post {labels.post_id} is imported without {len(labels.names):,} of its labels, because "
        f"{labels.reason}: {names}."
    )
