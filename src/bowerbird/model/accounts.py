"""Accounts, plans and keys as the rest of the service sees them."""

from enum import StrEnum

from msgspec import Struct


class Plan(StrEnum):
    FREE = "free"
    PRO = "pro"


class Account(Struct, frozen=True):
    """One account's library as one read finds it. Never used past a commit of anybody's."""

    account_id: int
    # SQLite's small number of the account; 0 where the database needs none.
    local_number: int
    plan: str
    # Random; renewed when a library is restored, so that nothing remembered of the old one counts.
    epoch: int
    # Raised by every change of the library.
    version: int
    total: int
    unread: int
    archived: int
    # Neither read nor archived: what the default list shows.
    fresh: int
    calls_this_month: int

    @property
    def is_free(self) -> bool:
        return self.plan == Plan.FREE

    def visible(self, *, unread_only: bool, hide_archived: bool) -> int:
        """How many bookmarks the two flags leave, without counting them."""
        if unread_only:
            return self.fresh if hide_archived else self.unread
        return self.total - self.archived if hide_archived else self.total


class Membership(Struct, frozen=True):
    """An account as its operator sees it."""

    account_id: int
    email: str
    plan: str
    total: int
    created_at: int


class Key(Struct, frozen=True):
    key_id: str
    name: str
    created_at: int
    revoked_at: int | None
