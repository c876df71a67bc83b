"""How a request struct describes its fields: sentence, example, bounds, plan gate, reader.

Types of single values.
"""

import difflib
from collections.abc import Callable, Iterable, Mapping
from enum import StrEnum
from functools import cache
from types import UnionType
from typing import TYPE_CHECKING, Annotated, Any, Final, Union, get_args, get_origin, get_type_hints

import msgspec
from msgspec import Meta, Struct

from bowerbird.model.instants import zone_names
from bowerbird.model.labels import NAME_RULE, clean_name
from bowerbird.requests import limits


def about(description: str, example: Any = None, **extra: Any) -> Meta:
    """A field's description, an example, and more in `extra`.

    gate       the plan gate of the field
    gates_in   the plan gates of what is in its value, a text
    gates_within  the same for an object
    filter     how a filter is read
    nullable   whether the schema of a body says that null is accepted
    items      the struct that describes the items of a list
    parameter  more of the field's schema, where it is a parameter or an argument
    argument   the same for an argument of a tool only; None leaves the field out there
    is_other_name  whether the field is another name of one that the schema has
    """
    examples = None if example is None else [example]
    return Meta(description=description, examples=examples, extra=extra or None)


@cache
def metadata_of(kind: type[Struct]) -> dict[str, dict[str, Any]]:
    """What each field's annotation says beyond its type, by name on the wire."""
    hints = get_type_hints(kind, include_extras=True)
    return {field.encode_name: _extra(hints[field.name]) for field in msgspec.structs.fields(kind)}


@cache
def examples_of(kind: type[Struct]) -> dict[str, Any]:
    """An example value for each field that has one, by name on the wire."""
    hints = get_type_hints(kind, include_extras=True)
    found = (
        (field.encode_name, _example(hints[field.name])) for field in msgspec.structs.fields(kind)
    )
    return {name: example for name, example in found if example is not None}


def _example(annotation: Any) -> Any:
    for meta in getattr(annotation, "__metadata__", ()):
        if isinstance(meta, Meta) and meta.examples:
            return meta.examples[0]
    return None


def _extra(annotation: Any) -> dict[str, Any]:
    found: dict[str, Any] = {}
    if get_origin(annotation) is Annotated:
        inner, *metas = get_args(annotation)
        found |= _extra(inner)
        for meta in metas:
            if isinstance(meta, Meta):
                found |= meta.extra or {}
    elif get_origin(annotation) in (Union, UnionType):
        for part in get_args(annotation):
            found |= _extra(part)
    return found


class InvalidField(ValueError):  # noqa: N818 - becomes a refusal, not a fault
    """A field of a request is invalid. Raised where a struct checks its own fields."""

    def __init__(self, field: str, problem: str) -> None:
        super().__init__(f"{field}: {problem}")
        self.field = field
        self.problem = problem


def unique(request: Struct, name: str) -> None:
    """Drops repeated values of a list field, while the struct is being created."""
    values: list[str] = getattr(request, name)
    if len(set(values)) < len(values):
        msgspec.structs.force_setattr(request, name, list(dict.fromkeys(values)))


ToolPostIds = Annotated[
    list[Annotated[str, Meta(pattern=r"^[0-9]{1,40}$")]],
    Meta(min_length=1, max_length=limits.TOOL_POST_IDS_MAX, description="Ids of the posts."),
]
PostId = Annotated[str, Meta(min_length=1)]
PostIds = Annotated[
    list[PostId],
    Meta(
        min_length=1,
        max_length=limits.POST_IDS_MAX,
        description="Identifiers of saved posts, as text: a JSON number would lose digits.",
    ),
]


class Gate(StrEnum):
    FILTERING = "filtering"
    PAGING = "paging"
    MEANING = "meaning"
    LABELLING = "labelling"


@cache
def gates_of(kind: type[Struct]) -> dict[str, Gate]:
    """The gated fields of a request, by their names on the wire."""
    gated = ((name, meta.get("gate")) for name, meta in metadata_of(kind).items())
    return {name: gate for name, gate in gated if gate is not None}


