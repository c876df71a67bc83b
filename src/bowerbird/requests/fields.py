"""How a request struct describes its fields: sentence, example, bounds, plan gate, reader."""

import difflib
from functools import cache
from types import UnionType
from typing import Annotated, Any, Final, Union, get_args, get_origin, get_type_hints

import msgspec
from msgspec import Meta, Struct

from bowerbird.model.labels import clean_name
from bowerbird.model.periods import zone_names
from bowerbird.requests import limits

_SCALAR_HINT: Final = "one of the scalar types of requests.fields"


def about(description: str, example: Any = None, **extra: Any) -> Meta:
    """A field's description. `extra` may hold gate, filter, parameter, nullable and items."""
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


class LabelName(str):
    """A label name: NFC, trimmed, inner spaces folded to one, no control characters."""

    __slots__ = ()

    @classmethod
    def read(cls, value: Any) -> "LabelName":
        if not isinstance(value, str):
            raise TypeError(_SCALAR_HINT)
        name = clean_name(value)
        if name is None:
            raise ValueError(
                f"must have 1 to {limits.LABEL_NAME_MAX} characters and no control characters"
            )
        return cls(name)

    @staticmethod
    def schema() -> dict[str, Any]:
        return {"type": "string", "minLength": 1, "maxLength": limits.LABEL_NAME_MAX}


class PageLimit(int):
    """A page size. A larger number is clamped to the maximum."""

    __slots__ = ()

    @classmethod
    def read(cls, value: Any) -> "PageLimit":
        # Digits are compared before they are converted: Python refuses very long numbers.
        text = str(value).strip(" ").removeprefix("+")
        digits = text.removesuffix(".0") if isinstance(value, float) else text
        significant = digits.lstrip("0")
        if isinstance(value, bool) or not (digits.isascii() and digits.isdigit() and significant):
            raise ValueError(f"must be a whole number from 1 to {limits.PAGE_MAX}")
        if len(significant) > len(str(limits.PAGE_MAX)):
            return cls(limits.PAGE_MAX)
        return cls(min(int(significant), limits.PAGE_MAX))

    @staticmethod
    def schema() -> dict[str, Any]:
        return {"type": "integer", "minimum": 1, "default": limits.PAGE_DEFAULT}


class ViewName(str):
    """The name of a view or of a bucket: trimmed, inner spaces folded to one."""

    __slots__ = ()

    @classmethod
    def read(cls, value: Any) -> "ViewName":
        if not isinstance(value, str):
            raise TypeError(_SCALAR_HINT)
        name = " ".join(value.split())
        if not 1 <= len(name) <= limits.VIEW_NAME_MAX:
            raise ValueError(f"must have 1 to {limits.VIEW_NAME_MAX} characters")
        return cls(name)

    @staticmethod
    def schema() -> dict[str, Any]:
        return {"type": "string", "minLength": 1, "maxLength": limits.VIEW_NAME_MAX}


class TimeZone(str):
    """A name of the time zone database."""

    __slots__ = ()

    @classmethod
    def read(cls, value: Any) -> "TimeZone":
        if not isinstance(value, str):
            raise TypeError(_SCALAR_HINT)
        if value not in zone_names():
            near = difflib.get_close_matches(value[:64], zone_names(), n=1)
            hint = f" (the nearest is {near[0]})" if near else ""
            raise ValueError(f"must be a time zone such as Europe/Berlin{hint}")
        return cls(value)

    @staticmethod
    def schema() -> dict[str, Any]:
        return {"type": "string"}


SCALARS: Final = (LabelName, PageLimit, ViewName, TimeZone)


def read_scalar(kind: type, value: Any) -> Any:
    """Msgspec's hook for types that it does not know."""
    for scalar in SCALARS:
        if kind is scalar:
            return scalar.read(value)
    raise NotImplementedError(kind)


def scalar_schema(kind: type) -> dict[str, Any]:
    for scalar in SCALARS:
        if kind is scalar:
            return scalar.schema()
    raise NotImplementedError(kind)


def unique(request: Struct, name: str) -> None:
    """Drops repeated values of a list field, while the struct is being made."""
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
