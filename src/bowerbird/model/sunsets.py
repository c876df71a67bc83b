"""The sunset of an API version, and the accounts that must be notified."""

from datetime import date
from enum import StrEnum

from msgspec import Struct


class NoticeState(StrEnum):
    # Set before the email is sent, so that a crash cannot cause a second email.
    SENDING = "sending"
    SENT = "sent"
    REFUSED = "refused"


class VersionSunset(Struct, frozen=True):
    version: str
    sunset: date
    # The URL of the migration guide.
    note: str


class SunsetRecipient(Struct, frozen=True):
    """An account that called the version recently."""

    account_id: int
    # None or empty if the account has no email address.
    email: str | None
    state: str | None
    changed_at: int | None
