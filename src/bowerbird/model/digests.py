"""Digests, and the digest preferences of an account.

A digest stores counts and the ids of posts, not the posts. So a deleted post also disappears from
old digests, and the digests of a year take little space.
"""

from datetime import date
from enum import StrEnum
from typing import Final

from msgspec import Struct

from bowerbird.model.instants import Period, PeriodKind

# Digests exist only for days between these, so that the days around them are valid dates.
_FIRST: Final = date(2, 1, 1)
_LAST: Final = date(9998, 1, 1)


# The time zone of an account that has chosen none.
NO_ZONE: Final = "UTC"


class Frequency(StrEnum):
    OFF = "off"
    DAILY = "daily"
    WEEKLY = "weekly"


class Preferences(Struct, frozen=True):
    """The digest preferences of an account, and since when they apply."""

    frequency: Frequency = Frequency.WEEKLY
    time_zone: str = NO_ZONE
    hour: int = 8
    is_mailed: bool = False
    # Digests due before this instant need no more work: they were created, empty, or turned off.
    since: int = 0
    is_zone_chosen: bool = False
    updated_at: int = 0
    # Whether each digest has one of the account's notes or highlights.
    has_highlight: bool = False

    @property
    def kind(self) -> PeriodKind | None:
        return None if self.frequency is Frequency.OFF else PeriodKind(self.frequency)


class LabelCount(Struct, frozen=True):
    label_name: str
    count: int
    """Number of posts with the label."""


class AuthorCount(Struct, frozen=True):
    author_username: str
    author_name: str
    """The author's display name."""
    count: int
    """Number of posts by the author."""


class Contents(Struct, frozen=True, kw_only=True):
    """The content of a digest. Lists of posts are lists of their ids."""

    saved_count: int = 0
    by_label: list[LabelCount] = []
    by_author: list[AuthorCount] = []
    saved: list[str] = []
    unread_count: int = 0
    unread: list[str] = []
    year_ago_count: int = 0
    year_ago: list[str] = []
    forgotten: str | None = None
    # A post with a note or highlights, and a number that chooses one of these.
    highlight: str | None = None
    passage: int = 0
    introduction: str | None = None

    @property
    def post_ids(self) -> list[str]:
        single = [one for one in (self.forgotten, self.highlight) if one is not None]
        return [*self.saved, *self.unread, *self.year_ago, *single]

    @property
    def is_empty(self) -> bool:
        return not self.post_ids


class MailState(StrEnum):
    """The delivery status of the email with a digest."""

    NONE = "none"
    WAITING = "waiting"
    # Set before the email is sent. If it stays, the process crashed and the outcome is unknown.
    SENDING = "sending"
    SENT = "sent"
    UNCLEAR = "unclear"
    FAILED = "failed"
    REFUSED = "refused"


class Mailing(Struct, frozen=True):
    state: MailState = MailState.NONE
    tries: int = 0
    # The time of the last attempt, or when the next one is due.
    at: int = 0
    reason: str = ""


class Digest(Struct, frozen=True):
    kind: PeriodKind
    first_day: date
    time_zone: str
    made_at: int
    contents: Contents
    mailing: Mailing = Mailing()

    @property
    def period(self) -> Period:
        return Period(self.kind, self.first_day)

    @property
    def digest_id(self) -> str:
        return digest_id(self.period)


def digest_id(period: Period) -> str:
    """For example weekly-2026-07-13: an account has one digest per period."""
    return f"{period.kind}-{period.first_day.isoformat()}"


def period_of(digest_id: str) -> Period | None:
    """The period of a digest id; None if the text is not a valid id."""
    kind, _, day = digest_id.partition("-")
    try:
        period = Period(PeriodKind(kind), date.fromisoformat(day))
    except ValueError:
        return None
    # fromisoformat accepts other ways to write the date; an id has only one.
    is_canonical = digest_id == f"{kind}-{period.first_day.isoformat()}"
    return period if is_canonical and _FIRST < period.first_day < _LAST else None
