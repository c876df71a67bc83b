"""The tool that returns the account's plan, usage and library size."""

from typing import Final

import msgspec
from msgspec import Struct

from bowerbird.assembly import Services
from bowerbird.library.accounts.account_state import AccountResponse, Vectors, VectorState
from bowerbird.model.accounts import Account
from bowerbird.toolserver.tools.arguments import reading
from bowerbird.toolserver.tools.tool import READS, BoundTool, NoArguments, Tool


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
TOOLS: Final = (GET,)


def bind(services: Services) -> list[BoundTool]:
    async def get_account(account: Account, _: NoArguments) -> AccountInfo:
        return _content(await services.state.to_response(account))

    # Reading the number of calls left is free, as in REST.
    return [reading.bound(GET, get_account, counts=lambda _: False)]


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
