"""Reads a call's arguments: each checked against what its tool declares, each mistake named.

What the library reads by itself, such as a list's parameters, is only made into text here.
"""

import difflib
import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from bowerbird import errors
from bowerbird.library.bookmarks.parameters import LIST_PARAMETERS
from bowerbird.toolserver.tools.tool import Json, Tool

_UNSTORABLE: Final = re.compile("[\x00\ud800-\udfff]")
_WHOLE: Final = re.compile(r"[+-]?[0-9]{1,18}")
_POST_ID: Final = re.compile(r"[0-9]{1,40}")
_FLAGS: Final = {"true": True, "false": False}


def read(tool: Tool, sent: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments that were sent; null means not sent."""
    for name in sent:
        if name not in tool.arguments:
            raise _unknown(tool, name)
    for name in tool.required:
        if sent.get(name) is None:
            raise errors.invalid(name, "is missing")
    return {
        name: _CHECKS[tool.arguments[name]["type"]](name, tool.arguments[name], value)
        for name, value in sent.items()
        if value is not None
    }


def given(values: Mapping[str, Any]) -> dict[str, str]:
    """Those of the values that are a list's parameters, as the texts that a list reads."""
    return {
        name: _text(values[name]) for name in LIST_PARAMETERS if values.get(name) not in (None, "")
    }


def named(tool: Tool, sent: Mapping[str, Any]) -> set[str]:
    """The list's parameters that were sent with a value: what a plan's gates look at."""
    known = tool.arguments.keys() & set(LIST_PARAMETERS)
    return {name for name in known if sent.get(name) not in (None, "")}


def check_names(place: str, schema: Json, value: Mapping[str, Any]) -> None:
    """Refuses a field of an inner object that its schema does not declare."""
    for name in value:
        if name not in schema["properties"]:
            declared = ", ".join(schema["properties"])
            raise errors.invalid(
                f"{place}.{errors.shown(name, 40)}", f"is not a field here; {declared} are"
            )


def check_ids(place: str, schema: Json, value: Mapping[str, Any]) -> None:
    _array(place, schema, value.get("post_ids"))


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def _unknown(tool: Tool, name: str) -> errors.Refusal:
    near = difflib.get_close_matches(name, tool.arguments, n=1)
    meant = f" (did you mean {near[0]}?)" if near else ""
    accepted = ", ".join(tool.arguments) or "none"
    return errors.invalid(
        errors.shown(name, 40), f"is not an argument of {tool.name}{meant}; it takes {accepted}"
    )


def _string(name: str, schema: Json, value: Any) -> str:
    if not isinstance(value, str):
        raise errors.invalid(name, f"must be a string, got {_shown(value)}")
    if _UNSTORABLE.search(value):
        raise errors.invalid(name, "holds U+0000, which no database can keep")
    most = schema.get("maxLength")
    if most is not None and len(value) > most:
        raise errors.invalid(name, f"must have at most {most:,} characters, got {len(value):,}")
    accepted = schema.get("enum")
    if accepted and name not in LIST_PARAMETERS and value not in accepted:
        raise errors.invalid(name, f"must be one of {', '.join(accepted)}, got {_shown(value)}")
    return value


def _integer(name: str, schema: Json, value: Any) -> int:
    least, most = schema["minimum"], schema["maximum"]
    number = _whole(value)
    if number is None:
        raise errors.invalid(
            name, f"must be a whole number from {least} to {most}, got {_shown(value)}"
        )
    # A list applies what is above its most as its most, and says so; others refuse.
    if not least <= number <= most and name not in LIST_PARAMETERS:
        raise errors.invalid(name, f"must be from {least} to {most}, got {number}")
    return number


def _whole(value: Any) -> int | None:
    """The number that was meant: models also write 20.0 and "20"."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return int(value) if isinstance(value, str) and _WHOLE.fullmatch(value) else None


def _boolean(name: str, _: Json, value: Any) -> bool:
    if isinstance(value, bool):
        return value
    flag = _FLAGS.get(value.lower()) if isinstance(value, str) else None
    if flag is None:
        raise errors.invalid(name, f"must be true or false, got {_shown(value)}")
    return flag


def _array(name: str, schema: Json, value: Any) -> list[Any]:
    most = schema["maxItems"]
    if not isinstance(value, list) or not schema.get("minItems", 0) <= len(value) <= most:
        raise errors.invalid(
            name, f"must be an array of {schema.get('minItems', 0)} to {most}, got {_size(value)}"
        )
    if schema["items"]["type"] == "string":
        for position, item in enumerate(value):
            _item(f"{name}[{position}]", item)
    return value


def _item(name: str, item: Any) -> None:
    if isinstance(item, int | float) and not isinstance(item, bool):
        raise errors.invalid(name, "must be a string: a JSON number would lose digits")
    if not isinstance(item, str) or not _POST_ID.fullmatch(item):
        raise errors.invalid(
            name, f"must be a post id, which is 1 to 40 digits, got {_shown(item)}"
        )


def _object(name: str, _: Json, value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise errors.invalid(name, f"must be an object, got {_shown(value)}")
    return value


def _size(value: Any) -> str:
    return f"{len(value)}" if isinstance(value, list) else _shown(value)


def _shown(value: Any) -> str:
    return errors.shown(value if isinstance(value, str) else str(value))


_CHECKS: Final[Mapping[str, Callable[[str, Json, Any], Any]]] = {
    "string": _string,
    "integer": _integer,
    "boolean": _boolean,
    "array": _array,
    "object": _object,
}
