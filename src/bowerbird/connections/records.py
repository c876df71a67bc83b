"""What the clients of the networks take and return, and when a network allows the next request."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final, TypeVar

import msgspec
from msgspec import Struct

from bowerbird.clock import MICROSECONDS, Clock
from bowerbird.model import instants
from bowerbird.model.arrival.connections import Problem
from bowerbird.sources.parsing.json_values import Unreadable, decode

if TYPE_CHECKING:
    from bowerbird.connections.fetching import Fetcher

T = TypeVar("T")
OK, BAD_REQUEST, UNAUTHORIZED, FORBIDDEN = 200, 400, 401, 403


class Tokens(Struct, frozen=True, omit_defaults=True):
    """The access to an account at a network. Stored only encrypted."""

    access: str = ""
    # "" for networks whose access tokens stay valid.
    refresh: str = ""
    # When the access token expires, in microseconds; 0 if nothing says so.
    expires_at: int = 0
    # The person's own app at X.
    client_id: str = ""
    client_secret: str = ""

    def __repr__(self) -> str:
        return "Tokens()"


class Person(Struct, frozen=True):
    """An account at a network."""

    # What runs are named with: one text per account and network.
    source_user_id: str
    # As people call it, such as alice@mastodon.example.
    name: str


class ListPage(Struct, frozen=True):
    """One answer with saved posts."""

    # As the readers of `sources` take it.
    payload: bytes
    request_url: str


class SourceProblem(Exception):  # noqa: N818 - named for what it is
    """A network gave no usable answer. Nothing that it sent is repeated anywhere."""

    def __init__(self, problem: Problem, *, retry_at: int = 0, reason: str = "") -> None:
        """`retry_at`: when the network allows the next request; `reason` is for the log."""
        super().__init__(problem.value)
        self.problem = problem
        self.retry_at = retry_at
        self.reason = reason


class NetworkClient:
    def __init__(self, fetcher: "Fetcher", server: str, clock: Clock) -> None:
        self._fetcher = fetcher
        self._server = server
        self._clock = clock

    def _checked(self, answer: "Answer") -> "Answer":
        """The answer, if it is what was asked for."""
        require_allowed(answer, self._clock())
        if answer.status == UNAUTHORIZED:
            raise TokenExpired
        if answer.status == FORBIDDEN:
            raise SourceProblem(Problem.FORBIDDEN)
        if answer.status != OK:
            raise SourceProblem(Problem.WRONG_SERVER, reason=f"status_{answer.status}")
        return answer


class Answer(Struct, frozen=True):
    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def is_json(self) -> bool:
        return "json" in self.headers.get("content-type", "")

    def value(self) -> Any:
        """The JSON of the answer; None if it has none."""
        try:
            return decode(self.body)
        except Unreadable:
            return None

    def read(self, kind: type[T]) -> T:
        try:
            return msgspec.json.decode(self.body, type=kind)
        except (msgspec.MsgspecError, ValueError, RecursionError):
            raise SourceProblem(Problem.UNREADABLE_ANSWER, reason="json") from None

    def is_error(self, *names: str) -> bool:
        """Whether the answer has one of these codes of an error."""
        try:
            found = msgspec.json.decode(self.body, type=_Error)
        except (msgspec.MsgspecError, ValueError, RecursionError):
            return False
        return found.error in names


class _Error(Struct, frozen=True):
    error: str = ""


class CursorRefused(Exception):  # noqa: N818 - named for what it is
    """The network does not know where the list was left. It has to be read from the top."""


class TokenExpired(Exception):  # noqa: N818 - named for what it is
    """The access token is not valid any more. Another one may be."""


TOO_MANY: Final = 429
_DEFAULT_S: Final = 900
_SHORTEST_S: Final = 60
_LONGEST_S: Final = 86_400
# The clocks of two machines differ by a second or so.
_SKEW: Final = 2 * MICROSECONDS
# X and Bluesky send seconds since 1970, Mastodon sends a date.
_RESETS: Final = ("x-rate-limit-reset", "ratelimit-reset", "x-ratelimit-reset")
_LONGEST_TEXT: Final = 40


def require_allowed(answer: Answer, now: int) -> None:
    if answer.status == TOO_MANY:
        raise SourceProblem(Problem.RATE_LIMITED, retry_at=retry_at(answer.headers, now))


def retry_at(headers: Mapping[str, str], now: int) -> int:
    """At least a minute and at most a day from now, whatever the server says."""
    found = now + _DEFAULT_S * MICROSECONDS
    after = headers.get("retry-after", "")[:_LONGEST_TEXT]
    if after.isascii() and after.isdecimal():
        found = now + int(after) * MICROSECONDS
    for name in _RESETS:
        at = _moment(headers.get(name, "")[:_LONGEST_TEXT])
        if at is not None:
            found = at + _SKEW
            break
    return min(max(found, now + _SHORTEST_S * MICROSECONDS), now + _LONGEST_S * MICROSECONDS)


def _moment(text: str) -> int | None:
    if text.isascii() and text.isdecimal():
        return int(text) * MICROSECONDS
    return instants.parse(text) if text else None
