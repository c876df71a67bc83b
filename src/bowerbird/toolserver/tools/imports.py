"""The tools that list imports and undo one."""

from typing import Annotated, Final

import msgspec
from msgspec import Meta, Struct

from bowerbird.library.imports.runs import ImportRuns
from bowerbird.library.imports.undoing import UndoOutcome
from bowerbird.model.accounts import Account
from bowerbird.model.arrival.imports import RunState
from bowerbird.requests.fields import about
from bowerbird.requests.ingest import ImportsQuery
from bowerbird.requests.limits import PAGE_DEFAULT
from bowerbird.storage.database import Transaction
from bowerbird.toolserver.tools.arguments import reading, writes
from bowerbird.toolserver.tools.results import response_size
from bowerbird.toolserver.tools.tool import (
    DESTROYS,
    READS,
    BoundTool,
    Json,
    Tool,
    ToolCall,
    ToolResult,
)
from bowerbird.wire.idempotency import Idempotency

_SHOWN: Final = ("run_id", "source", "kind", "state", "reason", "started_at", "undo_until")

_INSTANTS: Final = ("started_at", "undo_until")


class ListArguments(ImportsQuery, frozen=True, forbid_unknown_fields=True):
    pass


class UndoArguments(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    run_id: Annotated[Annotated[str, Meta(max_length=40)], about("run_id from list_imports.")]


class ImportList(Struct, kw_only=True, omit_defaults=True):
    imports: list[Json]
    total_count: int
    next_cursor: str | None


class Undone(Struct, kw_only=True, omit_defaults=True):
    state: RunState
    removed: int
    restored: int
    kept: int


LIST: Final = Tool(
    name="list_imports",
    title="List imports",
    description="Lists the imports of the last months, latest first, with what each changed.",
    takes=ListArguments,
    returns=ImportList,
    hints=READS,
)
UNDO: Final = Tool(
    name="undo_import",
    title="Undo an import",
    description=(
        "Undoes an import within 30 days: removes the posts that it added, and gives back what it "
        "changed. What the user changed since stays."
    ),
    takes=UndoArguments,
    returns=Undone,
    hints=DESTROYS,
)
TOOLS: Final = (LIST, UNDO)


def bind(imports: ImportRuns, idempotency: Idempotency) -> list[BoundTool]:
    async def list_imports(call: ToolCall) -> ToolResult:
        values = reading.read(LIST, call, ListArguments)
        limit = values.limit or PAGE_DEFAULT
        page = await imports.list(call.account, limit, values.cursor)
        while response_size.size(shown := [_shown(one) for one in page.runs]) > _MOST:
            limit = len(page.runs) // 2
            page = await imports.list(call.account, limit, values.cursor)
        return ToolResult(
            ImportList(imports=shown, total_count=page.total_count, next_cursor=page.next_cursor)
        )

    async def undo(transaction: Transaction, account: Account, values: UndoArguments) -> Struct:
        return _outcome(await imports.undo_within(transaction, account, values.run_id))

    return [BoundTool(LIST, list_imports), writes.bound(idempotency, UNDO, undo)]


_MOST: Final = response_size.MAX_BYTES - response_size.OVERHEAD_BYTES


def _shown(run: Struct) -> Json:
    whole: Json = msgspec.to_builtins(run)
    short = {name: whole[name] for name in _SHOWN if whole[name]}
    short |= {name: response_size.second(short[name]) for name in _INSTANTS if name in short}
    return {**short, **{name: count for name, count in whole["counts"].items() if count}}


def _outcome(outcome: UndoOutcome) -> Undone:
    return msgspec.convert(outcome, Undone, from_attributes=True)
