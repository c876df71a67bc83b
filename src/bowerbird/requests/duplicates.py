"""Requests that list posts which are there several times, and keep one of each."""

from typing import Annotated, Final, Literal

from msgspec import Meta, Struct

from bowerbird.requests import limits
from bowerbird.requests.bookmarks import Cursor, Limit
from bowerbird.requests.fields import InvalidField, PostId, about

Groups = Literal["link", "text", "picture"]


class DuplicatesQuery(Struct, frozen=True, kw_only=True):
    """GET /bookmarks/duplicates."""

    same: Annotated[
        Groups | None,
        about(
            "Only groups of posts with the same link (all links), text or picture (all pictures).",
            "link",
            parameter={"enum": ["link", "text", "picture"]},
            argument=None,
        ),
    ] = None
    limit: Limit = None
    cursor: Cursor = None


class Resolution(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A group of duplicates: the post that stays, and those that go to the trash."""

    keep: Annotated[PostId, about("The post that stays, and gets the labels of the others.")]
    remove: Annotated[
        Annotated[list[PostId], Meta(min_length=1, max_length=limits.RESOLVED_MAX)],
        about("Its duplicates, which go to the trash."),
    ]


_EXAMPLE: Final = [{"keep": "1908771653022654191", "remove": ["1908772659655622110"]}]


class ResolveRequest(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """POST /bookmarks/duplicates/resolve."""

    groups: Annotated[
        Annotated[list[Resolution], Meta(min_length=1, max_length=limits.RESOLVED_MAX)],
        about(f"Up to {limits.RESOLVED_MAX} posts to remove in all.", _EXAMPLE),
    ]

    def __post_init__(self) -> None:
        named = [one for group in self.groups for one in (group.keep, *group.remove)]
        if len(set(named)) < len(named):
            raise InvalidField("groups", "name a post twice")
        removed = len(named) - len(self.groups)
        if removed > limits.RESOLVED_MAX:
            raise InvalidField(
                "groups", f"remove {removed} posts; at most {limits.RESOLVED_MAX} per request"
            )
