"""The tool that tells an agent what it may do here."""

from typing import Final

import msgspec

from bowerbird.library.accounts.account_state import AccountResponse, AccountState, VectorState
from bowerbird.toolserver.tools import arguments, json_schemas
from bowerbird.toolserver.tools.tool import (
    READS,
    BoundTool,
    Json,
    NoArguments,
    Tool,
    ToolCall,
    ToolResult,
)

_YES: Final[Json] = {"type": "boolean"}
GET: Final = Tool(
    name="get_account",
    title="Show plan, calls left and library size",
    description=(
        "Tells the user's plan and what it opens, how many calls of the month are left on the free "
        "plan, how many posts the library holds, and whether search by meaning is ready. Costs no "
        "call. Look here when something was refused because of the plan or the vector store."
    ),
    answer=json_schemas.record(
        "The account.",
        {
            "plan": json_schemas.said("free or pro."),
            "can_filter": _YES,
            "can_page": _YES,
            "can_write_labels_and_views": _YES,
            "can_search_by_meaning": {
                "type": "boolean",
                "description": "Whether modes semantic and hybrid work now.",
            },
            "calls_used": json_schemas.count("API calls of this calendar month (UTC)."),
            "calls_left": json_schemas.count("Calls left; absent where calls are not counted."),
            "next_month_begins": json_schemas.said("When calls are counted anew."),
            "total": json_schemas.count("Posts in the library."),
            "unread": json_schemas.count("Posts not marked read."),
            "archived": json_schemas.count("Posts that are archived."),
            "vector_store": json_schemas.record(
                "How far search by meaning is.",
                {
                    "state": json_schemas.choice(
                        "off: not on this plan. building: not every post has a vector yet. "
                        "unavailable: problem says why.",
                        *VectorState,
                    ),
                    "embedded": json_schemas.count("Posts that have a vector."),
                    "total": json_schemas.count("Posts to have one."),
                    "problem": json_schemas.said("Why it is unavailable."),
                },
                optional=("problem",),
            ),
        },
        optional=("calls_left",),
    ),
    hints=READS,
)
TOOLS: Final = (GET,)


def offered(state: AccountState) -> list[BoundTool]:
    async def get_account(call: ToolCall) -> ToolResult:
        arguments.read(GET, call, NoArguments)
        return ToolResult(_shown(await state.shown(call.account)))

    # As over REST: whoever looks how many calls are left has not used one by that.
    return [BoundTool(GET, get_account, counts=lambda _: False)]


def _shown(account: AccountResponse) -> Json:
    vectors: Json = msgspec.to_builtins(account.vector_store)
    made: Json = {
        "plan": account.plan,
        "can_filter": account.limits.filtering,
        "can_page": account.limits.paging,
        "can_write_labels_and_views": account.limits.writing,
        "can_search_by_meaning": account.vector_store.state is VectorState.READY,
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
    }
    return {name: value for name, value in made.items() if value is not None}
