"""Creates, lists and revokes API keys and devices, and notes when they were last used.

Both have a name, an id, and a secret of which only the hash is stored. Uses are noted in memory and
written every few seconds, also those of sessions and versions: a crash loses at most five seconds.
"""

import secrets
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Hashable, Mapping, Sequence
from typing import ClassVar, Final, Generic, NamedTuple, TypeVar

from msgspec import Struct

from bowerbird.clock import Clock, day_of, month_of
from bowerbird.errors import Code, Refusal, shown
from bowerbird.library.access import activity
from bowerbird.library.access.activity import Flushing
from bowerbird.model.accounts import ActivityKind, Device, DeviceCaller, Key
from bowerbird.model.keys import (
    DEVICE_PREFIX,
    PREFIX,
    ParsedKey,
    key_hash,
    new_key,
    parse_key,
    shown_part,
)
from bowerbird.requests import limits
from bowerbird.storage.accounts.credentials import (
    CredentialStore,
    KeyStore,
    VersionUseStore,
)
from bowerbird.storage.database import Database, Writable
from bowerbird.storage.stores import Stores, TimedService

_MAX_NAME_LENGTH: Final = 100
_ID_BYTES: Final = 4

Record = TypeVar("Record", bound=Struct)


class NotLive(Refusal):
    """The account has no such key or device, or it was revoked."""


class Kind(NamedTuple):
    name: str
    prefix: str
    created: ActivityKind
    revoked: ActivityKind
    refusal: type[NotLive]


class New(NamedTuple, Generic[Record]):
    # Cannot be shown again: only its hash is stored.
    text: str
    record: Record


class Tokens(TimedService, ABC, Generic[Record]):
    kind: ClassVar[Kind]

    def __init__(self, database: Database, clock: Clock, store: CredentialStore[Record]) -> None:
        super().__init__(database, clock)
        self._credentials = store

    @abstractmethod
    def _bounds(self) -> tuple[int, int]:
        """How many an account may have, and how many revoked ones are still listed."""

    @abstractmethod
    def _record(self, id: str, name: str, text: str) -> Record: ...

    async def issue(self, account_id: int, name: str) -> New[Record]:
        return await self._transact(account_id, lambda library: self.issue_within(library, name))

    async def issue_within(self, library: Writable, name: str) -> New[Record]:
        kind, name = self.kind, checked_name(self.kind.name, name)
        most, _ = self._bounds()
        text = new_key(library.account_id, kind.prefix)
        record = self._record(secrets.token_hex(_ID_BYTES), name, text)
        entry = activity.entry(self._clock, kind.created, name)
        if not await self._credentials.create(library, record, key_hash(text), entry, most=most):
            raise Refusal(
                Code.INVALID_REQUEST,
                f"The account has {most} {kind.name}s, the maximum. Revoke one that is not used.",
            )
        return New(text, record)

    async def all(self, account_id: int) -> Sequence[Record]:
        return await self._credentials.all(account_id)

    async def revoke(self, account_id: int, token_or_id: str) -> str:
        """Revokes one by its text or id from the next request on; returns its id."""
        kind, text, revoked = self.kind, token_or_id.strip(), None
        # Tokens and ids are printable ASCII. PostgreSQL rejects some other characters.
        if text.isascii() and text.isprintable():
            entry = activity.entry(self._clock, kind.revoked)
            _, kept = self._bounds()
            revoked = await self._credentials.revoke(
                account_id, text, key_hash(text), self._clock(), entry, kept=kept
            )
        if revoked is None:
            # The error does not repeat the token: it may be valid for another account.
            is_secret = text.startswith(kind.prefix)
            named = f"That {kind.name}" if is_secret else f"{kind.name.capitalize()} {shown(text)}"
            raise kind.refusal(
                Code.NOT_FOUND, f"{named} is not an active {kind.name} of this account."
            )
        return revoked


def checked_name(kind: str, name: str) -> str:
    """The name on one line. `kind` is "key" or "device"."""
    name = " ".join(name.split())
    if len(name) > _MAX_NAME_LENGTH or not name.isprintable():
        raise Refusal(
            Code.INVALID_REQUEST,
            f"A {kind} name can have at most {_MAX_NAME_LENGTH} printable characters.",
        )
    return name


