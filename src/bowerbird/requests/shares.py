"""Requests that share a list, and that change how it is shared."""

import re
from typing import Annotated, Any, ClassVar, Final, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from bowerbird.model import instants
from bowerbird.model.labels import NEVER, Audience, ListName, clean_name
from bowerbird.requests import limits
from bowerbird.requests.fields import VISIBLE, InvalidField, LabelName, about

_NAME: Final = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*", re.ASCII)
_SHORTEST_NAME: Final = 3
_CONTROL: Final = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_WORDS: Final = {
    "title": limits.SHARE_TITLE_MAX,
    "curator": limits.SHARE_TITLE_MAX,
    "description": limits.TEXT_MAX,
}

Name = Annotated[
    Annotated[str, Meta(max_length=limits.SHARE_NAME_MAX)] | None,
    about(
        "The public name in its address, for audience public: lowercase letters a to z, digits and "
        "hyphens."
    ),
]
Title = Annotated[
    Annotated[str, Meta(max_length=limits.SHARE_TITLE_MAX)] | None,
    about("Heading of the page. Default: the name of the label or view."),
]
Description = Annotated[
    Annotated[str, Meta(max_length=limits.TEXT_MAX)] | None, about("A sentence about it.")
]
Curator = Annotated[
    Annotated[str, Meta(max_length=limits.SHARE_TITLE_MAX)] | None,
    about("Your name there. Default: none."),
]
EndsAt = Annotated[
    str | None,
    about("When the sharing ends, with an offset; null for never.", nullable=True),
]
Pictures = Annotated[bool, about("Whether kept images are shown. They come from this server.")]
SavedDates = Annotated[bool, about("Whether the day on which you saved a post is shown.")]
Highlights = Annotated[bool, about("Whether your highlights and their comments are shown.")]
Notes = Annotated[bool, about("Whether your notes are shown.")]
HidesGone = Annotated[
    bool, about("Whether posts are left out that their network does not show any more.")
]
IsIndexed = Annotated[bool, about("Whether search engines may list the page.")]


class NewShare(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """POST /shares: one of label_name, view and list."""

    SCHEMA: ClassVar[dict[str, Any]] = {
        "oneOf": [{"required": [name]} for name in ("label_name", "view", "list")]
    }

    label_name: Annotated[LabelName | None, about("The label to share.")] = None
    view: Annotated[
        Annotated[str, Meta(max_length=limits.SENT_SLUG_MAX)] | None,
        about("Slug of the Smart View to share."),
    ] = None
    list: Annotated[
        ListName | None,
        about("A list of the library. It can have a private feed, and cannot be shared."),
    ] = None
    audience: Annotated[
        Audience,
        about(
            "link: everybody with the secret address. public: an address with a name. feed: a "
            "private feed at a secret address, without a page."
        ),
    ] = Audience.LINK
    name: Name = None
    title: Title = None
    description: Description = None
    curator: Curator = None
    ends_at: EndsAt = None
    pictures: Pictures = True
    saved_dates: SavedDates = False
    highlights: Highlights = False
    notes: Notes = False
    hides_gone: HidesGone = True
    is_indexed: IsIndexed = False
    is_on: Annotated[bool, about("Whether it can be opened at once. Default: true.")] = True

    def __post_init__(self) -> None:
        if sum(each is not None for each in (self.label_name, self.view, self.list)) != 1:
            raise InvalidField("label_name", "or view or list is required, and only one of them")
        if self.list is not None and self.audience is not Audience.FEED:
            raise InvalidField("list", "can only have a private feed (audience feed)")
        check_name(self.audience, self.name)
        _check_texts(self)


class ShareChange(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """PATCH /shares/{share_id}: the fields that are sent change."""

    is_on: Annotated[bool | UnsetType, about("false stops it at once; true starts it again.")] = (
        UNSET
    )
    audience: Annotated[
        Literal["link", "public"] | UnsetType,
        about("link or public. The address changes with it. A private feed stays one."),
    ] = UNSET
    name: Name | UnsetType = UNSET
    new_address: Annotated[
        bool, about("true gives it a new secret address. The old one ends at once.")
    ] = False
    title: Title | UnsetType = UNSET
    description: Description | UnsetType = UNSET
    curator: Curator | UnsetType = UNSET
    ends_at: EndsAt | UnsetType = UNSET
    pictures: Pictures | UnsetType = UNSET
    saved_dates: SavedDates | UnsetType = UNSET
    highlights: Highlights | UnsetType = UNSET
    notes: Notes | UnsetType = UNSET
    hides_gone: HidesGone | UnsetType = UNSET
    is_indexed: IsIndexed | UnsetType = UNSET

    def __post_init__(self) -> None:
        _check_texts(self)


def check_name(audience: Audience, name: str | None) -> None:
    """Refuses a public share without a name, and a name that no address can have."""
    if audience is not Audience.PUBLIC:
        if name:
            raise InvalidField("name", "is only for audience public; other addresses are secret")
        return
    if not name or len(name) < _SHORTEST_NAME or not _NAME.fullmatch(name):
        raise InvalidField(
            "name",
            f"must have {_SHORTEST_NAME} to {limits.SHARE_NAME_MAX} lowercase letters (a to z), "
            "digits and single hyphens between them",
        )


def instant_of(text: str | None) -> int:
    """When a share ends."""
    found = instants.parse(text) if text else NEVER
    if found is None or (text and found <= NEVER):
        raise InvalidField("ends_at", "must be a time such as 2026-09-30T00:00:00+00:00, or null")
    return found


def _check_texts(request: NewShare | ShareChange) -> None:
    for name in _WORDS:
        value = getattr(request, name)
        if not isinstance(value, str):
            continue
        is_hidden = value.strip() and clean_name(" ".join(value.split()), limits.TEXT_MAX) is None
        if is_hidden or _CONTROL.search(value):
            raise InvalidField(name, VISIBLE)
    if isinstance(request.ends_at, str):
        instant_of(request.ends_at)
