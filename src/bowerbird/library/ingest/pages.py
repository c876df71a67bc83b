"""Takes the pages of a run: reads each one, stores its posts, and says whether to go on."""

import asyncio
import hashlib
from collections.abc import Awaitable, Callable, Sequence
from itertools import pairwise
from typing import Final, NamedTuple, TypeVar

import msgspec
import structlog
from msgspec import Struct

from bowerbird import errors
from bowerbird.clock import Clock, day_of
from bowerbird.errors import Code, Refusal
from bowerbird.library.access import turns
from bowerbird.library.access.call_allowance import used_up
from bowerbird.library.imports.intake import Intake, IntakeOutcome, ItemResult, parts, unwritten
from bowerbird.library.ingest import page_reading
from bowerbird.library.ingest.kept_pages import (
    NO_FOLDER_NAME,
    UNKNOWN_FORM,
    KeptPages,
)
from bowerbird.library.ingest.page_reading import CapturedPage, ReadPage
from bowerbird.library.ingest.removals import Removals, RemovedPosts
from bowerbird.library.ingest.runs import USE_NOTED_EVERY, IngestRuns, finished_run
from bowerbird.model.accounts import Account
from bowerbird.model.arrival import (
    UP_TO_KNOWN,
    Completeness,
    EndReason,
    IngestRun,
    KeptPage,
    PageLink,
    RunState,
    StoredPage,
)
from bowerbird.requests import limits
from bowerbird.sources.found import FoundPost
from bowerbird.storage.database import Database, Readable, Transaction, Writable
from bowerbird.storage.libraries import INGEST_PAGES, DailyUseStore
from bowerbird.storage.stores import TimedService


class Skipped(Struct, frozen=True):
    post_id: str
    """The post. Empty if the entry does not say which it is."""
    state: str
    """unavailable, advertisement, invalid, or another reason."""
    reason: str
    """The reason as a sentence."""


class PageResult(Struct, frozen=True, kw_only=True):
    received: int
    """Entries of the page."""
    inserted: int
    """Posts that are new in the library."""
    updated: int
    """Posts whose text, author, media or labels changed."""
    unchanged: int
    """Posts that the library already has."""
    ignored_deleted: int
    """Posts that the owner deleted from the library. They stay deleted."""
    skipped: list[Skipped]
    """Entries that are not imported."""
    cursor_out: str | None
    """Where the list continues, or null."""
    stop: bool
    """Whether the run can end here."""
    stop_reason: str | None
    """end: the list ends. caught_up: everything below is known. Or null."""
    unreadable: int
    """Parts of the page that could not be read. Do not send it again."""
    errors: list[str]
    """Sentences about the page."""
    is_kept: bool
    """Whether the page is kept for a year and read again after an upgrade."""
    is_unknown_form: bool
    """Whether the source has changed its answers: most posts of the page have a form that the
    server does not know. Nothing is recorded as gone, removed or complete."""


class TakenPage(NamedTuple):
    """A page that is read, and not stored yet."""

    run: IngestRun
    seq: int
    fingerprint: bytes
    read: ReadPage
    kept: KeptPage | None
    captured_at: int
    # Whether the library has only the link of one of the posts.
    has_stubs: bool
    # Whether its posts have no indexes, and are where earlier runs saw them in the list.
    is_known_part: bool


def result_of(
    read: ReadPage, outcome: IntakeOutcome, reason: EndReason | None, *, is_kept: bool
) -> PageResult:
    posts = {post.record.post_id for post in read.posts}
    # Posts that the source does not show are listed as skipped.
    results = [result for post_id, result in outcome.results if post_id in posts]
    return PageResult(
        received=len(read.posts) + len(read.left_out),
        inserted=results.count(ItemResult.NEW),
        updated=results.count(ItemResult.CHANGED),
        unchanged=results.count(ItemResult.UNCHANGED),
        ignored_deleted=results.count(ItemResult.IGNORED_DELETED),
        skipped=[Skipped(one.post_id, one.reason, one.sentence) for one in read.left_out],
        cursor_out=read.cursor_out or None,
        stop=reason is not None,
        stop_reason=reason,
        unreadable=read.unreadable,
        errors=list(read.errors),
        is_kept=is_kept,
        is_unknown_form=read.is_unknown_form,
    )


def stop_reason(taken: TakenPage, results: Sequence[ItemResult]) -> EndReason | None:
    """A single known post is no reason: saving a post again moves it up.

    A post of which the library has only the link is not known.
    """
    run, read = taken.run, taken.read
    if not read.is_listed:
        return None
    if read.proves_end:
        return EndReason.END
    is_known = ItemResult.NEW not in results and not read.unreadable and not taken.has_stubs
    if run.kind not in UP_TO_KNOWN or not is_known:
        return None
    stop_below, indexes = run.stop_below, read.indexes
    is_below = (
        bool(indexes) and stop_below is not None and all(index <= stop_below for index in indexes)
    )
    return EndReason.CAUGHT_UP if is_below or taken.is_known_part else None


