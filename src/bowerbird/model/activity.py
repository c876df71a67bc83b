"""What happened to an account, as its holder sees it."""

from enum import StrEnum

from msgspec import Struct


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
    EXPORT_STARTED = "export started"
    ACCOUNT_DOWNLOADED = "account downloaded"
    IMPORT_STARTED = "import started"
    IMPORT_UNDONE = "import undone"
    POSTS_DELETED = "posts deleted"
    TRASH_EMPTIED = "trash emptied"
    EMAIL_CHANGED = "email changed"
    PLAN_CHANGED = "plan changed"
    OWNER_CHANGED = "owner changed"
    ACCOUNT_CREATED = "account created"
    INVITATION_CREATED = "invitation created"


class ActivityEntry(Struct, frozen=True):
    at: int
    entry_id: str
    # A newer server may have written a kind that this one does not know.
    kind: ActivityKind | str
    # What it was done to, such as the name of a key.
    detail: str
    # The network address; '' for a command on the server.
    address: str
