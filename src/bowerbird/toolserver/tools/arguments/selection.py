"""The posts that a tool changes: those of some ids, or all that match a filter."""

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar

from msgspec import Meta, Struct

from bowerbird.model.bulk import BulkAction
from bowerbird.requests import limits
from bowerbird.requests.bulk import BulkRequest, ChangeFilters, change_of
from bowerbird.requests.fields import Gate, InvalidField, ToolPostIds, about, gates_for, unique


class ToolFilters(ChangeFilters, frozen=True, kw_only=True):
    """The filters of the list. Unlike there, read and archived posts match by default."""

    DEFAULTS: ClassVar[dict[str, bool]] = {"is_unread_only": False, "hide_archived": False}


def _gates(sent: Mapping[str, Any]) -> dict[str, Gate]:
    """A filter in the object needs the same plan as in a list."""
    named = {name: value for name, value in sent.items() if value not in (None, "")}
    return {f"filter.{name}": gate for name, gate in gates_for(ToolFilters, named).items()}


Filter = Annotated[
    ToolFilters | None,
    about(
        "Instead of post_ids: all posts that match, read and archived ones too, such as "
        '{"author": "ada", "bookmarked_to": "-2y"}. Filters as in count_bookmarks; query finds '
        "words, not meaning.",
        gates_within=_gates,
        argument={"type": "object"},
    ),
]
DryRun = Annotated[bool, about("With filter: only count the posts and show five.")]
ExpectedCount = Annotated[
    Annotated[int, Meta(ge=0, le=limits.CHANGE_POSTS_MAX)] | None,
    about("With filter: the count of the dry run. Nothing changes if it differs."),
]


class Selection(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, dict=True):
    """The arguments of every tool that changes posts."""

    post_ids: ToolPostIds | None = None
    filter: Filter = None
    dry_run: DryRun = False
    expected_count: ExpectedCount = None

    def __post_init__(self) -> None:
        if (self.post_ids is None) == (self.filter is None):
            raise InvalidField("post_ids", "either post_ids or filter is required")
        if self.post_ids is not None:
            unique(self, "post_ids")
            if self.dry_run or self.expected_count is not None:
                name = "dry_run" if self.dry_run else "expected_count"
                raise InvalidField(name, "works only with filter")
        elif not self.dry_run and self.expected_count is None:
            raise InvalidField(
                "expected_count", "is required with filter; a call with dry_run true returns it"
            )

    def change(self, action: BulkAction, label_name: str | None = None) -> BulkRequest:
        """The change of many posts that these arguments ask for."""
        return change_of(self, action, label_name)
