"""The tool that shows and changes how often the user gets a digest."""

from typing import Final

import msgspec
from msgspec import Struct

from bowerbird.library.digests.digests import Digests, PreferencesResponse
from bowerbird.model.digests import Frequency
from bowerbird.requests.digests import PreferencesRequest
from bowerbird.storage.database import Transaction
from bowerbird.toolserver.tools.arguments import writes
from bowerbird.toolserver.tools.results import response_size
from bowerbird.toolserver.tools.tool import (
    WRITES_IDEMPOTENTLY,
    BoundTool,
    Tool,
    ToolCall,
    ToolResult,
)
from bowerbird.wire.idempotency import Idempotency

_NO_MAIL: Final = "This service cannot send email yet; digests are only on the website."


class Preferences(Struct, kw_only=True, omit_defaults=True):
    frequency: Frequency
    time_zone: str
    hour: int
    mail: bool
    mail_available: bool
    next_digest_at: str | None = None
    advice: str = ""


UPDATE: Final = Tool(
    name="update_digest_preferences",
    title="Change digest preferences",
    description=(
        "Changes how often the user gets a digest, when, and whether by email. Without arguments "
        "it changes nothing and returns the present preferences."
    ),
    takes=PreferencesRequest,
    returns=Preferences,
    hints=WRITES_IDEMPOTENTLY,
)
TOOLS: Final = (UPDATE,)


def bind(digests: Digests, idempotency: Idempotency) -> list[BoundTool]:
    async def update_digest_preferences(call: ToolCall) -> ToolResult:
        async def effect(transaction: Transaction, values: PreferencesRequest) -> Preferences:
            changed = shown(await digests.update_preferences(transaction, call.account, values))
            if changed.mail and not changed.mail_available:
                changed.advice = _NO_MAIL
            return changed

        return await writes.run(idempotency, call, UPDATE, PreferencesRequest, effect)

    return [BoundTool(UPDATE, update_digest_preferences)]


def shown(preferences: PreferencesResponse) -> Preferences:
    shown = msgspec.convert(preferences, Preferences, from_attributes=True)
    if shown.next_digest_at is not None:
        shown.next_digest_at = response_size.second(shown.next_digest_at)
    return shown
