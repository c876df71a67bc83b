"""Requests that change many bookmarks."""

from typing import Annotated, Any, ClassVar, Final, Literal, Protocol, cast

from msgspec import Meta, Struct, field

from bowerbird.model.bulk import BulkAction
from bowerbird.requests import limits
from bowerbird.requests.fields import Gate, InvalidField, LabelName, PostIds, about, unique
from bowerbird.requests.filters import TIMES, ImportedQuery, check_filters, sent

Action = Literal[
    "read",
    "unread",
    "archive",
    "unarchive",
    "trash",
    "restore",
    "add_label",
    "remove_label",
    "read_and_archive",
    "read_and_unarchive",
    "unread_and_archive",
    "unread_and_unarchive",
]
Slug = Annotated[str, Meta(max_length=limits.SENT_SLUG_MAX)]
_LABELLING = ("add_label", "remove_label")
_CHOICES = ("post_ids", "filters", "view")


DeletedFrom = Annotated[
    str | None,
    about(
        "Only of posts in the trash: deleted after this instant. Dates as in posted_from.",
        "-7d",
        gate=Gate.FILTERING,
        nullable=True,
        parameter={"anyOf": TIMES},
        argument={"description": "Deleted since 2026-01-31 or -7d."},
    ),
]
DeletedTo = Annotated[
    str | None,
    about(
        "Only of posts in the trash: deleted before this instant.",
        "2026-07-31",
        gate=Gate.FILTERING,
        nullable=True,
        parameter={"anyOf": TIMES},
        argument={"description": "Deleted until 2026-01-31 or -7d."},
    ),
]


_DELETED: Final = ("deleted_from", "deleted_to")
TRASH_FILTERS: Final = ("q", "author", "label", "tag", *_DELETED)


def check_trash_filters(filters: "ChangeFilters | None", field: str, *, is_restore: bool) -> None:
    """For a struct that checks itself: posts in the trash have other filters than the library."""
    for name in [] if filters is None else given(filters):
        if is_restore and name not in TRASH_FILTERS:
            known = "q, author, label, deleted_from and deleted_to"
            problem = f"{name} has no meaning for posts in the trash; {known} have. "
            raise InvalidField(field, f"{problem}{{}} means all of them")
        if not is_restore and name in _DELETED:
            raise InvalidField(field, f"{name} has a meaning only for restore")


def given(filters: "ChangeFilters") -> list[str]:
    """The filters that were sent with a value."""
    return [*sent(filters), *(name for name in _DELETED if getattr(filters, name))]


class ChangeFilters(ImportedQuery, frozen=True, kw_only=True):
    """The filters of the list. Without any, it contains unread bookmarks that are not archived."""

    text_only: Annotated[
        bool | None,
        about(
            "Whether the words of q must be in the texts of a post, its notes or labels. false: "
            "handles, names of authors, link titles, alt texts and explained abbreviations count "
            "too, as in a list.",
            example=False,
            # The dry run of a tool names it if it makes a difference.
            argument=None,
        ),
    ] = None
    deleted_from: DeletedFrom = None
    deleted_to: DeletedTo = None

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in self.__struct_fields__:
            value = getattr(self, name)
            if isinstance(value, str) and not value.strip():
                # In a list it is no filter. Here it would change every post.
                raise InvalidField(name, "is empty; leave it out if it should not filter")
        if self.label_match is not None and self.label is None:
            raise InvalidField("label_match", "needs label")
        check_filters(self)


Filter = Annotated[
    ChangeFilters | None,
    about(
        "Instead of tweet_ids: every bookmark that GET /bookmarks finds with these parameters. "
        "The change can be undone for an hour."
    ),
]
DryRun = Annotated[bool, about("Only count the bookmarks, and show some of them.", example=True)]
ExpectedCount = Annotated[
    Annotated[int, Meta(ge=0)] | None,
    about("Change nothing unless exactly this many bookmarks match.", 1204),
]
EITHER: Final = [{"required": ["tweet_ids"]}, {"required": ["filter"]}]