class NoLiveKey(NotLive):
    """The account has no such key, or the key was revoked."""


class Keys(Tokens[Key]):
    kind = Kind(
        "key",
        PREFIX,
        ActivityKind.KEY_CREATED,
        ActivityKind.KEY_REVOKED,
        NoLiveKey,
    )

    def __init__(self, database: Database, clock: Clock) -> None:
        super().__init__(database, clock, Stores.of(database).keys)

    def _bounds(self) -> tuple[int, int]:
        return limits.KEYS_MAX, limits.REVOKED_KEYS_MAX

    def _record(self, id: str, name: str, text: str) -> Key:
        return Key(id, name, self._clock(), None, shown_part(text))

    async def count_live(self, account_id: int) -> int:
        return await self._stores.keys.count_live(account_id)


class NoLiveDevice(NotLive):
    """The account has no such device, or the device was revoked."""


class Devices(Tokens[Device]):
    kind = Kind(
        "device",
        DEVICE_PREFIX,
        ActivityKind.DEVICE_CREATED,
        ActivityKind.DEVICE_REVOKED,
        NoLiveDevice,
    )

    def __init__(self, database: Database, clock: Clock) -> None:
        super().__init__(database, clock, Stores.of(database).devices)

    def _bounds(self) -> tuple[int, int]:
        return limits.DEVICES_MAX, limits.REVOKED_DEVICES_MAX

    def _record(self, id: str, name: str, text: str) -> Device:  # noqa: ARG002 - as for keys
        return Device(id, name, "", self._clock())

    async def create(self, account_id: int, name: str) -> str:
        return (await self.issue(account_id, name)).text

    async def caller(self, token: str) -> DeviceCaller | None:
        """The account and device of a token; None if it is malformed, unknown or revoked."""
        key = parse_key(token, DEVICE_PREFIX)
        if key is None:
            return None
        return await self._stores.devices.by_token(
            key.account_id, key.key_hash, month_of(self._clock())
        )

    async def is_revoked(self, token: str) -> bool:
        """Whether the token was valid until its device was revoked."""
        key = parse_key(token, DEVICE_PREFIX)
        return key is not None and await self._stores.devices.is_revoked(
            key.account_id, key.key_hash
        )


K = TypeVar("K", bound=Hashable)

_FLUSH_S: Final = 5.0
# Above this the memory is cleared. Then some uses are written twice, which is harmless.
_MAX_RECORDED: Final = 100_000


class Uses(Generic[K]):
    """`write` stores what was used and when, as a day or a time. A later use wins."""

    def __init__(self, name: str, write: Callable[[Mapping[K, int]], Awaitable[None]]) -> None:
        self._write = write
        self._recorded: dict[K, int] = {}
        self._unwritten: dict[K, int] = {}
        self.flushing = Flushing(name, self.flush, lambda: len(self._unwritten), _FLUSH_S)

    def note(self, used: K, when: int) -> None:
        if self._recorded.get(used) == when:
            return
        if len(self._recorded) >= _MAX_RECORDED:
            self._recorded.clear()
        self._recorded[used] = self._unwritten[used] = when

    async def flush(self) -> None:
        uses, self._unwritten = self._unwritten, {}
        if not uses:
            return
        try:
            await self._write(uses)
        except Exception:
            # Uses recorded since then are newer and win.
            self._unwritten = uses | self._unwritten
            raise


class KeyUse(Uses[tuple[int, bytes]]):
    def __init__(self, store: KeyStore, clock: Clock) -> None:
        super().__init__("key uses", store.put_uses)
        self._clock = clock

    def note_call(self, key: ParsedKey) -> None:
        self.note((key.account_id, key.key_hash), day_of(self._clock()))


CALLED_DAYS: Final = 90


class VersionUse(Uses[tuple[int, str]]):
    def __init__(self, store: VersionUseStore, clock: Clock) -> None:
        super().__init__("version uses", store.put)
        self._store = store
        self._clock = clock

    async def recent(self, account_id: int) -> Sequence[str]:
        """The versions that the account called recently, as far as uses are written."""
        return await self._store.versions(account_id, day_of(self._clock()) - CALLED_DAYS)

    def note_call(self, account_id: int, version: str) -> None:
        self.note((account_id, version), day_of(self._clock()))
