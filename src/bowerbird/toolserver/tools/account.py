"""The tools that show the account, list imports, and undo one."""

from typing import Annotated, Final

import msgspec
from msgspec import Meta, Struct

from bowerbird.assembly import Services
from bowerbird.library.accounts.account_state import AccountResponse, Vectors, VectorState
from bowerbird.library.imports.undoing import UndoOutcome
from bowerbird.model.accounts import Account
from bowerbird.model.arrival import RunState
from bowerbird.requests.fields import about
from bowerbird.requests.limits import PAGE_DEFAULT
from bowerbird.requests.saving import ImportsQuery
from bowerbird.toolserver.tools import binding
from bowerbird.toolserver.tools.results import response_size
from bowerbird.toolserver.tools.tool import DESTROYS, READS, BoundTool, Json, NoArguments, Tool


class VectorStore(Struct, kw_only=True, omit_defaults=True):
    state: VectorState
    embedded: int
    total: int
    # Why it is unavailable.
    problem: str | None = None


class AccountInfo(Struct, kw_only=True, omit_defaults=True):
    plan: str
    can_filter: bool
    can_page: bool
    can_write_labels_and_views: bool
    can_search_by_meaning: bool
    calls_used: int
    # Absent if calls are not limited.
    calls_left: int | None = None
    next_month_begins: str
    total: int
    # Archived ones too.
    unread: int
    archived: int
    vector_store: VectorStore
    advice: str = ""


GET: Final = Tool(
    name="get_account",
    title="Show plan, calls left and library size",
    description=(
        "Returns the user's plan and what it includes, the calls left this month, the number of "
        "posts, and whether search by meaning is ready. Does not count as a call."
    ),
    returns=AccountInfo,
    hints=READS,
)


def bind(services: Services) -> list[BoundTool]:
    async def get_account(account: Account, _: NoArguments) -> AccountInfo:
        return _content(await services.state.to_response(account))

    # Reading the number of calls left is free, as in REST.
    return [
        binding.reads(GET, get_account, counts=lambda _: False),
        *_bind_imports(services),
    ]


def _content(account: AccountResponse) -> AccountInfo:
    vectors = account.vector_store
    is_ready = vectors.state is VectorState.READY
    return AccountInfo(
        plan=account.plan,
        can_filter=account.limits.filtering,
        can_page=account.limits.paging,
        can_write_labels_and_views=account.limits.writing,
        can_search_by_meaning=is_ready,
        calls_used=account.calls.used,
        calls_left=account.calls.left,
        next_month_begins=account.calls.next_month_begins,
        total=account.library.total,
        unread=account.library.unread,
        archived=account.library.archived,
        vector_store=msgspec.convert(vectors, VectorStore, from_attributes=True),
        advice=_missing(vectors) if is_ready else "",
    )


def _missing(vectors: Vectors) -> str:
    count = vectors.total - vectors.embedded
    if not count:
        return ""
    posts, them = ("1 post is", "it") if count == 1 else (f"{count:,} posts are", "them")
    return f"{posts} not embedded yet; search by meaning does not find {them}."


_SHOWN: Final = ("run_id", "source", "kind", "state", "reason", "started_at", "undo_until")

_INSTANTS: Final = ("started_at", "undo_until")


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
    takes=ImportsQuery,
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


def _bind_imports(services: Services) -> list[BoundTool]:
    imports = services.imports

    async def list_imports(account: Account, asked: ImportsQuery) -> ImportList:
        page, shown = await response_size.fitting_page(
            lambda values: imports.list(account, values.limit or PAGE_DEFAULT, values.cursor),
            asked,
            lambda page: [_shown(one) for one in page.runs],
        )
        return ImportList(imports=shown, total_count=page.total_count, next_cursor=page.next_cursor)

    return [
        binding.reads(LIST, list_imports),
        binding.writes(
            *(services, UNDO, imports.undo_within),
            given=lambda sent: (sent.run_id,),
            shown=_outcome,
        ),
    ]


def _shown(run: Struct) -> Json:
    whole: Json = msgspec.to_builtins(run)
    short = {name: whole[name] for name in _SHOWN if whole[name]}
    short |= {name: response_size.second(short[name]) for name in _INSTANTS if name in short}
    return {**short, **{name: count for name, count in whole["counts"].items() if count}}


def _outcome(outcome: UndoOutcome) -> Undone:
    return msgspec.convert(outcome, Undone, from_attributes=True)
