"""What each entry of the activity log says."""

from typing import Final

from bowerbird.model.accounts import ActivityEntry, ActivityKind
from bowerbird.model.connections import NAMES

# The text with the detail, and the text without it.
_TEXTS: Final[dict[ActivityKind, tuple[str, str]]] = {
    ActivityKind.SIGNED_IN: ("Signed in with {}", "Signed in"),
    ActivityKind.SIGNED_OUT: ("Signed out", "Signed out"),
    ActivityKind.PROVED_AGAIN: ("Confirmed with {} that it is you", "Confirmed that it is you"),
    ActivityKind.SESSION_ENDED: ("Signed out “{}”", "Signed out another browser"),
    ActivityKind.SESSIONS_ENDED: ("Signed out all other browsers",) * 2,
    ActivityKind.LINK_CREATED: ("Created a link to sign in",) * 2,
    ActivityKind.PASSKEY_ADDED: ("Added the passkey “{}”", "Added a passkey"),
    ActivityKind.PASSKEY_REFUSED: (
        "Refused the passkey “{}”, because a copy of it was used",
        "Refused a passkey, because a copy of it was used",
    ),
    ActivityKind.PASSKEY_REMOVED: ("Removed the passkey “{}”", "Removed a passkey"),
    ActivityKind.PROVIDER_CONNECTED: ("Connected {}", "Connected a provider"),
    ActivityKind.PROVIDER_DISCONNECTED: ("Disconnected {}", "Disconnected a provider"),
    ActivityKind.KEY_CREATED: ("Created the key “{}”", "Created a key"),
    ActivityKind.KEY_REVOKED: ("Revoked the key “{}”", "Revoked a key"),
    ActivityKind.DEVICE_CREATED: ("Connected the extension “{}”", "Connected an extension"),
    ActivityKind.DEVICE_REVOKED: ("Disconnected the extension “{}”", "Disconnected an extension"),
    ActivityKind.SOURCE_CONNECTED: ("Connected the source {}", "Connected a source"),
    ActivityKind.SOURCE_DISCONNECTED: ("Disconnected the source {}", "Disconnected a source"),
    ActivityKind.EXPORT_STARTED: ("Started an export as {}", "Started an export"),
    ActivityKind.ACCOUNT_DOWNLOADED: ("Downloaded the whole account",) * 2,
    ActivityKind.IMPORT_STARTED: ("Started an import: {}", "Started an import"),
    ActivityKind.IMPORT_UNDONE: ("Undid an import: {}", "Undid an import"),
    ActivityKind.POSTS_DELETED: ("Deleted the post {}", "Deleted posts"),
    ActivityKind.TRASH_EMPTIED: ("Deleted posts in the trash for good",) * 2,
    ActivityKind.EMAIL_CHANGED: ("Changed the email address to {}", "Changed the email address"),
    ActivityKind.PLAN_CHANGED: ("Changed the plan to {}", "Changed the plan"),
    ActivityKind.OWNER_CHANGED: ("Became the owner of the service",) * 2,
    ActivityKind.ACCOUNT_CREATED: ("Created the account",) * 2,
    ActivityKind.INVITATION_CREATED: ("Created an invitation for {}", "Created an invitation"),
}
# Ways to sign in that are no names.
_METHODS: Final = {"link": "a one-time link", "passkey": "a passkey"}
_OF_IMPORTS: Final = (ActivityKind.IMPORT_STARTED, ActivityKind.IMPORT_UNDONE)
_BY_METHOD: Final = (ActivityKind.SIGNED_IN, ActivityKind.PROVED_AGAIN)


def sentence(entry: ActivityEntry) -> str:
    if not isinstance(entry.kind, ActivityKind):
        return f"Recorded by a newer version of this server: {entry.kind}"
    with_detail, without = _TEXTS[entry.kind]
    detail = entry.detail
    if entry.kind in _BY_METHOD:
        detail = _METHODS.get(detail, detail)
    elif entry.kind is ActivityKind.EXPORT_STARTED:
        detail = detail.upper()
    elif entry.kind in _OF_IMPORTS:
        detail = NAMES.get(detail, detail)
    # Not `format`: the detail may contain braces.
    return with_detail.replace("{}", detail) if detail else without
