"""Changes of many posts as REST and pages request them, and the answers."""

from collections.abc import Callable, Sequence
from typing import Final

from msgspec import Struct

from bowerbird import errors
from bowerbird.clock import Clock
from bowerbird.errors import Code, Refusal
from bowerbird.library.access.turns import DoFirst
from bowerbird.library.bulk.changes import BulkChanges, NewChange
from bowerbird.library.bulk.selection import BulkSelection, Chosen, Example
from bowerbird.library.bulk.summaries import RecentChanges
from bowerbird.library.vectors.semantic_search import SemanticSearch
from bowerbird.library.views.views import Views
from bowerbird.model.accounts import Account
from bowerbird.model.bulk import FAILED, BulkAction, BulkRow, BulkState
from bowerbird.model.instants import with_offset
from bowerbird.requests.bulk import BulkRequest
from bowerbird.storage.database import Database, Transaction

DRY_RUN: Final = "dry_run"
# Others can write between each read and the transaction that compares.
_READS_MAX: Final = 5


class BulkChange(Struct, frozen=True, kw_only=True):
    """A change of many posts as its account sees it."""

    change_id: str | None
    """Identifier of the change, for its progress and its undo; null in a dry run."""
    action: str
    """What is done."""
    label_name: str | None
    """The label that is added or removed, or null."""
    state: str
    """dry_run, working, done, undoing, undone or failed. The rest of a failed change is not made;
    it can be undone."""
    count: int
    """Number of bookmarks that matched when the change started; 1 for a label or Smart View."""
    done: int
    """Number of these that were handled so far."""
    changed: int
    """Number of bookmarks that were changed so far; others were so already."""
    restored: int
    """Number of bookmarks that the undo gave something back; for a label or Smart View 1, or 0
    if it was changed since."""
    error: str | None
    """Why a change has failed, or null."""
    created_at: str | None
    """When the change started: ISO 8601 with an offset."""
    finished_at: str | None
    """When the change or its undo finished, or null."""
    undo_until: str | None
    """Until when the change can be undone; null until it has finished."""
    examples: list[Example]
    """In a dry run: up to five of the bookmarks."""
    left_out: int
    """In a dry run: number of bookmarks with the words of q only in names, link titles or alt
    texts, or only by an abbreviation that a post explains, which text_only leaves out."""
    not_found: list[str]
    """Ids of the request that are not in the library, or not in the trash for restore; empty when
    the progress is shown."""

    @property
    def is_open(self) -> bool:
        return self.state in ("working", "undoing")


class Prepared(Struct):
    """The posts of a request, or why it is refused. Read before the transaction."""

    chosen: Chosen | Refusal
    examples: Sequence[Example] = ()
    # Refuses another count that is found in the transaction.
    mismatch: Code = Code.COUNT_MISMATCH
    reads: int = 1

    @property
    def not_found(self) -> Sequence[str]:
        """Ids of the request that are not in the library, or not in the trash for restore."""
        return () if isinstance(self.chosen, Refusal) else self.chosen.not_found


