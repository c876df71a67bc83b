"""The tools that list imports and undo one."""

from collections.abc import Awaitable
from typing import Annotated, Final

import msgspec
from msgspec import Meta, Struct

from bowerbird.assembly import Services
from bowerbird.library.imports.undoing import UndoOutcome
from bowerbird.model.accounts import Account
from bowerbird.model.arrival import RunState
from bowerbird.requests.fields import about
from bowerbird.requests.ingest import ImportsQuery
from bowerbird.requests.limits import PAGE_DEFAULT
from bowerbird.storage.database import Transaction
from bowerbird.toolserver.tools.arguments import reading, writes
from bowerbird.toolserver.tools.results import response_size
from bowerbird.toolserver.tools.tool import DESTROYS, READS, BoundTool, Json, Tool

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


def bind(services: Services) -> list[BoundTool]:
    imports = services.imports

    async def list_imports(account: Account, asked: ListArguments) -> ImportList:
        page, shown = await response_size.fitting_page(
            lambda values: imports.list(account, values.limit or PAGE_DEFAULT, values.cursor),
            asked,
            lambda page: [_shown(one) for one in page.runs],
        )
        return ImportList(imports=shown, total_count=page.total_count, next_cursor=page.next_cursor)

    def undo(
        transaction: Transaction, account: Account, sent: UndoArguments
    ) -> Awaitable[UndoOutcome]:
        return imports.undo_within(transaction, account, sent.run_id)

    return [
        reading.bound(LIST, list_imports),
        writes.bound(services, UNDO, undo, shown=_outcome),
    ]


def _shown(run: Struct) -> Json:
    whole: Json = msgspec.to_builtins(run)
    short = {name: whole[name] for name in _SHOWN if whole[name]}
    short |= {name: response_size.second(short[name]) for name in _INSTANTS if name in short}
    return {**short, **{name: count for name, count in whole["counts"].items() if count}}


def _outcome(outcome: UndoOutcome) -> Undone:
    return msgspec.convert(outcome, Undone, from_attributes=True)
