"""When a network allows the next request, as its headers say in one of several ways."""

from typing import TYPE_CHECKING, Final

from bowerbird.clock import MICROSECONDS
from bowerbird.connections.records import SourceProblem
from bowerbird.model import instants
from bowerbird.model.connections import Problem

if TYPE_CHECKING:
    from bowerbird.connections.fetching import Answer

TOO_MANY: Final = 429
_DEFAULT_S: Final = 900
_SHORTEST_S: Final = 60
_LONGEST_S: Final = 86_400
# The clocks of two machines differ by a second or so.
_SKEW: Final = 2 * MICROSECONDS
# X and Bluesky send seconds since 1970, Mastodon sends a date.
_RESETS: Final = ("x-rate-limit-reset", "ratelimit-reset", "x-ratelimit-reset")
_LONGEST_TEXT: Final = 40


def require_allowed(answer: "Answer", now: int) -> None:
    if answer.status == TOO_MANY:
        raise SourceProblem(Problem.RATE_LIMITED, retry_at=retry_at(answer, now))


def retry_at(answer: "Answer", now: int) -> int:
    """At least a minute and at most a day from now, whatever the server says."""
    found = now + _DEFAULT_S * MICROSECONDS
    after = answer.headers.get("retry-after", "")[:_LONGEST_TEXT]
    if after.isascii() and after.isdecimal():
        found = now + int(after) * MICROSECONDS
    for name in _RESETS:
        at = _moment(answer.headers.get(name, "")[:_LONGEST_TEXT])
        if at is not None:
            found = at + _SKEW
            break
    return min(max(found, now + _SHORTEST_S * MICROSECONDS), now + _LONGEST_S * MICROSECONDS)


def _moment(text: str) -> int | None:
    if text.isascii() and text.isdecimal():
        return int(text) * MICROSECONDS
    return instants.parse(text) if text else None