class Selecting(Protocol):
    """A request that names posts, or filters them."""

    @property
    def post_ids(self) -> list[str] | None: ...
    @property
    def filter(self) -> ChangeFilters | None: ...
    @property
    def dry_run(self) -> bool: ...
    @property
    def expected_count(self) -> int | None: ...


def check_selecting(request: Selecting, *, is_restore: bool = False) -> None:
    """For a struct that checks itself."""
    check_trash_filters(request.filter, "filter", is_restore=is_restore)
    if (request.post_ids is None) == (request.filter is None):
        raise InvalidField("tweet_ids", "either tweet_ids or filter is required")
    if request.filter is None and (request.dry_run or request.expected_count is not None):
        name = "dry_run" if request.dry_run else "expected_count"
        raise InvalidField(name, "needs filter instead of tweet_ids")
    if request.filter is not None and not request.dry_run and request.expected_count is None:
        raise InvalidField(
            "expected_count", "is required with filter; a request with dry_run returns the count"
        )


def change_of(
    request: Selecting, action: BulkAction, label_name: str | None = None
) -> "BulkRequest":
    return BulkRequest(
        action=cast("Action", action.value),
        post_ids=request.post_ids,
        filters=request.filter,
        label_name=label_name,
        dry_run=request.dry_run,
        expected_count=request.expected_count,
    )


class BulkRequest(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """POST /bookmarks/changes: one action for posts that are named, filtered, or in a view."""

    SCHEMA: ClassVar[dict[str, Any]] = {
        "oneOf": [{"required": ["tweet_ids"]}, {"required": ["filters"]}, {"required": ["view"]}]
    }

    action: Annotated[
        Action,
        about(
            "What to do. trash moves bookmarks to the trash, and restore takes them out of it "
            "again. add_label and remove_label need label_name.",
            "archive",
        ),
    ]
    post_ids: PostIds | None = field(name="tweet_ids", default=None)
    filters: Annotated[
        ChangeFilters | None,
        about(
            "Instead of tweet_ids: every bookmark that GET /bookmarks finds with these "
            "parameters. Dates may be relative, such as -7d. restore takes q, author, label, "
            "deleted_from and deleted_to of the trash; {} means all deleted bookmarks."
        ),
    ] = None
    view: Annotated[Slug | None, about("Instead of both: slug of a Smart View.")] = None
    bucket: Annotated[Slug | None, about("With view: slug of one of its triage buckets.")] = None
    label_name: Annotated[
        LabelName | None,
        about("The label that add_label or remove_label changes.", "Birds", gate=Gate.LABELLING),
    ] = None
    dry_run: DryRun = False
    expected_count: ExpectedCount = None

    def __post_init__(self) -> None:
        chosen = [name for name in _CHOICES if getattr(self, name) is not None]
        if len(chosen) != 1:
            raise InvalidField(
                "tweet_ids", "exactly one of tweet_ids, filters and view is required"
            )
        if self.post_ids is not None:
            unique(self, "post_ids")
        if self.bucket is not None and self.view is None:
            raise InvalidField("bucket", "needs view")
        if self.action in _LABELLING and self.label_name is None:
            raise InvalidField("label_name", f"is required for {self.action}")
        if self.action not in _LABELLING and self.label_name is not None:
            raise InvalidField("label_name", f"has no meaning for {self.action}")
        is_restore = self.action == "restore"
        if is_restore and self.view is not None:
            raise InvalidField("view", "has no meaning for restore; send tweet_ids or filters")
        check_trash_filters(self.filters, "filters", is_restore=is_restore)


class TrashRequest(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """POST /bookmarks/delete."""

    SCHEMA: ClassVar[dict[str, Any]] = {"oneOf": EITHER}

    post_ids: PostIds | None = field(name="tweet_ids", default=None)
    filter: Filter = None
    dry_run: DryRun = False
    expected_count: ExpectedCount = None

    def __post_init__(self) -> None:
        check_selecting(self, is_restore=isinstance(self, RestoreRequest))
        if self.post_ids is not None:
            unique(self, "post_ids")


class RestoreRequest(TrashRequest, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """POST /bookmarks/restore: filter has q, author, label, deleted_from and deleted_to."""
