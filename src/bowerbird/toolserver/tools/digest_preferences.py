"""The tool that shows and changes how often the user gets a digest."""

from typing import Final

import msgspec
from msgspec import Struct

from bowerbird.library.digests.digests import Digests
from bowerbird.requests.digests import PreferencesRequest
from bowerbird.storage.database import Transaction
from bowerbird.toolserver.tools.arguments import writes
from bowerbird.toolserver.tools.results import json_schemas, response_size
from bowerbird.toolserver.tools.tool import (
    WRITES_IDEMPOTENTLY,
    BoundTool,
    Json,
    Tool,
    ToolCall,
    ToolResult,
)
from bowerbird.wire.idempotency import Idempotency

_NO_MAIL: Final = "This service cannot send email yet; digests are only on the website."

UPDATE: Final = Tool(
    name="update_digest_preferences",
    title="Change digest preferences",
    description=(
        "Changes how often the user gets a digest, when, and whether by email. Without arguments "
        "it changes nothing and returns the present preferences."
    ),
    takes=PreferencesRequest,
    returns=json_schemas.record(
        "The preferences.",
        {
            "frequency": {"type": "string"},
            "time_zone": {"type": "string"},
            "hour": {"type": "integer"},
            "mail": {"type": "boolean"},
            "mail_available": {"type": "boolean"},
            "next_digest_at": {"type": "string"},
            "advice": {"type": "string"},
        },
        optional=("next_digest_at", "advice"),
    ),
    hints=WRITES_IDEMPOTENTLY,
)
TOOLS: Final = (UPDATE,)


def bind(digests: Digests, idempotency: Idempotency) -> list[BoundTool]:
    async def update_digest_preferences(call: ToolCall) -> ToolResult:
        async def effect(transaction: Transaction, values: PreferencesRequest) -> Json:
            changed = shown(await digests.update_preferences(transaction, call.account, values))
            return {**changed, "advice": _NO_MAIL} if _lacks_mail(changed) else changed

        return await writes.run(idempotency, call, UPDATE, PreferencesRequest, effect)

    return [BoundTool(UPDATE, update_digest_preferences)]


def shown(preferences: Struct) -> Json:
    """The preferences with instants to the second, without those that have no value."""
    whole: Json = msgspec.to_builtins(preferences)
    next_at = whole.get("next_digest_at")
    if isinstance(next_at, str):
        whole["next_digest_at"] = response_size.second(next_at)
    return {name: value for name, value in whole.items() if value is not None}


def _lacks_mail(preferences: Json) -> bool:
    return bool(preferences["mail"]) and not preferences["mail_available"]
