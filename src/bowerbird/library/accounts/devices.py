"""The devices of an account, and who calls with the token of one."""

from bowerbird.clock import Clock, month_of
from bowerbird.library.accounts.tokens import Kind, NotLive, Tokens
from bowerbird.model.accounts import ActivityKind, Device, DeviceCaller
from bowerbird.model.keys import DEVICE_PREFIX, parse_key
from bowerbird.requests import limits
from bowerbird.storage.accounts.devices import DeviceStore
from bowerbird.storage.database import Database


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
        self._store = DeviceStore(database)
        super().__init__(database, clock, self._store)

    def _bounds(self) -> tuple[int, int]:
        return limits.DEVICES_MAX, limits.REVOKED_DEVICES_MAX

    def _record(self, id: str, name: str, text: str) -> Device:  # noqa: ARG002 - as for keys
        return Device(id, name, "", self._clock())

    async def create(self, account_id: int, name: str) -> str:
        """Returns the token of the new device."""
        return (await self.issue(account_id, name)).text

    async def caller(self, token: str) -> DeviceCaller | None:
        """The account and device of a token; None if it is malformed, unknown or revoked."""
        key = parse_key(token, DEVICE_PREFIX)
        if key is None:
            return None
        return await self._store.by_token(key.account_id, key.key_hash, month_of(self._clock()))

    async def is_revoked(self, token: str) -> bool:
        """Whether the token was valid until its device was revoked."""
        key = parse_key(token, DEVICE_PREFIX)
        return key is not None and await self._store.is_revoked(key.account_id, key.key_hash)
