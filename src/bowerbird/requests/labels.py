"""Requests that change labels."""

from collections.abc import Sequence
from functools import cached_property
from typing import Annotated, Any, ClassVar, Literal

import msgspec
from msgspec import UNSET, Meta, Raw, Struct, UnsetType, field

from bowerbird.errors import Refusal
from bowerbird.model.bulk import BulkAction
from bowerbird.model.labels import Color
from bowerbird.requests import decoding, limits
from bowerbird.requests.bookmarks import PageQuery
from bowerbird.requests.bulk import (
    EITHER,
    BulkRequest,
    DryRun,
    ExpectedCount,
    Filter,
    change_of,
    check_selecting,
)
from bowerbird.requests.fields import InvalidField, LabelName, PostIds, about, unique

_ACTIONS = {"add": BulkAction.ADD_LABEL, "remove": BulkAction.REMOVE_LABEL}
_NAME = about("The label's name. Case is ignored when labels are compared.")


class LabelsQuery(PageQuery, frozen=True):
    """GET /labels. Without both, the list is complete."""


class LabelRequest(Struct, frozen=True, kw_only=True):
    """POST /labels/add and /labels/remove: the posts, and a label by name or by id."""

    SCHEMA: ClassVar[dict[str, Any]] = {
        "anyOf": [{"required": ["label_name"]}, {"required": ["label_id"]}],
        "oneOf": EITHER,
    }

    post_ids: PostIds | None = field(name="tweet_ids", default=None)
    label_name: Annotated[LabelName | None, _NAME] = None
    label_id: Annotated[
        Annotated[str, Meta(max_length=limits.LABEL_ID_MAX)] | None,
        about("Identifier of an existing label. Not with filter."),
    ] = None
    filter: Filter = None
    dry_run: DryRun = False
    expected_count: ExpectedCount = None

    def __post_init__(self) -> None:
        check_selecting(self)
        if self.post_ids is not None:
            unique(self, "post_ids")
        elif self.label_name is None:
            raise InvalidField("label_name", "is required with filter")
        if self.label_name is None and self.label_id is None:
            raise InvalidField("label_name", "is required, unless label_id is sent")

    def change(self, op: Literal["add", "remove"]) -> BulkRequest | None:
        """The change of all bookmarks that match; None if they are named."""
        if self.filter is None:
            return None
        return change_of(self, _ACTIONS[op], self.label_name)


class LabelOperation(Struct, frozen=True, kw_only=True):
    """One operation of a batch."""

    op: Annotated[Literal["add", "remove"], Meta(description="add or remove.")]
    post_ids: PostIds = field(name="tweet_ids")
    label_name: Annotated[LabelName, _NAME]

    def __post_init__(self) -> None:
        unique(self, "post_ids")


class InvalidOperation(Struct, frozen=True):
    """An invalid operation of a batch. `op` is what was sent, or "unknown"."""

    op: str
    refusal: Refusal


class BatchRequest(Struct, frozen=True, dict=True):
    """POST /labels/batch. Each operation is decoded separately, so that one can fail alone."""

    operations: Annotated[
        list[Raw],
        Meta(
            min_length=1,
            max_length=limits.OPERATIONS_MAX,
            description=(
                "Label changes, applied in this order, with at most "
                f"{limits.BATCH_POSTS_MAX:,} posts in all."
            ),
            extra={"items": LabelOperation},
        ),
    ]

    @cached_property
    def parsed(self) -> list[LabelOperation | InvalidOperation]:
        return [_parsed(index, bytes(raw)) for index, raw in enumerate(self.operations)]

    def __post_init__(self) -> None:
        # Decoded here, before a transaction is open.
        check_posts(self.parsed)


class LabelChange(Struct, frozen=True, forbid_unknown_fields=True):
    """PATCH /labels/{label_id}: the fields that are sent change."""

    label_name: Annotated[LabelName | UnsetType, _NAME] = UNSET
    metadata: Annotated[
        dict[str, Any] | UnsetType,
        Meta(description="Your own notes on the label."),
    ] = UNSET
    color: Annotated[
        Color | UnsetType | None,
        about("Colour on the website; null for one derived from the name.", nullable=True),
    ] = UNSET

    def __post_init__(self) -> None:
        if self.metadata is not UNSET and len(self.metadata_json) > limits.LABEL_METADATA_MAX:
            maximum = f"{limits.LABEL_METADATA_MAX:,}"
            raise InvalidField("metadata", f"must be at most {maximum} characters of JSON")

    @property
    def metadata_json(self) -> str:
        return "" if self.metadata is UNSET else msgspec.json.encode(self.metadata).decode()


class MergeRequest(Struct, frozen=True, forbid_unknown_fields=True):
    """POST /labels/{label_id}/merge."""

    into: Annotated[
        str, Meta(max_length=limits.LABEL_NAME_MAX, description="Identifier of the label to keep.")
    ]


class ImportLabelling(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """POST /imports/{run_id}/suggested_labels/apply."""

    label_ids: Annotated[
        Annotated[
            list[Annotated[str, Meta(max_length=limits.LABEL_ID_MAX)]],
            Meta(min_length=1, max_length=limits.SUGGESTED_LABELS_MAX),
        ]
        | None,
        about("Only these of the labels that fit; null for all of them.", ["1"]),
    ] = None
    expected_count: ExpectedCount = None

    def __post_init__(self) -> None:
        if self.label_ids is not None:
            unique(self, "label_ids")


def check_posts(operations: Sequence[LabelOperation | InvalidOperation]) -> None:
    """Bounds the posts of a batch. A post counts once per operation that names it."""
    valid = [one for one in operations if isinstance(one, LabelOperation)]
    posts = sum(len(one.post_ids) for one in valid)
    if posts > limits.BATCH_POSTS_MAX:
        maximum = f"{limits.BATCH_POSTS_MAX:,}"
        raise InvalidField(
            "operations",
            f"must have at most {maximum} posts in all, got {posts:,}; split the batch",
        )


def _parsed(index: int, raw: bytes) -> LabelOperation | InvalidOperation:
    try:
        return decoding.decode(raw, LabelOperation, is_checked=True)
    except Refusal as refused:
        return invalid_operation(index, decoding.parse(raw), refused)


def invalid_operation(index: int, sent: Any, refused: Refusal) -> InvalidOperation:
    op = sent.get("op") if isinstance(sent, dict) else None
    return InvalidOperation(
        op if isinstance(op, str) else "unknown", decoding.within(f"operations[{index}]", refused)
    )
