"""Accounts, plans and API keys, what happened to an account, and the sunsets it is told of.

Also browsers that are signed in, and the ways to sign in.
"""

import re
from datetime import date
from enum import StrEnum
from typing import Final, Self

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
    """What happened: as it is stored, as a sentence with the detail, and as one without it."""

    with_detail: str
    without: str

    def __new__(cls, stored: str, with_detail: str = "", without: str = "") -> Self:
        kind = str.__new__(cls, stored)
        kind._value_ = stored
        kind.with_detail, kind.without = with_detail, without or with_detail
        return kind

    SIGNED_IN = ("signed in", "Signed in with {}", "Signed in")
    SIGNED_OUT = ("signed out", "Signed out")
    PROVED_AGAIN = ("proved again", "Confirmed with {} that it is you", "Confirmed that it is you")
    SESSION_ENDED = ("session ended", "Signed out “{}”", "Signed out another browser")
    SESSIONS_ENDED = ("sessions ended", "Signed out all other browsers")
    LINK_CREATED = ("link created", "Sent a link to sign in by {}", "Created a link to sign in")
    PASSKEY_ADDED = ("passkey added", "Added the passkey “{}”", "Added a passkey")
    PASSKEY_REMOVED = ("passkey removed", "Removed the passkey “{}”", "Removed a passkey")
    # Its counter did not grow, so it may be a copy.
    PASSKEY_REFUSED = (
        "passkey refused",
        "Refused the passkey “{}”, because a copy of it was used",
        "Refused a passkey, because a copy of it was used",
    )
    PROVIDER_CONNECTED = ("provider connected", "Connected {}", "Connected a provider")
    PROVIDER_DISCONNECTED = ("provider disconnected", "Disconnected {}", "Disconnected a provider")
    KEY_CREATED = ("key created", "Created the key “{}”", "Created a key")
    KEY_REVOKED = ("key revoked", "Revoked the key “{}”", "Revoked a key")
    DEVICE_CREATED = ("device created", "Connected the extension “{}”", "Connected an extension")
    DEVICE_REVOKED = (
        "device revoked",
        "Disconnected the extension “{}”",
        "Disconnected an extension",
    )
    SOURCE_CONNECTED = ("source connected", "Connected the source {}", "Connected a source")
    SOURCE_DISCONNECTED = (
        "source disconnected",
        "Disconnected the source {}",
        "Disconnected a source",
    )
    WEBHOOK_ADDED = ("webhook added", "Added the webhook {}", "Added a webhook")
    WEBHOOK_REMOVED = ("webhook removed", "Removed the webhook {}", "Removed a webhook")
    WEBHOOK_DISABLED = (
        "webhook disabled",
        "The webhook {} was turned off, because nothing could be delivered",
        "A webhook was turned off, because nothing could be delivered",
    )
    EXPORT_STARTED = ("export started", "Started an export as {}", "Started an export")
    ACCOUNT_DOWNLOADED = ("account downloaded", "Downloaded the whole account")
    IMPORT_STARTED = ("import started", "Started an import: {}", "Started an import")
    IMPORT_UNDONE = ("import undone", "Undid an import: {}", "Undid an import")
    POSTS_DELETED = ("posts deleted", "Deleted the post {}", "Deleted posts")
    TRASH_EMPTIED = ("trash emptied", "Deleted posts in the trash for good")
    SHARE_CREATED = ("share created", "Shared {}", "Shared a list")
    SHARE_CHANGED = ("share changed", "Changed how {} is shared", "Changed how a list is shared")
    SHARE_DELETED = ("share deleted", "Stopped sharing {}", "Stopped sharing a list")
    # By the operator.
    SHARE_FORBIDDEN = (
        "share forbidden",
        "The operator stopped the sharing of {}",
        "The operator stopped the sharing of a list",
    )
    SHARE_ALLOWED = (
        "share allowed",
        "The operator allowed the sharing of {} again",
        "The operator allowed the sharing of a list again",
    )
    EMAIL_CHANGED = (
        "email changed",
        "Changed the email address to {}",
        "Changed the email address",
    )
    PLAN_CHANGED = ("plan changed", "Changed the plan to {}", "Changed the plan")
    OWNER_CHANGED = ("owner changed", "Became the owner of the service")
    ACCOUNT_CREATED = ("account created", "Created the account")
    INVITATION_CREATED = (
        "invitation created",
        "Created an invitation for {}",
        "Created an invitation",
    )
    RULE_CREATED = ("rule created", "Created the rule “{}”", "Created a rule")
    RULE_CHANGED = ("rule changed", "Changed the rule “{}”", "Changed a rule")
    RULE_DELETED = ("rule deleted", "Deleted the rule “{}”", "Deleted a rule")
    RULE_SWITCHED_OFF = (
        "rule switched off",
        "Switched off the rule “{}”, which failed again and again",
        "Switched off a rule, which failed again and again",
    )


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
