"""Says in one sentence what is wrong with an invalid request, and which name was probably meant."""

import difflib
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Final

import msgspec
from msgspec import Raw, Struct

from bowerbird import errors
from bowerbird.errors import Refusal
from bowerbird.requests import filter_values, schemas
from bowerbird.requests.fields import InvalidField

# The words on one side mean the opposite of those on the other.
_OPPOSITES: Final = (
    (
        "from after since start begin min minimum least newer newest",
        "to into before until till end max maximum most older oldest",
    ),
    (
        "include including show with has add create",
        "exclude excluding hide hidden without no not remove delete skip",
    ),
    ("read", "unread"),
    ("archive archived", "unarchive unarchived"),
    ("labelled tagged", "unlabelled untagged"),
    ("pin pinned", "unpin unpinned"),
    ("restore", "trash"),
    ("asc ascending", "desc descending"),
    ("enable enabled on", "disable disabled off"),
)
_SIDES: Final = {
    word: (group, side)
    for group, sides in enumerate(_OPPOSITES)
    for side, words in enumerate(sides)
    for word in words.split()
}
_PARTS: Final = re.compile(r"[A-Z]?[a-z]+|[A-Z]+")
_NAME_MAX: Final = 64
_NEAR_MAX: Final = 8
_SIMILAR: Final = 0.75


def meant(name: str, accepted: Sequence[str]) -> str | None:
    """A name with the same meaning, also another name of a bound: before excludes a day."""
    name = name[:_NAME_MAX]
    near = difflib.get_close_matches(name, filter_values.with_other_names(accepted), n=_NEAR_MAX)
    return next((one for one in near if _may_mean(name, one)), None)


def _may_mean(name: str, accepted: str) -> bool:
    """Whether every word that has an opposite is on the same side in both names."""
    if _letters(name) == _letters(accepted):
        return True
    known = _words(accepted)
    sides = sorted(_SIDES[word] for word in known if word in _SIDES)
    # Twice is not the same as once: without_hidden.
    return sorted(side for word in _words(name) if (side := _side(word, known))) == sides


def _side(word: str, known: Collection[str]) -> tuple[int, int] | None:
    """Also of a misspelt word, unless it is one of the other words of the known name."""
    if word in _SIDES:
        return _SIDES[word]
    if difflib.get_close_matches(word, [one for one in known if one not in _SIDES], 1, _SIMILAR):
        return None
    near = difflib.get_close_matches(word, _SIDES, 1, _SIMILAR)
    return _SIDES[near[0]] if near else None


def _words(name: str) -> tuple[str, ...]:
    return tuple(part.lower() for part in _PARTS.findall(name))


def _letters(name: str) -> str:
    return name.replace("_", "").lower()


_AT: Final = " - at `"
_STEP: Final = re.compile(r"\.([^.\[\]]+)|\[(\d+)\]|\[\.\.\.\]")
_MISSING: Final = re.compile(r"Object missing required field `(.*)`")
_PATTERN: Final = re.compile(
    r"\^\[(?P<of>.+)\](?:\{(?P<least>\d+),(?P<most>\d+)\}|\*)\$(?:\(\?!\\n\))?"
)
_DIGITS: Final = "0-9"
# The characters of a pattern in words.
_CHARACTERS: Final = {
    _DIGITS: "digits",
    "A-Za-z0-9_.": "letters, digits, underscores and dots",
    "A-Za-z0-9_.:-": "letters, digits, underscores, dots, colons and hyphens",
    r"\x20-\x7e": "printable ASCII characters",
}
_UNKNOWN: Final = re.compile(r"Object contains unknown field `(.*)`", re.DOTALL)


def refusal(error: msgspec.ValidationError, kind: type[Struct], sent: Any) -> Refusal:
    message, steps = _parted(str(error))
    cause = error.__cause__
    if isinstance(cause, InvalidField):
        return errors.invalid(_written([*steps, cause.field]), cause.problem)
    if missing := _MISSING.fullmatch(message):
        return errors.invalid(_written([*steps, missing[1]]), "is required")
    schema = _schema_at(schemas.inline(kind), steps)
    if unknown := _UNKNOWN.fullmatch(message):
        return _unknown_field(steps, unknown[1], schema)
    received = _received(sent, steps)
    is_id = "_ids[" in _written(steps)
    if is_id and received.startswith(", got the number"):
        return errors.invalid(_written(steps), "must be a string: a JSON number would lose digits")
    problem = message if isinstance(cause, ValueError) else expected(schema)
    if received.startswith(", got an array") and "commas" in schema.get("description", ""):
        received += "; separate several by commas"
    return errors.invalid(_written(steps), problem + received)


def _unknown_field(steps: list[str | int], name: str, schema: dict[str, Any]) -> Refusal:
    accepted = list(_properties(schema))
    near = meant(name, accepted)
    hint = f" Did you mean {near}?" if near else ""
    place = f" in {_written(steps)}" if steps else ""
    return Refusal(
        errors.Code.INVALID_REQUEST,
        f"Unknown field {errors.shown(name, 40)}{place}.{hint} "
        f"Allowed fields: {', '.join(accepted) or 'none'}.",
    )


