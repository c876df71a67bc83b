"""What one connection, and all connections together, may take of the server.

Callers whose account the application has verified share one part of the memory for bodies,
strangers a small other one, so that neither can take the memory of the other. Until the application
has asked for a body or refused its caller, nobody knows which part it belongs to. That takes
milliseconds, so it counts as one of a known caller: strangers must not be able to crowd out an
upload before its key is checked.

If a part is full, the account or network address that holds the most is refused first. Its
oldest body goes, because bodies that are held back on purpose are old.
"""

import heapq
import resource
from collections.abc import Callable
from typing import Final

import structlog
from msgspec import Struct
from starlette.types import Scope

from bowerbird.settings import Settings
from bowerbird.wire import bodies
from bowerbird.wire.auth import ClientAddresses, network_of
from bowerbird.wire.pipeline import ACCOUNT

# Request line and headers together. The pipeline accepts 32 KiB of headers and answers above that
# in the form of each surface; beyond this bound nothing is read.
MAX_HEAD_BYTES: Final = 64 * 1024
MAX_HEADERS: Final = 200
# A body is read no faster than the application takes it.
MAX_UNREAD_BODY_BYTES: Final = 256 * 1024
# What `writelines` may leave in memory before the application has to wait for the client.
MAX_UNSENT_BYTES: Final = 64 * 1024
# Answers that clients do not read, in all connections together.
MAX_ALL_UNSENT_BYTES: Final = 256 * 1024 * 1024
# Bodies of requests that are arriving or being answered, in all connections together: those of
# callers with an account, and those of strangers.
MAX_ALL_BODY_BYTES: Final = 256 * 1024 * 1024
MAX_STRANGERS_BODY_BYTES: Final = 32 * 1024 * 1024
MAX_PIPELINED: Final = 16
# A client that sends or reads more slowly than this is closed once its time-out has passed.
MIN_BYTES_PER_SECOND: Final = 16 * 1024
# How long the server reads what a refused client still sends, so that the client sees the answer.
LINGER_S: Final = 2.0
# Answered even when every connection is busy.
HEALTH_PATHS: Final = ("/healthz", "/livez", "/readyz")
# Room for health checks when every connection is busy.
RESERVED_CONNECTIONS: Final = 64
# Open files that are not connections: databases, logs, threads, clients of other services.
_OTHER_FILES: Final = 256


class Bounds(Struct, frozen=True, kw_only=True):
    """The bounds that are settings."""

    max_connections: int
    header_timeout_s: float
    body_timeout_s: float
    response_timeout_s: float
    idle_timeout_s: float


def of(settings: Settings) -> Bounds:
    return Bounds(
        max_connections=_within_open_files(settings.max_connections),
        header_timeout_s=settings.header_timeout_s,
        body_timeout_s=settings.body_timeout_s,
        response_timeout_s=settings.response_timeout_s,
        idle_timeout_s=settings.idle_timeout_s,
    )


def _within_open_files(wanted: int) -> int:
    """Raises the process's limit of open files, and returns how many connections fit into it."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    needed = wanted + RESERVED_CONNECTIONS + _OTHER_FILES
    if soft == resource.RLIM_INFINITY or soft >= needed:
        return wanted
    possible = needed if hard == resource.RLIM_INFINITY else min(needed, hard)
    resource.setrlimit(resource.RLIMIT_NOFILE, (possible, hard))
    fitting = max(possible - RESERVED_CONNECTIONS - _OTHER_FILES, 1)
    if fitting < wanted:
        structlog.get_logger().warning(
            "fewer connections", wanted=wanted, possible=fitting, open_files_limit=hard
        )
    return min(wanted, fitting)


# The application keeps no more of a body in memory; what is larger goes to a file. Pages that
# devices send are larger, and have a bound on their number.
_MAX_TAKEN_BYTES: Final = bodies.MAX_BYTES


class BodyMemory:
    def __init__(self, addresses: ClientAddresses) -> None:
        self._addresses = addresses
        self.known = Part(MAX_ALL_BODY_BYTES)
        self.strangers = Part(MAX_STRANGERS_BODY_BYTES)

    def network(self, scope: Scope) -> str:
        return network_of(self._addresses.of(scope))

    def claim(self, scope: Scope, refuse: Callable[[], None], *, is_stranger: bool) -> "Claim":
        """`refuse` is called if there is no memory for the rest of the body."""
        return Claim(self, scope, refuse, is_stranger=is_stranger)

    def count_refused(self) -> int:
        """How many bodies were refused since the last call."""
        count = self.known.refused + self.strangers.refused
        self.known.refused = self.strangers.refused = 0
        return count


class Claim:
    """What the body of one request takes."""

    __slots__ = ("_memory", "_network", "_part", "_refuse", "_scope", "_taken", "size")

    def __init__(
        self,
        memory: BodyMemory,
        scope: Scope,
        refuse: Callable[[], None],
        *,
        is_stranger: bool,
    ) -> None:
        self._memory = memory
        self._scope = scope
        self._refuse = refuse
        self._part = memory.strangers if is_stranger else memory.known
        self._part.arriving[self] = None
        self._network: str | None = None
        self._taken = 0
        self.size = 0

    @property
    def party(self) -> int | str:
        """The account of a known caller, or else the network."""
        account: int | None = self._scope.get(ACCOUNT)
        if account is not None:
            return account
        if self._network is None:
            self._network = self._memory.network(self._scope)
        return self._network

    def add(self, size: int) -> None:
        """More has arrived."""
        self.size += size
        self._part.add(size)

    def take(self, size: int) -> None:
        """The application has received a part."""
        kept = min(size, _MAX_TAKEN_BYTES - self._taken)
        self._taken += kept
        self.size += kept - size
        self._part.size += kept - size

    def move(self, *, is_stranger: bool) -> None:
        part = self._memory.strangers if is_stranger else self._memory.known
        if part is self._part:
            return
        self._part.size -= self.size
        if self in self._part.arriving:
            del self._part.arriving[self]
            part.arriving[self] = None
        self._part = part
        part.add(self.size)

    def end(self) -> None:
        """All has arrived, so that it is no longer refused."""
        self._part.arriving.pop(self, None)

    def release(self) -> None:
        self.end()
        self._part.size -= self.size
        self.size = 0

    def refuse(self) -> None:
        self._refuse()


class Part:
    """Bodies that share a bound."""

    def __init__(self, most: int) -> None:
        self._most = most
        self.size = 0
        self.refused = 0
        # The oldest first.
        self.arriving: dict[Claim, None] = {}

    def add(self, size: int) -> None:
        self.size += size
        if self.size > self._most:
            self._make_room()

    def _make_room(self) -> None:
        """Refuses bodies until an eighth is free, so that this work is not done for every byte."""
        by_party: dict[int | str, list[Claim]] = {}
        for claim in self.arriving:
            by_party.setdefault(claim.party, []).append(claim)
        most_first = [
            (-sum([claim.size for claim in claims]), number, claims[::-1])
            for number, claims in enumerate(by_party.values())
        ]
        heapq.heapify(most_first)
        while most_first and self.size > self._most * 7 // 8:
            held, number, claims = heapq.heappop(most_first)
            oldest = claims.pop()
            if claims:
                heapq.heappush(most_first, (held + oldest.size, number, claims))
            self.refused += 1
            oldest.refuse()
