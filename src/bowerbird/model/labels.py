"""Labels: which names are valid, and which names mean the same label.

Smart Views: saved queries with a name.
"""

import unicodedata
from enum import StrEnum
from typing import Any, Final, Literal, get_args

from msgspec import Struct

from bowerbird.model.words import fold

MAX_NAME_CHARACTERS: Final = 100
Color = Literal["blue", "sea", "moss", "straw", "rust", "berry", "plum", "stone"]
COLORS: Final[tuple[Color, ...]] = get_args(Color)
NAME_RULE: Final = (
    f"1 to {MAX_NAME_CHARACTERS} characters, at least one of them visible, "
    "and no control characters"
)
# Nobody sees these, although they are letters, marks or symbols: fillers, blank Braille, variation
# selectors.
_BLANK: Final = frozenset(
    "\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u2800\u3164\uffa0"
) | frozenset(map(chr, (*range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0))))
_INVISIBLE: Final = frozenset({"Cf", "Zs", "Zl", "Zp"})


def clean_name(text: str, most: int = MAX_NAME_CHARACTERS) -> str | None:
    """The name as it is stored, or None if it is invalid."""
    # Checked before split(), because Python counts some control characters as white space.
    # isprintable() is a fast test that is enough for most names.
    if not text.isprintable() and any(
        unicodedata.category(c) == "Cc" and c not in "\t\n\r" for c in text
    ):
        return None
    text = " ".join(text.split())
    # One character has at most four after it that join with it.
    if len(text) > 5 * most:
        return None
    name = " ".join(unicodedata.normalize("NFC", text).split())
    return name if len(name) <= most and any(map(_is_visible, name)) else None


def _is_visible(character: str) -> bool:
    return character not in _BLANK and unicodedata.category(character) not in _INVISIBLE


def name_key(name: str) -> str:
    """The key of a label: names with the same key are the same label."""
    return fold(name)


class Label(Struct, frozen=True):
    label_id: int
    name: str
    name_key: str
    # JSON text with the owner's own fields, for example a colour.
    metadata: str = "{}"
    bookmark_count: int = 0
    # The name that some of its posts still have, while the label is being renamed.
    former_name: str | None = None
    # One of COLORS, if somebody chose it.
    color: str | None = None


Query = dict[str, Any]
"""Filter parameters of a list with their values; dates may be relative."""


class Bucket(Struct, frozen=True):
    """A part of a view: its query adds filters to those of the view."""

    slug: str
    """The bucket's name in URLs."""
    name: str
    """Its display name."""
    query: Query


class ViewSort(Struct, frozen=True, omit_defaults=True):
    sort_by: str
    sort_order: str | None = None


class View(Struct, frozen=True):
    slug: str
    name: str
    description: str
    base_query: Query
    default_sort: ViewSort | None
    triage_buckets: list[Bucket]
    created_at: int
    updated_at: int
    # The place in the list, from 1.
    position: int = 1
    # Whether the sidebar of the website shows it.
    is_pinned: bool = True


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