class BulkRequests:
    def __init__(
        self, selection: BulkSelection, changes: BulkChanges, recent: RecentChanges
    ) -> None:
        self._selection = selection
        self.changes = changes
        self.recent = recent

    async def prepare(self, account: Account, request: BulkRequest) -> Prepared:
        try:
            chosen = await self._selection.choose(account, request)
        except Refusal as refused:
            return Prepared(refused)
        if request.post_ids and not chosen.count:
            kind = "deleted post" if request.action == "restore" else "post"
            return Prepared(errors.not_found(kind, *request.post_ids))
        if not request.dry_run:
            return Prepared(chosen)
        return Prepared(chosen, await self._selection.examples(account, request, chosen))

    async def start(
        self, transaction: Transaction, account: Account, request: BulkRequest, prepared: Prepared
    ) -> BulkChange:
        """Starts a change that was prepared, or says what it would change."""
        chosen = prepared.chosen
        if isinstance(chosen, Refusal):
            raise chosen
        if request.dry_run:
            return _dry_run(request, chosen, prepared.examples)
        row = await self._start(transaction, account, request, prepared)
        return shown(row, not_found=prepared.not_found)

    async def start_label(
        self, transaction: Transaction, account: Account, label_id: str, into_id: str | None = None
    ) -> BulkChange:
        """Deletes a label, or merges it into another one."""
        return shown(await self.changes.start_label(transaction, account, label_id, into_id))

    async def undo(self, transaction: Transaction, account: Account, change_id: str) -> BulkChange:
        return shown(await self.changes.undo(transaction, account, change_id))

    async def get(self, account: Account, change_id: str) -> BulkChange:
        row = await self.changes.get(account, change_id)
        return shown(row, await self.changes.problem(account, row))

    async def run(self, account: Account, request: BulkRequest) -> BulkRow:
        """Makes a change in a transaction of its own."""
        chosen = await self._selection.choose(account, request)
        prepared = Prepared(chosen)
        return await self.changes.write(
            account, lambda transaction: self._start(transaction, account, request, prepared)
        )

    async def _start(
        self, transaction: Transaction, account: Account, request: BulkRequest, prepared: Prepared
    ) -> BulkRow:
        """Starts the change, unless another number of posts matches by now than is expected."""
        chosen = prepared.chosen
        if isinstance(chosen, Refusal):
            raise chosen
        is_exact = request.expected_count is not None
        if is_exact and not await self._selection.is_current(transaction, account, chosen):
            raise DoFirst(lambda: self._read_again(account, request, prepared))
        return await self.changes.start(transaction, account, _new(request, chosen))

    async def _read_again(self, account: Account, request: BulkRequest, prepared: Prepared) -> None:
        """Somebody has changed the library since the posts were read: they are read again."""
        if prepared.reads == _READS_MAX:
            prepared.chosen = Refusal(
                prepared.mismatch,
                "The library was changed again and again while the posts were counted. Nothing "
                "was changed; send the request again.",
            )
            return
        prepared.reads += 1
        chosen = (await self.prepare(account, request)).chosen
        if isinstance(chosen, Refusal) and chosen.code is Code.COUNT_MISMATCH:
            chosen = Refusal(prepared.mismatch, chosen.sentence)
        prepared.chosen = chosen


def bulk_requests(
    database: Database,
    clock: Clock,
    views: Views,
    meaning: SemanticSearch,
    wake: Callable[[], None],
) -> BulkRequests:
    """`wake` is called when a job has been added, for a worker in the same process."""
    selection = BulkSelection(database, clock, views, meaning)
    changes = BulkChanges(database, clock, wake)
    return BulkRequests(selection, changes, RecentChanges(database, clock, changes))


def shown(row: BulkRow, problem: str | None = None, not_found: Sequence[str] = ()) -> BulkChange:
    return BulkChange(
        change_id=row.change_id,
        action=row.action,
        label_name=row.label_name,
        state=FAILED if problem else row.state,
        count=row.matched,
        done=row.done,
        changed=row.changed,
        restored=row.restored,
        error=problem,
        created_at=with_offset(row.created_at),
        finished_at=None if row.finished_at is None else with_offset(row.finished_at),
        undo_until=with_offset(row.undo_until) if row.state is BulkState.DONE else None,
        examples=[],
        left_out=0,
        not_found=list(not_found),
    )


def _dry_run(request: BulkRequest, chosen: Chosen, examples: Sequence[Example]) -> BulkChange:
    return BulkChange(
        change_id=None,
        action=request.action,
        label_name=request.label_name,
        state=DRY_RUN,
        count=chosen.count,
        done=0,
        changed=0,
        restored=0,
        error=None,
        created_at=None,
        finished_at=None,
        undo_until=None,
        examples=list(examples),
        left_out=chosen.left_out,
        not_found=list(chosen.not_found),
    )


def _new(request: BulkRequest, chosen: Chosen) -> NewChange:
    return NewChange(
        *(BulkAction(request.action), chosen.parts, chosen.count, request.label_name),
        is_named=request.post_ids is not None,
    )
