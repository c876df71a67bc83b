"""If-Match and If-Unmodified-Since: a write is refused if somebody changed its resource since.

The ETag of one resource has two halves: the state of the resource alone, which If-Match compares,
and the rest of the answer, such as its encoding. So a write is refused exactly if its own resource
is another one than the client has seen, whatever else has changed in the library.

A resource has one `State`: its GET makes the ETag from it, and `Writes` compares it before a
change.
"""

from collections.abc import Awaitable, Callable
from email.utils import parsedate_to_datetime
from typing import Final

from bowerbird import errors
from bowerbird.clock import MICROSECONDS
from bowerbird.errors import Code, Refusal
from bowerbird.model import instants
from bowerbird.storage.database import Transaction
from bowerbird.wire.responses.states import State
from bowerbird.wire.routes import Call

_HALVES: Final = b"."


Current = Callable[[Transaction, Call], Awaitable[State]]
"""Reads the resource that a call changes. No other write changes it until the transaction ends."""


def is_conditional(call: Call) -> bool:
    return call.if_match is not None or call.if_unmodified_since is not None


def check(call: Call, state: State) -> None:
    """Refuses a write whose condition is not met."""
    if call.if_match is not None:
        if not _is_among(state.tag, call.if_match):
            raise _failed("If-Match", "has another ETag now")
    elif call.if_unmodified_since is not None:
        text = call.if_unmodified_since.decode("latin-1").strip()
        if not _is_unmodified(text, state.changed_at):
            changed = instants.with_offset(state.changed_at)
            raise _failed("If-Unmodified-Since", f"was changed at {changed}")


def _is_among(state: bytes, if_match: bytes) -> bool:
    # A weak tag never matches: two answers with it may differ.
    tags = [part.strip() for part in if_match.split(b",")]
    return b"*" in tags or any(
        tag.startswith(b'"') and tag.strip(b'"').partition(_HALVES)[0] == state for tag in tags
    )


def _is_unmodified(text: str, changed_at: int) -> bool:
    moment = instants.parse(text)
    if moment is not None:
        return changed_at <= moment
    try:
        date = parsedate_to_datetime(text)
    except ValueError:
        raise errors.invalid(
            "If-Unmodified-Since",
            "must be a date of HTTP, or a time such as updated_at, got " + errors.shown(text),
        ) from None
    # A date of HTTP has no fractions of a second.
    return changed_at // MICROSECONDS <= int(date.timestamp())


def _failed(header: str, why: str) -> Refusal:
    return Refusal(
        Code.PRECONDITION_FAILED,
        f"{header}: the resource {why}. Nothing was changed. Get it again, then decide whether to "
        "repeat the change.",
    )
