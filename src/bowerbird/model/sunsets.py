"""The end of a version, and who is to be told of it."""

from datetime import date
from enum import StrEnum

from msgspec import Struct


class NoticeState(StrEnum):
    # Set before a letter leaves, so that a crash cannot make it leave twice.
    SENDING = "sending"
    SENT = "sent"
    REFUSED = "refused"


class Ending(Struct, frozen=True):
    version: str
    sunset: date
    # Address of the migration note.
    note: str


class SunsetRecipient(Struct, frozen=True):
    """An account whose key called the version of late."""

    account_id: int
    # None or empty when nobody knows where to write to.
    email: str | None
    state: str | None
    changed_at: int | None
