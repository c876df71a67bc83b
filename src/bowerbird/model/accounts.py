"""Accounts, plans and API keys."""

from enum import StrEnum

from msgspec import Struct


class Plan(StrEnum):
    FREE = "free"
    PRO = "pro"


class RemovedPostsChoice(StrEnum):
    """What an account wants to happen to posts that are removed at their source."""

    KEEP = "keep"
    # Archive them.
    HIDE = "hide"
    # Delete them. They can be restored from the trash.
    TRASH = "trash"


class Account(Struct, frozen=True):
    """An account with the counters of its library, as one query read them.

    It is outdated as soon as anybody changes the library, so read it again for each request.
    """

    account_id: int
    # SQLite stores a small number instead of the account id; 0 on PostgreSQL.
    local_number: int
    plan: str
    # Random. A restored library gets a new one, which invalidates everything cached before.
    epoch: int
    # Increased by every change of the library.
    version: int
    total: int
    unread: int
    archived: int
    # Neither read nor archived: the default list.
    fresh: int
    calls_this_month: int

    @property
    def is_free(self) -> bool:
        return self.plan == Plan.FREE

    def visible(
        self, *, unread_only: bool, hide_archived: bool, archived_only: bool = False
    ) -> int:
        """The number of bookmarks that these filters leave, from the counters."""
        if archived_only:
            if hide_archived:
                return 0
            return self.unread - self.fresh if unread_only else self.archived
        if unread_only:
            return self.fresh if hide_archived else self.unread
        return self.total - self.archived if hide_archived else self.total


class Membership(Struct, frozen=True):
    """An account as the operator sees it."""

    account_id: int
    email: str
    plan: str
    total: int
    created_at: int
    # Only known where accounts are listed by page.
    is_owner: bool = False


class Key(Struct, frozen=True):
    key_id: str
    name: str
    created_at: int
    revoked_at: int | None
    # Its first characters, by which people recognise it; '' for keys of earlier releases.
    shown: str = ""
    # Days since 1970, UTC.
    last_used_day: int | None = None
