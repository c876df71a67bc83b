"""One name per argument in every tool, and the older names that are still accepted.

Many tools change posts: those of some ids, or all that match a filter.
"""

from collections.abc import Mapping
from functools import cache
from typing import Annotated, Any, ClassVar, Final

from msgspec import Meta, Struct

from bowerbird import errors
from bowerbird.model.bulk import BulkAction
from bowerbird.requests import limits, schemas
from bowerbird.requests.bookmarks import TrashQuery
from bowerbird.requests.bulk import (
    TRASH_FILTERS,
    BulkRequest,
    ChangeFilters,
    change_of,
    check_trash_filters,
    given,
)
from bowerbird.requests.fields import (
    Gate,
    InvalidField,
    ToolPostIds,
    about,
    gates_for,
    metadata_of,
    unique,
)
from bowerbird.requests.limits import ARGUMENTS_MAX
from bowerbird.requests.schemas import Form, structs_in

# Older names. The structs of the REST API still use them.
OLDER: Final[Mapping[str, str]] = {"tag": "label", "label_name": "label", "q": "query"}
# What agents send for an argument that has another name in a few tools.
_GUESSED: Final[Mapping[str, str]] = {"query": "matches"}


def published(name: str) -> str:
    """The name of an argument in the list of tools."""
    return OLDER.get(name, name)


def in_published_words(values: Mapping[str, Any]) -> dict[str, Any]:
    """Filters for a result that repeats them."""
    return {published(name): value for name, value in values.items()}


def field_for(name: str, takes: type[Struct]) -> str:
    """The field of the struct that an argument sets; the name itself if there is none."""
    return _fields_by_name(takes).get(name, name)


@cache
def _fields_by_name(takes: type[Struct]) -> dict[str, str]:
    """The names that set a field of the struct: a client may send thousands of others."""
    fields = takes.__struct_encode_fields__
    found: dict[str, str] = {}
    for name in (*fields, *OLDER, *OLDER.values()):
        usual = published(name)
        older = (old for old, new in OLDER.items() if new == usual)
        names = (usual, *older, _GUESSED.get(usual, usual))
        found[name] = next((one for one in names if one in fields), name)
    return found


def to_fields(sent: Mapping[str, Any], takes: type[Struct]) -> dict[str, Any]:
    """The arguments by the names of the struct's fields, also in the objects inside them."""
    if len(sent) > ARGUMENTS_MAX:
        problem = f"must have at most {ARGUMENTS_MAX} fields in one object, got {len(sent):,}"
        raise errors.invalid("arguments", problem)
    values: dict[str, Any] = {}
    sent_as: dict[str, str] = {}
    for name, value in sent.items():
        field = field_for(name, takes)
        other = sent_as.setdefault(field, name)
        if other != name:
            if value is None or value == sent[other]:
                continue
            if sent[other] is not None:
                raise errors.invalid(name, f"contradicts {other}; send only {published(field)}")
            sent_as[field] = name
        values[field] = _inside(value, struct_of(takes, field))
    return values


def names_sent(sent: Mapping[str, Any], takes: type[Struct]) -> dict[str, str]:
    """How errors name the fields of a struct: as they were sent, or as they are published."""
    names = {field: published(field) for field in takes.__struct_encode_fields__}
    inside = {name: name for value in sent.values() for name in _older_names(value)}
    return names | inside | {field_for(name, takes): name for name in sent}


def _older_names(value: Any) -> set[str]:
    """The older names in an object, or in the objects of a list."""
    if isinstance(value, list):
        return {name for item in value for name in _older_names(item)}
    if not isinstance(value, dict):
        return set()
    return (value.keys() & OLDER.keys()).union(*map(_older_names, value.values()))


def _inside(value: Any, kind: type[Struct] | None) -> Any:
    if kind is None:
        return value
    if isinstance(value, list):
        return [_inside(item, kind) for item in value]
    return to_fields(value, kind) if isinstance(value, dict) else value


def struct_of(takes: type[Struct], field: str) -> type[Struct] | None:
    """The struct of an object, or of the items of a list."""
    # Names that a client invented are not kept in the cache.
    return _struct_of(takes, field) if field in takes.__struct_encode_fields__ else None


@cache
def _struct_of(takes: type[Struct], field: str) -> type[Struct] | None:
    items: type[Struct] | None = metadata_of(takes)[field].get("items")
    return items or next(iter(structs_in(takes, field)), None)


class ToolFilters(ChangeFilters, frozen=True, kw_only=True):
    """The filters of the list. Unlike there, read and archived posts match by default."""

    DEFAULTS: ClassVar[dict[str, bool]] = {"is_unread_only": False, "hide_archived": False}
    # Every operator for a flag works in query, and restore_bookmarks lists its own filters.
    UNLISTED: ClassVar = (
        *("is_unread_only", "hide_archived", "unlabelled", "deleted_from", "deleted_to"),
    )


def _gates(sent: Mapping[str, Any]) -> dict[str, Gate]:
    """A filter in the object needs the same plan as in a list."""
    named = {name: value for name, value in sent.items() if value not in (None, "")}
    return {f"filter.{name}": gate for name, gate in gates_for(ToolFilters, named).items()}


WHOLE: Final = "An empty filter matches the whole library"
_SELECTS: Final = "Instead of post_ids: all that match, read and archived posts too."
Filter = Annotated[ToolFilters | None, about(_SELECTS, gates_within=_gates)]
_TRASH: Final = schemas.inline(TrashQuery, Form.ARGUMENTS)["properties"]
TrashFilter = Annotated[
    ToolFilters | None,
    about(
        "Instead of post_ids: all deleted posts that match. {} means the whole trash.",
        gates_within=_gates,
        argument={
            "type": "object",
            "properties": {name: _TRASH[name] for name in TRASH_FILTERS if name in _TRASH},
        },
    ),
]
DryRun = Annotated[bool, about("With filter, first: only count the posts and show five.")]
ExpectedCount = Annotated[
    Annotated[int, Meta(ge=0, le=limits.CHANGE_POSTS_MAX)] | None,
    about("Required with filter: the count of its dry run."),
]


class Selection(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, dict=True):
    """The arguments of every tool that changes posts."""

    # Whether the posts are in the trash, which has other filters.
    IS_RESTORE: ClassVar[bool] = False

    post_ids: ToolPostIds | None = None
    filter: Filter = None
    dry_run: DryRun = False
    expected_count: ExpectedCount = None

    def __post_init__(self) -> None:
        if (self.post_ids is None) == (self.filter is None):
            raise InvalidField("post_ids", "either post_ids or filter is required")
        check_trash_filters(self.filter, "filter", is_restore=self.IS_RESTORE)
        if self.post_ids is not None:
            unique(self, "post_ids")
            if self.dry_run or self.expected_count is not None:
                name = "dry_run" if self.dry_run else "expected_count"
                raise InvalidField(name, "works only with filter")
        elif not self.dry_run and self.expected_count is None:
            problem = "is required with filter; a call with dry_run true returns it"
            is_whole = not self.IS_RESTORE and self.filter is not None and not given(self.filter)
            raise InvalidField("expected_count", f"{problem}. {WHOLE}" if is_whole else problem)

    def change(self, action: BulkAction, label_name: str | None = None) -> BulkRequest:
        """The change of many posts that these arguments ask for."""
        return change_of(self, action, label_name)
