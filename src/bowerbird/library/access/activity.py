"""What happened to an account and when it was last used, as records and as sentences."""

import asyncio
import secrets
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from typing import Final

import structlog

from bowerbird.clock import Clock
from bowerbird.errors import Refusal
from bowerbird.model.accounts import ActivityEntry, ActivityKind
from bowerbird.model.connections import NAMES
from bowerbird.storage.stores import Service

KEPT_DAYS: Final = 180
ENTRIES_MAX: Final = 10_000
PAGE: Final = 50
_MAX_DETAIL: Final = 200
_LATEST: Final = (2**63 - 1, "")
# The network address of the current request. A context variable, because only the outermost layer
# knows it and only the log needs it.
_ADDRESS: Final[ContextVar[Callable[[], str]]] = ContextVar("address", default=str)
_MAKER: Final[ContextVar[Callable[[], str]]] = ContextVar("maker", default=str)


def set_address(find: Callable[[], str]) -> None:
    """`find` returns the address. It is called only if something needs it."""
    _ADDRESS.set(find)


def address() -> str:
    """'' outside a request, as in a command."""
    return _ADDRESS.get()()


def set_maker(find: Callable[[], str]) -> None:
    """`find` returns who makes the changes of the current request, as they are stored."""
    _MAKER.set(find)


def maker() -> str:
    """'' outside a request."""
    return _MAKER.get()()


@contextmanager
def made_by(name: str) -> Iterator[None]:
    """Changes within it are made by somebody else than the request, such as a rule."""
    token = _MAKER.set(lambda: name)
    try:
        yield
    finally:
        _MAKER.reset(token)


def entry(clock: Clock, kind: ActivityKind, detail: str = "") -> ActivityEntry:
    """`detail` is what it was done to, such as the name of a key."""
    return ActivityEntry(clock(), secrets.token_hex(6), kind, detail[:_MAX_DETAIL], address())


class Activity(Service):
    async def page(
        self, account_id: int, before: tuple[int, str] | None = None, limit: int = PAGE
    ) -> Sequence[ActivityEntry]:
        """The newest entries, or those before a time and id; the latest first."""
        return await self._stores.activity.page(account_id, before or _LATEST, limit)


# Ways to sign in that are no names.
_METHODS: Final = {"link": "a one-time link", "passkey": "a passkey"}
_OF_IMPORTS: Final = (ActivityKind.IMPORT_STARTED, ActivityKind.IMPORT_UNDONE)
_BY_METHOD: Final = (ActivityKind.SIGNED_IN, ActivityKind.PROVED_AGAIN)


def sentence(entry: ActivityEntry) -> str:
    if not isinstance(entry.kind, ActivityKind):
        return f"Recorded by a newer version of this server: {entry.kind}"
    detail = entry.detail
    if entry.kind in _BY_METHOD:
        detail = _METHODS.get(detail, detail)
    elif entry.kind is ActivityKind.EXPORT_STARTED:
        detail = detail.upper()
    elif entry.kind in _OF_IMPORTS:
        detail = NAMES.get(detail, detail)
    # Not `format`: the detail may contain braces.
    kind = entry.kind
    return kind.with_detail.replace("{}", detail) if detail else kind.without


class Flushing:
    """`what` names the things for the log, and `waiting` says how many are not written yet."""

    def __init__(
        self,
        what: str,
        flush: Callable[[], Awaitable[None]],
        waiting: Callable[[], int],
        every_s: float,
    ) -> None:
        self._what = what
        self._flush = flush
        self._waiting = waiting
        self._every_s = every_s
        self._wake = asyncio.Event()
        self._is_stopping = False
        self._is_failing = False
        self._log = structlog.get_logger()

    async def run(self) -> None:
        """Runs until `stop`, then writes what is left and ends."""
        while not self._is_stopping:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._wake.wait(), self._every_s)
            self._wake.clear()
            await self._try()

    def hurry(self) -> None:
        """Does not wait for the next time."""
        self._wake.set()

    def stop(self) -> None:
        """Does not cancel the task: that would lose a write in progress, or repeat it."""
        self._is_stopping = True
        self._wake.set()

    async def _try(self) -> None:
        try:
            await self._flush()
            self._is_failing = False
        except Refusal as refused:
            # One line when it begins: the flush is retried again and again.
            if not self._is_failing:
                self._log.warning(
                    f"{self._what} not written", reason=refused.sentence, waiting=self._waiting()
                )
            self._is_failing = True
        except Exception:  # noqa: BLE001 - the next flush tries again
            self._log.exception(f"{self._what} not written", waiting=self._waiting())
