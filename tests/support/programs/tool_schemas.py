"""What OpenAI's strict mode and Gemini accept as the schema of a function, by their rules.

OpenAI: platform.openai.com, Structured Outputs, "Supported schemas"; of its limits the older ones,
which every model has. Gemini: ai.google.dev, API reference, FunctionDeclaration and Schema.
"""

import re
from collections.abc import Iterator
from typing import Any, Final

from endurance.agent_trial.schemas import strict

Json = dict[str, Any]
_TYPES: Final = {"object", "array", "string", "integer", "number", "boolean"}
_OPENAI_KEYWORDS: Final = {
    *("type", "description", "properties", "required", "additionalProperties", "items", "enum"),
    *("anyOf", "format", "pattern", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"),
    *("multipleOf", "minItems", "maxItems"),
}
_GEMINI_KEYWORDS: Final = {
    *("type", "format", "title", "description", "nullable", "enum", "minItems", "maxItems"),
    *("properties", "required", "minProperties", "maxProperties", "minLength", "maxLength"),
    *("pattern", "example", "anyOf", "propertyOrdering", "default", "items", "minimum", "maximum"),
}
_OPENAI_NAME: Final = re.compile(r"[A-Za-z0-9_-]{1,64}")
_GEMINI_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_.:-]{0,63}")
_DEPTH_MAX, _FIELDS_MAX, _ENUM_MAX, _CHARACTERS_MAX = 5, 100, 500, 15_000


def openai_problems(tool: Json) -> list[str]:
    """Why strict mode refuses the strict form of a tool."""
    schema = strict(tool["inputSchema"])
    parts = list(_parts(schema))
    fields = [name for _, _, part in parts for name in part.get("properties", {})]
    values = [value for _, _, part in parts for value in part.get("enum", ())]
    found = [] if _OPENAI_NAME.fullmatch(tool["name"]) else ["name"]
    found += ["root is no object"] if schema["type"] != "object" else []
    found += ["too many fields"] if len(fields) > _FIELDS_MAX else []
    found += ["too many values"] if len(values) > _ENUM_MAX else []
    found += (
        ["too many characters"]
        if sum(map(len, map(str, fields + values))) > _CHARACTERS_MAX
        else []
    )
    for place, depth, part in parts:
        found += [f"{place}: {word}" for word in part.keys() - _OPENAI_KEYWORDS]
        types = part["type"] if isinstance(part.get("type"), list) else [part.get("type")]
        if "anyOf" not in part and not set(types) <= {*_TYPES, "null"}:
            found.append(f"{place}: type")
        if depth > _DEPTH_MAX:
            found.append(f"{place}: too deep")
        if "array" in types and "items" not in part:
            found.append(f"{place}: items")
        if "object" in types and (
            part.get("additionalProperties") is not False
            or part.get("required") != list(part.get("properties", {}))
        ):
            found.append(f"{place}: every field must be required, and no other allowed")
    return found


def gemini_problems(tool: Json) -> list[str]:
    """Why Gemini refuses a tool as it is listed."""
    found = [] if _GEMINI_NAME.fullmatch(tool["name"]) else ["name"]
    if not tool["inputSchema"]["properties"]:
        # A function without parameters is sent without a schema.
        return found
    for place, _, part in _parts(tool["inputSchema"]):
        found += [f"{place}: {word}" for word in part.keys() - _GEMINI_KEYWORDS]
        kind, fields = part.get("type"), part.get("properties", {})
        if kind not in _TYPES:
            found.append(f"{place}: type")
        if (kind == "object") is not bool(fields):
            found.append(f"{place}: an object needs fields")
        if (kind == "array") is not ("items" in part):
            found.append(f"{place}: an array needs items")
        if not set(part.get("required", ())) <= fields.keys():
            found.append(f"{place}: required")
        found += [f"{place}: {name}" for name in fields if not _GEMINI_NAME.fullmatch(name)]
        if "enum" in part and not (kind == "string" and all(map(_is_text, part["enum"]))):
            found.append(f"{place}: enum")
    return found


def _is_text(value: object) -> bool:
    return isinstance(value, str) and bool(value)


def _parts(schema: Json, place: str = "", depth: int = 1) -> Iterator[tuple[str, int, Json]]:
    yield place, depth, schema
    for name, field in schema.get("properties", {}).items():
        yield from _parts(field, f"{place}.{name}", depth + 1)
    if "items" in schema:
        yield from _parts(schema["items"], f"{place}[]", depth)