def expected(schema: Mapping[str, Any]) -> str:
    """What a schema accepts, as the middle of a sentence."""
    if "enum" in schema and set(schema["enum"]) == {True, False}:
        return "must be true or false"
    if "enum" in schema:
        return f"must be one of {', '.join(map(str, schema['enum']))}"
    kind = schema.get("type")
    if kind is None and "anyOf" in schema:
        parts = [expected(one).removeprefix("must be ") for one in schema["anyOf"]]
        return f"must be {' or '.join(parts)}"
    phrase = _WORDS.get(str(kind))
    return "is invalid" if phrase is None else phrase(schema)


def _string(schema: Mapping[str, Any]) -> str:
    if "pattern" in schema:
        return _of_pattern(schema)
    least = schema.get("minLength", 0)
    if "maxLength" in schema:
        return f"must be a string of {_range(least, schema['maxLength'])} characters"
    return "must be a non-empty string" if least else "must be a string"


def _of_pattern(schema: Mapping[str, Any]) -> str:
    parts = _PATTERN.fullmatch(schema["pattern"])
    if parts is None or parts["of"] not in _CHARACTERS:
        return f"must match {schema['pattern']}"
    least, most = int(parts["least"] or 0), int(parts["most"] or schema["maxLength"])
    what = "a post id of" if parts["of"] == _DIGITS else "a string of"
    return f"must be {what} {_range(least, most)} {_CHARACTERS[parts['of']]}"


def _integer(schema: Mapping[str, Any]) -> str:
    if "maximum" in schema:
        return f"must be a whole number from {schema.get('minimum', 0)} to {schema['maximum']:,}"
    return "must be a whole number"


def _array(schema: Mapping[str, Any]) -> str:
    least, most = schema.get("minItems", 0), schema.get("maxItems")
    return f"must be an array of {_range(least, most)} items" if most else "must be an array"


def _range(least: int, most: int) -> str:
    return f"{least} to {most:,}" if least else f"at most {most:,}"


_WORDS: Final[Mapping[str, Callable[[Mapping[str, Any]], str]]] = {
    "string": _string,
    "integer": _integer,
    "array": _array,
    "boolean": lambda _: "must be true or false",
    "object": lambda _: "must be a JSON object",
}


def _parted(text: str) -> tuple[str, list[str | int]]:
    """The message of msgspec, and the path at its end. The message may quote what was sent."""
    message, _, path = text.rpartition(_AT)
    is_cut_name = _UNKNOWN.fullmatch(text) and not _UNKNOWN.fullmatch(message)
    if is_cut_name or not path.startswith(("$", "key in $")):
        return text, []
    return message, _steps(path.removesuffix("`"))


def _steps(path: str) -> list[str | int]:
    return [
        match[1] if match[1] is not None else int(match[2])
        for match in _STEP.finditer(path)
        if match[1] is not None or match[2] is not None
    ]


def _written(steps: list[str | int]) -> str:
    text = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in steps)
    return text.lstrip(".") or "body"


def _schema_at(schema: dict[str, Any], steps: list[str | int]) -> dict[str, Any]:
    found: dict[str, Any] = schema
    for step in steps:
        if isinstance(step, int):
            found = found.get("items", {})
        else:
            fields = _properties(found)
            found = fields.get(step) or fields.get(filter_values.plain_name(step), {})
    return found


def _properties(schema: dict[str, Any]) -> dict[str, Any]:
    """The fields of an object, even if a text may be sent instead of it."""
    kinds = (schema, *schema.get("anyOf", ()))
    return next((kind["properties"] for kind in kinds if "properties" in kind), {})


def _received(value: Any, steps: list[str | int]) -> str:
    """The end of a sentence. Empty if a field was sent twice with different values.

    Also if it is in a large body and cannot be decoded.
    """
    try:
        for step in steps:
            value = _opened(value)[step]
        return f", got {_shown(_opened(value))}"
    except (IndexError, KeyError, TypeError, msgspec.MsgspecError, UnicodeDecodeError):
        return ""


def _opened(value: Any) -> Any:
    """A value with the fields or items that it has, which stay JSON."""
    if not isinstance(value, Raw):
        return value
    first = bytes(value).lstrip()[:1]
    kinds = {b"[": list[Raw], b"{": dict[str, Raw]}
    return msgspec.json.decode(value, type=kinds.get(first, Any))


def _shown(value: Any) -> str:
    if isinstance(value, bool) or value is None:
        return {True: "true", False: "false", None: "null"}[value]
    if value == "":
        return "an empty string"
    if isinstance(value, list):
        return f"an array of {len(value):,}"
    if isinstance(value, dict):
        return "an object"
    return errors.shown(value) if isinstance(value, str) else f"the number {value!s:.40}"
