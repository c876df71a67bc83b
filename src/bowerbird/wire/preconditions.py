"""If-Match and If-Unmodified-Since: a write is refused if somebody changed its resource since.

The ETag of one resource has two halves: the state of the resource alone, which If-Match compares,
and the rest of the answer, such as its encoding. So a write is refused exactly if its own resource
is another one than the client has seen, whatever else has changed in the library.
"""

import hashlib
from collections.abc import Awaitable, Callable
from email.utils import parsedate_to_datetime
from typing import Final

from bowerbird import errors
from bowerbird.clock import MICROSECONDS
from bowerbird.errors import Code, Refusal
from bowerbird.model import instants
from bowerbird.wire.routes import Call

_HALVES: Final = b"."


def state_of(stored: bytes) -> bytes:
    """The half of an ETag that shows in which state a resource is."""
    return hashlib.blake2b(stored, digest_size=16).hexdigest().encode()


async def check(call: Call, current: Callable[[], Awaitable[tuple[bytes, int]]]) -> None:
    """Refuses a write whose condition is not met.

    `current` locks the resource, and returns what is stored and when that was changed. It is only
    called if there is a condition.
    """
    if call.if_match is not None:
        stored, _ = await current()
        if not _is_among(state_of(stored), call.if_match):
            raise _failed("If-Match", "has another ETag now")
    elif call.if_unmodified_since is not None:
        text = call.if_unmodified_since.decode("latin-1").strip()
        _, changed_at = await current()
        if not _is_unmodified(text, changed_at):
            changed = instants.with_offset(changed_at)
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
