"""Types of single values: each reads one value, or says why it is invalid.

They are markers for msgspec, which hands such a field to `read_scalar`. The value itself is a
plain str or int, because databases and encoders accept no subclass of them.
"""

import difflib
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from bowerbird.model.instants import zone_names
from bowerbird.model.labels import NAME_RULE, clean_name
from bowerbird.requests import limits


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
