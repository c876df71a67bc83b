"""The tool that returns the account's plan, usage and library size."""

from typing import Final

import msgspec

from bowerbird.library.accounts.account_state import AccountResponse, AccountState, VectorState
from bowerbird.toolserver.tools.arguments import reading
from bowerbird.toolserver.tools.results import json_schemas
from bowerbird.toolserver.tools.tool import (
    READS,
    BoundTool,
    Json,
    NoArguments,
    Tool,
    ToolCall,
    ToolResult,
)

_FLAG: Final[Json] = {"type": "boolean"}
GET: Final = Tool(
    name="get_account",
    title="Show plan, calls left and library size",
    description=(
        "Returns the user's plan and what it includes, the number of calls left this month on the "
        "free plan, the number of posts in the library, and whether search by meaning is ready. "
        "Does not count as a call. Use it when a call was refused because of the plan or the "
        "vector store."
    ),
    returns=json_schemas.record(
        "The account.",
        {
            "plan": json_schemas.text("free or pro."),
            "can_filter": _FLAG,
            "can_page": _FLAG,
            "can_write_labels_and_views": _FLAG,
            "can_search_by_meaning": {
                "type": "boolean",
                "description": "Whether modes semantic and hybrid work now.",
            },
            "calls_used": json_schemas.count("API calls this calendar month (UTC)."),
            "calls_left": json_schemas.count("Calls left; absent if calls are not limited."),
            "next_month_begins": json_schemas.text("When the count of calls restarts."),
            "total": json_schemas.count("Posts in the library."),
            "unread": json_schemas.count("Posts not marked read, archived ones too."),
            "archived": json_schemas.count("Posts that are archived."),
            "vector_store": json_schemas.record(
                "Progress of search by meaning.",
                {
                    "state": json_schemas.choice(
                        "off: the plan does not include it. building: it does not work yet. ready: "
                        "it finds the posts that have a vector. unavailable: see problem.",
                        *VectorState,
                    ),
                    "embedded": json_schemas.count("Posts that have a vector."),
                    "total": json_schemas.count("Posts that need one."),
                    "problem": json_schemas.text("Why it is unavailable."),
                },
                optional=("problem",),
            ),
            "advice": json_schemas.ADVICE,
        },
        optional=("calls_left", "advice"),
    ),
    describes_result=True,
    hints=READS,
)
TOOLS: Final = (GET,)


def bind(state: AccountState) -> list[BoundTool]:
    async def get_account(call: ToolCall) -> ToolResult:
        reading.read(GET, call, NoArguments)
        return ToolResult(_content(await state.to_response(call.account)))

    # Reading the number of calls left is free, as in REST.
    return [BoundTool(GET, get_account, counts=lambda _: False)]


def _content(account: AccountResponse) -> Json:
    vectors: Json = msgspec.to_builtins(account.vector_store)
    is_ready = account.vector_store.state is VectorState.READY
    fields: Json = {
        "plan": account.plan,
        "can_filter": account.limits.filtering,
        "can_page": account.limits.paging,
        "can_write_labels_and_views": account.limits.writing,
        "can_search_by_meaning": is_ready,
        "calls_used": account.calls.used,
        "calls_left": account.calls.left,
        "next_month_begins": account.calls.next_month_begins,
        "total": account.library.total,
        "unread": account.library.unread,
        "archived": account.library.archived,
        "vector_store": {
            name: vectors[name]
            for name in ("state", "embedded", "total", "problem")
            if vectors[name] is not None
        },
        "advice": _missing(vectors["total"] - vectors["embedded"]) if is_ready else None,
    }
    return {name: value for name, value in fields.items() if value is not None}


def _missing(count: int) -> str | None:
    if not count:
        return None
    posts, them = ("1 post is", "it") if count == 1 else (f"{count:,} posts are", "them")
    return f"{posts} not embedded yet; search by meaning does not find {them}."
