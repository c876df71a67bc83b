"""One name per argument in every tool, and the older names that are still accepted."""

from collections.abc import Mapping
from functools import cache
from typing import Any, Final

from msgspec import Struct

from bowerbird import errors
from bowerbird.requests.fields import metadata_of
from bowerbird.requests.limits import ARGUMENTS_MAX
from bowerbird.requests.schemas import structs_in

# Older names. The structs of the REST API still use them.
OLDER: Final[Mapping[str, str]] = {"tag": "label", "label_name": "label", "q": "query"}


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
        names = (published(name), *(old for old, new in OLDER.items() if new == published(name)))
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
        if other != name and sent[other] is not None:
            if value is None or value == sent[other]:
                continue
            raise errors.invalid(name, f"contradicts {other}; send only {published(name)}")
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
