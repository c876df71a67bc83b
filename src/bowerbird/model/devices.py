"""Devices: programs that may send posts to an account, and not read them."""

from msgspec import Struct

from bowerbird.model.accounts import Account


class Device(Struct, frozen=True):
    device_id: str
    name: str
    # The account of the source that the device reads, or "" before its first run.
    source_user_id: str
    created_at: int
    last_used_at: int | None = None
    revoked_at: int | None = None


class DeviceCaller(Account, frozen=True):
    """An account, called by one of its devices."""

    device_id: str = ""
