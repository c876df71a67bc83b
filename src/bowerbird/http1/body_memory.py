"""The memory that bodies of requests take, in all connections together.

Callers whose account the application has verified share one part of it, strangers a small other
one, so that neither can take the memory of the other. Until the application has asked for a body or
refused its caller, nobody knows which part it belongs to. That takes milliseconds, so it counts as
one of a known caller: strangers must not be able to crowd out an upload before its key is checked.

If a part is full, the account or network address that holds the most is refused first. Its
oldest body goes, because bodies that are held back on purpose are old.
"""

import heapq
from collections.abc import Callable
from typing import Final

from starlette.types import Scope

from bowerbird.http1 import bounds
from bowerbird.wire import bodies
from bowerbird.wire.client_addresses import ClientAddresses, network_of
from bowerbird.wire.pipeline import ACCOUNT

# The application keeps no more of a body in memory; what is larger goes to a file. Pages that
# devices send are larger, and have a bound on their number.
_MAX_TAKEN_BYTES: Final = bodies.MAX_BYTES


class BodyMemory:
    def __init__(self, addresses: ClientAddresses) -> None:
        self._addresses = addresses
        self.known = Part(bounds.MAX_ALL_BODY_BYTES)
        self.strangers = Part(bounds.MAX_STRANGERS_BODY_BYTES)

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
