"""Creates, lists and revokes the devices of an account, and finds the caller by its token."""

from collections.abc import Sequence
from typing import NamedTuple

from bowerbird.clock import Clock, month_of
from bowerbird.errors import Code, Refusal
from bowerbird.library.access.activity import Activity
from bowerbird.library.accounts import tokens
from bowerbird.model.accounts import ActivityKind
from bowerbird.model.devices import Device, DeviceCaller
from bowerbird.model.keys import DEVICE_PREFIX, key_hash, new_key, parse_key
from bowerbird.requests import limits
from bowerbird.storage.accounts.devices import DeviceStore
from bowerbird.storage.database import Database, Transaction


class NoLiveDevice(tokens.NotLive):
    """The account has no such device, or the device was revoked."""


class CreatedDevice(NamedTuple):
    device_id: str
    token: str


class Devices:
    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._store = DeviceStore(database)
        self._activity = Activity(database, clock)
        self._clock = clock

    async def create(self, account_id: int, name: str) -> str:
        """Returns the token of a new device. It cannot be shown again: only its hash is stored."""

        async def work(transaction: Transaction) -> CreatedDevice:
            return await self.create_within(transaction, account_id, name)

        return (await self._database.write(work, account_id)).token

    async def create_within(
        self, transaction: Transaction, account_id: int, name: str
    ) -> CreatedDevice:
        name = tokens.checked_name("device", name)
        token = new_key(account_id, DEVICE_PREFIX)
        device = Device(tokens.new_id(), name, "", self._clock())
        entry = self._activity.entry(ActivityKind.DEVICE_CREATED, name)
        most = limits.DEVICES_MAX
        is_created = await self._store.create(
            transaction, account_id, device, key_hash(token), most=most, entry=entry
        )
        if not is_created:
            raise Refusal(
                Code.INVALID_REQUEST,
                f"The account has {most} devices, the maximum. Revoke one that is not used.",
            )
        return CreatedDevice(device.device_id, token)

    async def all(self, account_id: int) -> Sequence[Device]:
        return await self._store.all(account_id)

    async def revoke(self, account_id: int, device: str) -> str:
        """Revokes a device by its token or id from the next request on; returns its id."""
        entry = self._activity.entry(ActivityKind.DEVICE_REVOKED)
        return await tokens.revoke(
            "device",
            DEVICE_PREFIX,
            device,
            NoLiveDevice,
            lambda text, hashed: self._store.revoke(
                account_id, text, hashed, self._clock(), entry, kept=limits.REVOKED_DEVICES_MAX
            ),
        )

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
