"""Connect codes: a signed-in person creates one, and their extension trades it for a device token.

A code works once, for ten minutes. Only a slow hash of it is stored. It has 40 bits, so wrong codes
are counted: a thousand tries hit one of a hundred open codes with a probability of 1 in 11 million.
"""

import asyncio
import re
from typing import Final

from msgspec import Struct

from bowerbird import errors
from bowerbird.clock import MICROSECONDS, Clock
from bowerbird.errors import Code, Refusal
from bowerbird.library.access.call_allowance import TriesWithin
from bowerbird.library.accounts.tokens import Devices, New, checked_name
from bowerbird.model.accounts import Device, LinkKind, OneTimeLink
from bowerbird.model.keys import code_hash, new_code, parse_code
from bowerbird.requests import limits
from bowerbird.storage.database import Database, Transaction, Writable
from bowerbird.storage.libraries import LockedLibrary
from bowerbird.storage.stores import TimedService

_WINDOW: Final = 600 * MICROSECONDS


class TooManyTries(Refusal):
    """Too many wrong codes were tried."""


class ConnectTries:
    """Wrong codes of each network, and of all networks together."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._tries = TriesWithin(clock, _WINDOW)
        # Of all networks: the start of the ten minutes, and the wrong tries since then.
        self._since = 0
        self._all = 0

    def count(self, network: str) -> None:
        """Counts a try as wrong, before its outcome is known. Refuses one that is too many."""
        if wait_s := self._tries.count(network, limits.CONNECT_TRIES_MAX):
            raise too_many("from your network address", wait_s)
        now = self._clock()
        if not 0 <= now - self._since < _WINDOW:
            self._since, self._all = now, 0
        self._all += 1

    def take_back(self, network: str) -> None:
        """The try was not wrong."""
        self._tries.take_back(network)
        self._all = max(0, self._all - 1)

    @property
    def are_too_many(self) -> bool:
        """Whether all networks together have tried so often that somebody may be guessing."""
        return self._all > limits.CONNECT_TRIES_OF_ALL_MAX


def too_many(where: str, seconds: int) -> TooManyTries:
    return TooManyTries(
        Code.RATE_LIMITED,
        f"Too many wrong codes were tried {where}. Wait, then try again.",
        {"Retry-After": str(seconds)},
    )


_ID: Final = re.compile(r"[0-9a-f]{8}")


class CodeRefused(Refusal):
    """The code was used, has expired, or was never made. The sentence does not say which."""


class NewCode(Struct, frozen=True):
    """The code itself, which cannot be shown again, and an id that is no secret."""

    code: str
    code_id: str


class CodeUse(Struct, frozen=True):
    """What became of a code."""

    # The name of the device that it connected; "" if there is none, or it was revoked since.
    device: str
    is_open: bool


class Connected(Struct, frozen=True):
    """A new device, with its token and the address of its account."""

    token: str
    device_id: str
    email: str


class ConnectCodes(TimedService):
    def __init__(self, database: Database, clock: Clock) -> None:
        super().__init__(database, clock)
        self._devices = Devices(database, clock)
        self._tries = ConnectTries(clock)

    async def create(self, account_id: int, network: str) -> NewCode:
        """Creates a code. `network` is the network address of the person."""
        code = new_code()
        hashed = await asyncio.to_thread(code_hash, code)

        async def work(library: LockedLibrary) -> OneTimeLink:
            link = await self._stores.one_time_links.create(
                *(library.transaction, hashed, LinkKind.CONNECT, account_id, network),
                now=self._clock(),
                lives=limits.CONNECT_CODE_S * MICROSECONDS,
                most=limits.CONNECT_CODES_MAX,
            )
            if link is None:
                raise Refusal(
                    Code.RATE_LIMITED,
                    f"You have {limits.CONNECT_CODES_MAX} codes that were not used. Use one of "
                    f"them, or wait until they expire after {limits.CONNECT_CODE_S // 60} minutes.",
                    {"Retry-After": str(limits.CONNECT_CODE_S)},
                )
            return link

        return NewCode(code, (await self._locked(account_id, work)).link_id)

    async def use_of(self, account_id: int, code_id: str) -> CodeUse:
        """What became of a code. It is known until it expires, or the account creates another."""
        link = None
        if _ID.fullmatch(code_id):
            link = await self._stores.one_time_links.find(account_id, LinkKind.CONNECT, code_id)
        if link is None:
            raise errors.not_found("link", code_id)
        is_open = link.used_at is None and link.expires_at > self._clock()
        return CodeUse(await self._device_of(link), is_open)

    async def _device_of(self, link: OneTimeLink) -> str:
        if link.used_at is None:
            return ""
        devices = await self._devices.all(link.account_id)
        live = (each for each in devices if each.revoked_at is None)
        return next((each.name for each in live if each.device_id == link.detail), "")

    def count_try(self, network: str) -> None:
        """Before anything is read of a request to redeem a code. Refuses one that is too many."""
        self._tries.count(network)

    async def redeem(self, text: str, name: str, network: str) -> Connected:
        """Creates a device for the account of a code. A code can be used once.

        The try was counted; a right one is taken back.
        """
        name = checked_name("device", name)
        is_suspicious = self._tries.are_too_many
        code = parse_code(text)
        if code is None:
            raise _refused(is_suspicious=is_suspicious)
        hashed = await asyncio.to_thread(code_hash, code)

        async def work(transaction: Transaction) -> tuple[int, New[Device]]:
            link = await self._stores.one_time_links.redeem(
                transaction, hashed, self._clock(), LinkKind.CONNECT
            )
            # From another network as if the code were wrong, so that nothing is learned about it.
            if link is None or (is_suspicious and link.detail != network):
                raise _refused(is_suspicious=is_suspicious)
            created = await self._devices.issue_within(Writable(transaction, link.account_id), name)
            await self._stores.one_time_links.set_detail(
                transaction, hashed, created.record.device_id
            )
            return link.account_id, created

        # A right code of an account with too many devices counts, too: it costs as much.
        account_id, created = await self._database.write(work)
        self._tries.take_back(network)
        person = await self._stores.accounts.membership(account_id)
        email = person.email if person else ""
        return Connected(created.text, created.record.device_id, email)


def _refused(*, is_suspicious: bool) -> Refusal:
    if is_suspicious:
        return too_many("at this service", limits.CONNECT_CODE_S)
    return CodeRefused(
        Code.NOT_FOUND,
        "This code is not valid: it was used already, has expired, or is misspelled. "
        "Create a new one.",
    )
