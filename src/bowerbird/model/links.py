"""Posts that are only links, and why their text is not known."""

from enum import StrEnum
from typing import Final

from msgspec import Struct

KIND: Final = "links"
WAITING: Final = "waiting"
LEFT: Final = "left"


class Reason(StrEnum):
    """Why a post is still a link. The database has these texts."""

    NONE = ""
    # Its network shows single posts only to people or apps that are signed in.
    NO_SOURCE = "no_source"
    # The server of the post does.
    SIGN_IN = "sign_in"
    GONE = "gone"
    PROTECTED = "protected"
    # The name of the server leads to a private address.
    ADDRESS = "address"
    UNREADABLE = "unreadable"
    # Those below may pass. They are final after a week.
    BUSY = "busy"
    UNREACHABLE = "unreachable"


class DueLink(Struct, frozen=True, array_like=True):
    post_id: str
    tries: int
    since: int


class FailedLink(Struct, frozen=True):
    post_id: str
    state: str
    reason: Reason
    tries: int
    due_at: int


class LinkState(Struct, frozen=True):
    """What is known of a post that is only a link."""

    is_waiting: bool
    reason: Reason


class LinkCounts(Struct, frozen=True):
    waiting: int = 0
    left: int = 0
