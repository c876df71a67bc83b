"""Lists that an account shares: with whom, at which address, and what is shown."""

from enum import StrEnum
from typing import Final

from msgspec import Struct

# The `ends_at` of a share without an end.
NEVER: Final = 0


class Audience(StrEnum):
    """Who can open a share."""

    # Everybody who knows its secret address.
    LINK = "link"
    # Everybody: its address is a name.
    PUBLIC = "public"
    # A feed reader of the account itself. It has no page.
    FEED = "feed"


class Shared(StrEnum):
    """What a share shows: a label by its id, a Smart View by its slug, or a list by its name."""

    LABEL = "label"
    VIEW = "view"
    LIST = "list"


class ListName(StrEnum):
    """The lists of every account, of which only a private feed is possible."""

    UNREAD = "unread"
    ALL = "all"
    FAVOURITES = "favourites"
    ARCHIVE = "archive"


class Choices(Struct, frozen=True, kw_only=True):
    """What a share says about itself, and what it shows of each post."""

    title: str = ""
    description: str = ""
    curator: str = ""
    pictures: bool = True
    saved_dates: bool = False
    highlights: bool = False
    notes: bool = False
    # Posts that their network does not show any more are left out.
    hides_gone: bool = True
    # Whether search engines may list it.
    is_indexed: bool = False


class Share(Struct, frozen=True, kw_only=True):
    share_id: str
    account_id: int
    # Its name in URLs: chosen, or secret.
    address: str
    audience: Audience
    kind: Shared
    # The id of the label, the slug of the view or the name of the list.
    target: str
    is_on: bool
    # Whether the operator has stopped it.
    is_stopped: bool
    ends_at: int
    choices: Choices
    # Grows with each change.
    revision: int
    created_at: int
    updated_at: int

    def is_open(self, now: int) -> bool:
        return self.is_on and not self.is_stopped and not self.has_ended(now)

    def has_ended(self, now: int) -> bool:
        return self.ends_at != NEVER and self.ends_at <= now
