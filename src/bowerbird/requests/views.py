"""Requests that read, create and change Smart Views."""

from typing import Annotated, Any, ClassVar

from msgspec import UNSET, Meta, Struct, UnsetType

from bowerbird import errors
from bowerbird.requests import limits
from bowerbird.requests.bookmarks import SORT_FIELDS, Cursor, Limit
from bowerbird.requests.fields import InvalidField, ViewName, about
from bowerbird.requests.filters import BookmarkQuery, check_filters


class ViewQuery(BookmarkQuery, frozen=True, kw_only=True):
    """A query that a view has stored. A view shows read posts unless its query says otherwise."""

    DEFAULTS: ClassVar[dict[str, bool]] = {"is_unread_only": False, "hide_archived": True}


class NewViewQuery(ViewQuery, frozen=True, kw_only=True):
    """A query to store. Its dates may be relative: "-7d", "last 7 days"."""

    # An operator of query is enough for these.
    UNLISTED: ClassVar = ("author", "unlabelled", "bookmarked_to")

    def __post_init__(self) -> None:
        super().__post_init__()
        check_filters(self)


class NewSort(Struct, frozen=True, forbid_unknown_fields=True):
    sort_by: Annotated[
        str, about("The field to sort by, as in the list.", parameter={"enum": SORT_FIELDS})
    ]
    sort_order: Annotated[
        str | None, about("asc or desc.", parameter={"enum": ["asc", "desc"]})
    ] = None

    def __post_init__(self) -> None:
        # As in the list, surrounding spaces and the case of a direction are ignored.
        if self.sort_by.strip() not in SORT_FIELDS:
            accepted = ", ".join(SORT_FIELDS)
            raise InvalidField(
                "sort_by", f"must be one of {accepted}, got {errors.shown(self.sort_by)}"
            )
        if (self.sort_order or "asc").strip().lower() not in ("asc", "desc"):
            raise InvalidField(
                "sort_order", f"must be asc or desc, got {errors.shown(self.sort_order or '')}"
            )


class NewBucket(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    name: Annotated[ViewName, about("The bucket's name.")]
    slug: Annotated[
        Annotated[str, Meta(max_length=limits.SLUG_MAX)] | None,
        # Derived from the name.
        about("The bucket's name in URLs. Default: derived from the name.", argument=None),
    ] = None
    query: Annotated[
        NewViewQuery | None,
        about(
            "Filters that narrow the view further, by the list's names.",
            argument={
                "type": "object",
                "description": "Which posts of the view are in it.",
                "properties": {"query": {"type": "string", "description": "As in base_query."}},
            },
        ),
    ] = None


Description = Annotated[
    Annotated[str, Meta(max_length=limits.TEXT_MAX)] | None, about("What the view is for.")
]
BaseQuery = Annotated[
    NewViewQuery | None,
    about(
        "Filters of the list by name. Dates may be relative, such as -7d. Read "
        "bookmarks are included unless is_unread_only is true; archived ones only if "
        "hide_archived is false."
    ),
]
DefaultSort = Annotated[
    str | NewSort | None,
    about(
        "Order of the view's bookmarks; null for the list's default.",
        nullable=True,
        argument={"description": "Order of the view's bookmarks."},
    ),
]
Buckets = Annotated[
    Annotated[list[NewBucket], Meta(max_length=limits.BUCKETS_MAX)] | None,
    about("Parts of the view, each with a narrower query."),
]
IsPinned = Annotated[bool | None, about("Shown in the website's sidebar. Default: true.")]


class NewView(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """POST /views."""

    name: Annotated[ViewName, about("The view's name for people.")]
    description: Description = None
    base_query: BaseQuery = None
    default_sort: DefaultSort = None
    triage_buckets: Buckets = None
    is_pinned: IsPinned = None

    def __post_init__(self) -> None:
        _check_sort(self.default_sort)


class ViewChange(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """PATCH /views/{slug}: the fields that are sent replace the old ones."""

    name: Annotated[ViewName | UnsetType, about("The view's name for people.")] = UNSET
    description: Description | UnsetType = UNSET
    base_query: BaseQuery | UnsetType = UNSET
    default_sort: DefaultSort | UnsetType = UNSET
    triage_buckets: Buckets | UnsetType = UNSET
    position: Annotated[
        Annotated[int, Meta(ge=1, le=limits.VIEWS_MAX)] | UnsetType,
        about("Place in the list, from 1. A larger number is the last."),
    ] = UNSET
    is_pinned: Annotated[bool | UnsetType, about("Shown in the website's sidebar.")] = UNSET

    def __post_init__(self) -> None:
        _check_sort(self.default_sort)


class ViewBookmarksQuery(Struct, frozen=True):
    """GET /views/{slug}/bookmarks."""

    limit: Limit = None
    cursor: Cursor = None
    bucket: Annotated[
        str | None,
        about("Slug of one of the view's triage buckets, which narrows it.", "long-reads"),
    ] = None


def _check_sort(sort: Any) -> None:
    if isinstance(sort, str):
        try:
            NewSort(sort)
        except InvalidField as invalid:
            raise InvalidField("default_sort", invalid.problem) from None