def gates_for(kind: type[Struct], sent: Mapping[str, Any] | Iterable[str]) -> dict[str, Gate]:
    """The gates that these fields of a request have to pass, and their values if they are given."""
    gates = gates_of(kind)
    found = {name: gates[name] for name in sorted(sent) if name in gates}
    if isinstance(sent, Mapping):
        for name, meta in metadata_of(kind).items():
            value = sent.get(name)
            if "gates_in" in meta and isinstance(value, str):
                found |= meta["gates_in"](value)
            elif "gates_within" in meta and isinstance(value, Mapping):
                found |= meta["gates_within"](value)
    return found


class _Scalar(type):
    """The type of a marker: msgspec takes any value of its plain type for an instance of it."""

    plain: type
    read: Callable[[Any], Any]
    schema: dict[str, Any]

    def __instancecheck__(cls, value: object) -> bool:
        return isinstance(value, cls.plain)


def _read_label_name(value: Any) -> str:
    """NFC, trimmed, inner spaces folded to one."""
    name = clean_name(_text(value))
    if name is None:
        raise ValueError(f"must have {NAME_RULE}")
    return name


VISIBLE: Final = "must have a visible character, and no control characters"


def _read_view_name(value: Any) -> str:
    """Trimmed, inner spaces folded to one."""
    name = " ".join(_text(value).split())
    if not 1 <= len(name) <= limits.VIEW_NAME_MAX:
        raise ValueError(f"must have 1 to {limits.VIEW_NAME_MAX} characters")
    return name


def _read_time_zone(value: Any) -> str:
    name = _text(value)
    if name not in zone_names():
        near = difflib.get_close_matches(name[:64], zone_names(), n=1)
        hint = f" (the nearest is {near[0]})" if near else ""
        raise ValueError(f"must be a time zone such as Europe/Berlin{hint}")
    return name


def _read_page_limit(value: Any) -> int:
    """A whole number of any length. A larger number than the maximum is clamped to it."""
    text = str(value).strip(" ").removeprefix("+")
    digits = text.removesuffix(".0") if isinstance(value, float) else text
    # Digits are compared before they are converted: Python refuses very long numbers.
    significant = digits.lstrip("0")
    if isinstance(value, bool) or not (digits.isascii() and digits.isdigit() and significant):
        raise ValueError(f"must be a whole number from 1 to {limits.PAGE_MAX}")
    if len(significant) > len(str(limits.PAGE_MAX)):
        return limits.PAGE_MAX
    return min(int(significant), limits.PAGE_MAX)


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError("Expected `str`")
    return value


if TYPE_CHECKING:
    LabelName = str
    ViewName = str
    TimeZone = str
    PageLimit = int
else:

    class LabelName(metaclass=_Scalar):
        plain = str
        read = staticmethod(_read_label_name)
        schema: Final = {"type": "string", "minLength": 1, "maxLength": limits.LABEL_NAME_MAX}

    class ViewName(metaclass=_Scalar):
        plain = str
        read = staticmethod(_read_view_name)
        schema: Final = {"type": "string", "minLength": 1, "maxLength": limits.VIEW_NAME_MAX}

    class TimeZone(metaclass=_Scalar):
        plain = str
        read = staticmethod(_read_time_zone)
        schema: Final = {"type": "string"}

    class PageLimit(metaclass=_Scalar):
        plain = int
        read = staticmethod(_read_page_limit)
        schema: Final = {"type": "integer", "minimum": 1, "default": limits.PAGE_DEFAULT}


def read_scalar(kind: type, value: Any) -> Any:
    """The msgspec hook for custom types."""
    assert isinstance(kind, _Scalar)
    return kind.read(value)


def scalar_schema(kind: type) -> dict[str, Any]:
    assert isinstance(kind, _Scalar)
    return dict(kind.schema)
