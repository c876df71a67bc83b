"""Requests that change many bookmarks."""

from typing import Annotated, Any, ClassVar, Literal

from msgspec import Meta, Struct, field

from bowerbird.requests import limits
from bowerbird.requests.fields import InvalidField, PostIds, about, unique
from bowerbird.requests.filters import ImportedQuery, check_filters, sent
from bowerbird.requests.gates import Gate
from bowerbird.requests.scalars import LabelName

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


class ChangeFilters(ImportedQuery, frozen=True, kw_only=True):
    """The filters of the list. Without any, it contains unread bookmarks that are not archived."""

    def __post_init__(self) -> None:
        check_filters(self)


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
            "parameters. Dates may be relative, such as -7d. {} with restore means all deleted "
            "bookmarks."
        ),
    ] = None
    view: Annotated[Slug | None, about("Instead of both: slug of a Smart View.")] = None
    bucket: Annotated[Slug | None, about("With view: slug of one of its triage buckets.")] = None
    label_name: Annotated[
        LabelName | None,
        about("The label that add_label or remove_label changes.", "Birds", gate=Gate.LABELLING),
    ] = None
    dry_run: Annotated[
        bool, about("Only count the bookmarks, and show some of them.", example=True)
    ] = False
    expected_count: Annotated[
        Annotated[int, Meta(ge=0)] | None,
        about("Change nothing unless exactly this many bookmarks match.", 1204),
    ] = None

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
        if self.action == "restore" and not self._can_restore():
            raise InvalidField("filters", "must be {} for restore, or send tweet_ids")

    def _can_restore(self) -> bool:
        return self.post_ids is not None or (self.filters is not None and not sent(self.filters))