def link_of(read: ReadPage, *, is_caught_up: bool) -> PageLink:
    return PageLink(
        cursor_in=read.cursor_in,
        cursor_out=read.cursor_out,
        proves_end=read.proves_end,
        # An entry that no reader understands is a post all the same.
        is_readable=not read.hides_posts,
        lowest=min(read.indexes, default=None),
        highest=max(read.indexes, default=None),
        is_caught_up=is_caught_up,
    )


T = TypeVar("T")

# Reading a page takes about ten times its size of memory.
_READ_AT_ONCE: Final = 2
_SOME_UNREADABLE: Final = "Some entries cannot be read."
_encode: Final = msgspec.json.Encoder().encode


class PageAnswer(NamedTuple):
    # A PageResult as JSON.
    body: bytes
    is_replayed: bool


class IngestPages(TimedService):
    def __init__(self, database: Database, clock: Clock, runs: IngestRuns) -> None:
        super().__init__(database, clock)
        self._runs = runs
        self._used = DailyUseStore(database, INGEST_PAGES)
        self._intake = Intake(database, clock)
        self._kept = KeptPages(database, clock)
        self._removals = Removals(database, clock)
        self._removed = RemovedPosts(database, clock)
        self._reading = asyncio.Semaphore(_READ_AT_ONCE)

    async def take(self, account: Account, run_id: str, seq: int, page: CapturedPage) -> PageAnswer:
        async with self._runs.in_turn(account, run_id):
            return await self._take(account, run_id, seq, page)

    async def _take(
        self, account: Account, run_id: str, seq: int, page: CapturedPage
    ) -> PageAnswer:
        run = await self._runs.find(account, run_id)
        fingerprint = await asyncio.to_thread(_fingerprint, page)
        if answer := await self._stored(self._database, account, run, seq, fingerprint):
            return answer
        if run.state == RunState.FINISHED:
            raise finished_run()
        await self._require_room(account)
        # An earlier run saw posts in the list, if it knows where to stop.
        had_posts = run.stop_below is not None
        read = page_reading.doubted(await self._read(account, page), had_posts=had_posts)
        if read.is_unknown_form:
            structlog.get_logger().warning("page in an unknown form", op=page.op, run=run_id)
        kept = None
        is_unread = read.unreadable and not read.is_blank
        if is_unread or (read.lacks_folder and read.posts):
            problem = UNKNOWN_FORM if read.is_unknown_form else "; ".join(read.errors)
            if not problem:
                problem = _SOME_UNREADABLE if read.unreadable else NO_FOLDER_NAME
            kept = await self._kept.prepared(account, run_id, seq, page, problem)
        taken = TakenPage(
            run=run,
            seq=seq,
            fingerprint=fingerprint,
            read=read,
            kept=kept,
            captured_at=page.captured_at,
            has_stubs=await self._has_stubs(account, run, read),
            is_known_part=await self._is_known_part(account, run, read),
        )
        answer = await self._store_page(account, taken)
        if read.says_saved:
            await self._removed.mark_late(account, run.user, read.listed_ids)
        if read.folders:
            # Pages of these folders may have come first.
            await self._kept.read_folders(account, {folder.id for folder in read.folders})
        return answer

    async def _store_page(self, account: Account, taken: TakenPage) -> PageAnswer:
        """The last posts of a page commit together with the answer to it.

        A large page takes several transactions. Sending it again after a part of them is harmless.
        """
        *first, last = [*parts(taken.read.taken)] or [[]]
        outcome = IntakeOutcome()

        async def goes_on(_: Transaction, step: IntakeOutcome) -> IntakeOutcome:
            return step

        async def record(transaction: Transaction, step: IntakeOutcome) -> PageAnswer:
            return await self._record(transaction, account, taken, outcome + step)

        for part in first:
            outcome += await self._store_part(account, taken.run, part, goes_on)
        return await self._store_part(account, taken.run, last, record)

    async def _store_part(
        self,
        account: Account,
        run: IngestRun,
        posts: Sequence[FoundPost],
        end: Callable[[Transaction, IntakeOutcome], Awaitable[T]],
    ) -> T:
        """Takes some posts, and does the rest in the same transaction."""
        prepared = await self._intake.prepare(account, posts, run_id=run.import_id or None)

        async def work(transaction: Transaction) -> T:
            if not await self._stores.ingest_runs.touch(
                Writable(transaction, account.account_id), run.run_id, self._clock()
            ):
                raise finished_run()
            step = IntakeOutcome()
            if posts:
                import_id = await self._runs.import_of(transaction, account, run.run_id, prepared)
                taking = prepared._replace(run_id=import_id)
                step = (
                    await self._intake.take_within(transaction, account, taking)
                    if import_id
                    else unwritten(prepared)
                )
            return await end(transaction, step)

        result = await turns.run(self._database, work, account.account_id)
        await self._intake.make_room(account)
        return result

    async def _record(
        self, transaction: Transaction, account: Account, taken: TakenPage, outcome: IntakeOutcome
    ) -> PageAnswer:
        run, read, kept = taken.run, taken.read, taken.kept
        reason = stop_reason(taken, [result for _, result in outcome.results])
        result = result_of(read, outcome, reason, is_kept=kept is not None)
        page = StoredPage(
            run_id=run.run_id,
            seq=taken.seq,
            fingerprint=taken.fingerprint,
            answer=_encode(result),
            is_listed=read.is_listed,
            link=link_of(read, is_caught_up=reason is EndReason.CAUGHT_UP),
        )
        account_id, now = account.account_id, self._clock()
        library = Writable(transaction, account_id)
        if not await self._stores.ingest_runs.add_page(library, page, now):
            # Another server has stored this page since, or the account was deleted.
            if again := await self._stored(transaction, account, run, page.seq, page.fingerprint):
                return again
            raise errors.not_found("run", run.run_id)
        await self._kept.note(library, run, read, taken.captured_at)
        if reason is not None:
            await self._removals.note_completeness(transaction, account, run.run_id)
        if read.folders:
            await self._kept.put_folders(transaction, account, read.folders)
        if kept is not None:
            await self._stores.kept_pages.insert(library, kept)
        await self._stores.devices.note_use(library, run.device_id, now, USE_NOTED_EVERY)
        await self._used.add(library, day_of(now), uses=1)
        return PageAnswer(page.answer, is_replayed=False)

    async def _stored(
        self,
        reader: Database | Transaction,
        account: Account,
        run: IngestRun,
        seq: int,
        fingerprint: bytes,
    ) -> PageAnswer | None:
        stored = await self._stores.ingest_runs.page(
            Readable(reader, account.account_id), run.run_id, seq
        )
        if stored is None:
            return None
        if stored[0] != fingerprint:
            raise Refusal(
                Code.IDEMPOTENCY_KEY_REUSED,
                f"seq: the run has another page {seq}. Send this page with a new number.",
            )
        return PageAnswer(stored[1], is_replayed=True)

    async def _require_room(self, account: Account) -> None:
        now = self._clock()
        used = await self._used.used(self._library(account.account_id), day_of(now))
        if used.uses >= limits.INGEST_PAGES_PER_DAY:
            raise used_up(f"This account has sent {limits.INGEST_PAGES_PER_DAY:,} pages", now)

    async def _read(self, account: Account, page: CapturedPage) -> ReadPage:
        async with self._reading:
            read = await self._kept.read(account, page)
        page_reading.require_size(read)
        return read

    async def _has_stubs(self, account: Account, run: IngestRun, read: ReadPage) -> bool:
        if run.kind not in UP_TO_KNOWN or not read.is_listed or not read.posts:
            return False
        known = await self._stores.upserts.stored(
            account, [one.record.post_id for one in read.posts]
        )
        return any(one.completeness == Completeness.STUB for one in known.values())

    async def _is_known_part(self, account: Account, run: IngestRun, read: ReadPage) -> bool:
        if run.kind not in UP_TO_KNOWN or not read.is_listed or read.indexes:
            return False
        return await self._is_known(account, run, [one.record.post_id for one in read.posts])

    async def _is_known(self, account: Account, run: IngestRun, post_ids: Sequence[str]) -> bool:
        """Whether the last complete run, or one before it, saw these posts in this order.

        Below them, the list is as it was. Posts that were saved again come in another order.
        """
        account_id = account.account_id
        library = self._library(account_id)
        complete = await self._stores.ingest_runs.last_complete(library, run.user)
        if complete is None or not post_ids:
            return False
        seen = await self._stores.source_posts.seen(library, run.user, post_ids)
        runs = {seen[post_id].run_id if post_id in seen else "" for post_id in post_ids}
        # Runs that started later are not complete, and may have left a gap.
        if "" in runs or await self._stores.ingest_runs.started_after(account_id, complete, runs):
            return False
        stored = await self._stores.upserts.stored(account, post_ids)
        missing = [post_id for post_id in post_ids if post_id not in stored]
        # Posts that their owner has deleted stay in the list, on every page of it perhaps.
        deleted = await self._stores.deletions.known(library, missing)
        if len(deleted) < len(missing):
            return False
        indexes = [stored[post_id].sort_index for post_id in post_ids if post_id in stored]
        return all(upper > lower for upper, lower in pairwise(indexes))


def _fingerprint(page: CapturedPage) -> bytes:
    """Equal for pages with the same content, whenever they were captured."""
    head = f"{page.format}\n{page.op}\n{page.request_url}".encode()
    return hashlib.blake2b(head + b"\n" + page.payload, digest_size=16).digest()
