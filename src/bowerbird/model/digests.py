"""Digests and what an account wants of them.

A digest keeps counts and the ids of posts, not the posts: what is deleted from the library is
gone from its digests too, and a year of them is small.
"""

from datetime import date
from enum import StrEnum
from typing import Final

from msgspec import Struct

from bowerbird.model.periods import Period, PeriodKind

# Of the days that a digest may be asked for; others have no neighbours to count to.
_FIRST: Final = date(2, 1, 1)
_LAST: Final = date(9998, 1, 1)


class Frequency(StrEnum):
    OFF = "off"
    DAILY = "daily"
    WEEKLY = "weekly"


class Preferences(Struct, frozen=True):
    """What an account wants, and from when on."""

    frequency: Frequency = Frequency.WEEKLY
    time_zone: str = "UTC"
    hour: int = 8
    is_mailed: bool = False
    # What was due before this is settled: made, empty, or not asked for.
    since: int = 0

    @property
    def kind(self) -> PeriodKind | None:
        return None if self.frequency is Frequency.OFF else PeriodKind(self.frequency)


class LabelCount(Struct, frozen=True):
    label_name: str
    count: int


class AuthorCount(Struct, frozen=True):
    author_username: str
    author_name: str
    count: int


class Contents(Struct, frozen=True, kw_only=True):
    """What a digest says, with posts by their ids."""

    saved_count: int = 0
    by_label: list[LabelCount] = []
    by_author: list[AuthorCount] = []
    saved: list[str] = []
    unread_count: int = 0
    unread: list[str] = []
    year_ago_count: int = 0
    year_ago: list[str] = []
    forgotten: str | None = None
    introduction: str | None = None

    @property
    def post_ids(self) -> list[str]:
        found = [*self.saved, *self.unread, *self.year_ago]
        return found if self.forgotten is None else [*found, self.forgotten]

    @property
    def is_empty(self) -> bool:
        return not self.post_ids


class MailState(StrEnum):
    """How far a digest's letter has come."""

    NONE = "none"
    WAITING = "waiting"
    # Being handed to the mail server; found so later, nobody knows what became of it.
    SENDING = "sending"
    SENT = "sent"
    UNCLEAR = "unclear"
    FAILED = "failed"
    REFUSED = "refused"


class Mailing(Struct, frozen=True):
    state: MailState = MailState.NONE
    tries: int = 0
    # Of the last try, or when the next one is due.
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
    """Named by its period, of which an account has one digest: weekly-2026-07-13."""
    return f"{period.kind}-{period.first_day.isoformat()}"


def period_of(digest_id: str) -> Period | None:
    """The period that an id names; None for any other text."""
    kind, _, day = digest_id.partition("-")
    try:
        period = Period(PeriodKind(kind), date.fromisoformat(day))
    except ValueError:
        return None
    is_so_written = digest_id == f"{kind}-{period.first_day.isoformat()}"
    return period if is_so_written and _FIRST < period.first_day < _LAST else None
