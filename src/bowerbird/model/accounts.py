"""Accounts, plans and API keys, what happened to an account, and the sunsets it is told of.

Also browsers that are signed in, and the ways to sign in.
"""

import re
from datetime import date
from enum import StrEnum
from typing import Final

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


class Reading(Struct, frozen=True):
    """What an account wants while it reads."""

    # The label that a star adds to a post.
    favourite: str = "favourite"
    # Whether opening a post marks it read.
    marks_read: bool = True


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
    # Whether some of its posts are only links.
    has_bare_links: bool = False

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


class Device(Struct, frozen=True):
    """A program that may send posts to the account, and not read them."""

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


class ActivityKind(StrEnum):
    SIGNED_IN = "signed in"
    SIGNED_OUT = "signed out"
    PROVED_AGAIN = "proved again"
    SESSION_ENDED = "session ended"
    SESSIONS_ENDED = "sessions ended"
    LINK_CREATED = "link created"
    PASSKEY_ADDED = "passkey added"
    PASSKEY_REMOVED = "passkey removed"
    # Its counter did not grow, so it may be a copy.
    PASSKEY_REFUSED = "passkey refused"
    PROVIDER_CONNECTED = "provider connected"
    PROVIDER_DISCONNECTED = "provider disconnected"
    KEY_CREATED = "key created"
    KEY_REVOKED = "key revoked"
    DEVICE_CREATED = "device created"
    DEVICE_REVOKED = "device revoked"
    SOURCE_CONNECTED = "source connected"
    SOURCE_DISCONNECTED = "source disconnected"
    WEBHOOK_ADDED = "webhook added"
    WEBHOOK_REMOVED = "webhook removed"
    WEBHOOK_DISABLED = "webhook disabled"
    EXPORT_STARTED = "export started"
    ACCOUNT_DOWNLOADED = "account downloaded"
    IMPORT_STARTED = "import started"
    IMPORT_UNDONE = "import undone"
    POSTS_DELETED = "posts deleted"
    TRASH_EMPTIED = "trash emptied"
    SHARE_CREATED = "share created"
    SHARE_CHANGED = "share changed"
    SHARE_DELETED = "share deleted"
    # By the operator.
    SHARE_FORBIDDEN = "share forbidden"
    SHARE_ALLOWED = "share allowed"
    EMAIL_CHANGED = "email changed"
    PLAN_CHANGED = "plan changed"
    OWNER_CHANGED = "owner changed"
    ACCOUNT_CREATED = "account created"
    INVITATION_CREATED = "invitation created"
    RULE_CREATED = "rule created"
    RULE_CHANGED = "rule changed"
    RULE_DELETED = "rule deleted"
    RULE_SWITCHED_OFF = "rule switched off"


class ActivityEntry(Struct, frozen=True):
    at: int
    entry_id: str
    # A newer server may have written a kind that this one does not know.
    kind: ActivityKind | str
    # What it was done to, such as the name of a key.
    detail: str
    # The network address; '' for a command on the server.
    address: str


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


# How long a session lasts after its last use, and at most.
IDLE_DAYS: Final = 30
ABSOLUTE_DAYS: Final = 180


class Where(Struct, frozen=True):
    """Where a request came from: its network address and its browser."""

    address: str
    device: str


class Session(Struct, frozen=True):
    """A browser that is signed in."""

    session_id: str
    # `link`, `passkey` or the name of a provider.
    method: str
    device: str
    address: str
    created_at: int
    last_used_at: int
    # When the person last proved who they are.
    proved_at: int


class SignedIn(Struct, frozen=True, kw_only=True):
    """A session with its account, as one query read them."""

    account: Account
    email: str
    is_owner: bool
    time_zone: str
    is_zone_chosen: bool
    reading: Reading
    session: Session

    @property
    def star(self) -> str:
        """The label that a star adds to a post; "" if the plan includes no writing of labels."""
        return "" if self.account.is_free else self.reading.favourite


class LinkKind(StrEnum):
    # Signs the owner in. If there is no owner, it creates the account.
    OWNER = "owner"
    # Signs in the account that it was made for.
    ACCOUNT = "account"
    # Creates an account.
    INVITATION = "invitation"
    # Confirms a new email address.
    EMAIL = "email"
    # Connects an extension. Its token is a connect code. Its detail is the network that made it,
    # and after its use the id of the device.
    CONNECT = "connect"


class OneTimeLink(Struct, frozen=True):
    link_id: str
    kind: LinkKind
    # 0 if the link creates an account.
    account_id: int
    # What an invitation is for, the address to confirm, or what LinkKind.CONNECT says.
    detail: str
    created_at: int
    expires_at: int
    used_at: int | None = None


class Passkey(Struct, frozen=True):
    credential_id: bytes
    passkey_id: str
    public_key: bytes
    sign_count: int
    name: str
    # JSON array of the ways to reach the authenticator, as the browser gave it.
    transports: str
    created_at: int
    last_used_at: int | None = None


class ProviderIdentity(Struct, frozen=True):
    """An account at a provider with which a person signs in."""

    issuer: str
    subject: str
    identity_id: str
    # How the person is called there.
    shown: str
    created_at: int
    last_used_at: int | None = None


_LONGEST: Final = 254
_SPECIAL: Final = r"\s@<>\"(),:;\\\[\]\x00-\x1f\x7f"
_ADDRESS: Final = re.compile(
    rf"[^{_SPECIAL}]+@(?:localhost|[^.{_SPECIAL}]+(?:\.[^.{_SPECIAL}]+)+)", re.IGNORECASE
)


def is_address(text: str) -> bool:
    return len(text) <= _LONGEST and text.isprintable() and _ADDRESS.fullmatch(text) is not None
