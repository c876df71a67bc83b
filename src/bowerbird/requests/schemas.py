"""JSON schemas of requests, for the OpenAPI document, the tools and error sentences."""

from collections.abc import Sequence
from functools import cache
from typing import Any, Final

import msgspec
from msgspec import Struct

from bowerbird.requests.fields import metadata_of
from bowerbird.requests.scalars import scalar_schema

Json = dict[str, Any]
_REF: Final = "#/$defs/"


def components(
    kinds: Sequence[type[Struct]], ref: str, *, is_strict: bool = False
) -> dict[str, Json]:
    """Named schemas of requests and of the structs inside them; `ref` precedes each name.

    Strict ones describe what a client is asked to send, not everything that is accepted.
    """
    every = _with_nested(kinds)
    _, made = msgspec.json.schema_components(
        every, schema_hook=scalar_schema, ref_template=ref + "{name}"
    )
    named = {kind.__name__: kind for kind in every}
    return {
        name: _cleaned(schema, named.get(name), ref, is_strict=is_strict)
        for name, schema in made.items()
    }


@cache
def inline(kind: type[Struct]) -> Json:
    """The schema of a request without references and null, which every client can read."""
    made = components([kind], _REF, is_strict=True)
    schema: Json = _inlined(made[kind.__name__], made)
    return schema


def parameters(kind: type[Struct]) -> dict[str, Json]:
    """The schema of each field of a query string."""
    properties: dict[str, Json] = inline(kind)["properties"]
    return properties


def _with_nested(kinds: Sequence[type[Struct]]) -> list[type[Struct]]:
    found: list[type[Struct]] = []
    waiting = list(kinds)
    while waiting:
        kind = waiting.pop()
        if kind not in found:
            found.append(kind)
            for field in msgspec.structs.fields(kind):
                waiting += [part for part in _parts(field.type) if issubclass(part, Struct)]
            waiting += [meta["items"] for meta in metadata_of(kind).values() if "items" in meta]
    return found


def _parts(annotation: Any) -> list[type]:
    inner = [part for arg in getattr(annotation, "__args__", ()) for part in _parts(arg)]
    return [annotation] if isinstance(annotation, type) and not inner else inner


def _cleaned(schema: Json, kind: type[Struct] | None, ref: str, *, is_strict: bool) -> Json:
    """Without what only msgspec means: titles, null for "not sent", defaults of absence."""
    cleaned = {name: value for name, value in schema.items() if name != "title"}
    if kind is None:
        return cleaned
    defaults = getattr(kind, "DEFAULTS", {}) if is_strict else {}
    cleaned["properties"] = {
        name: _field(schema["properties"][name], extra, ref, is_strict=is_strict)
        | ({"default": defaults[name]} if name in defaults else {})
        for name, extra in metadata_of(kind).items()
    }
    if not cleaned.get("required"):
        cleaned.pop("required", None)
    # The docstring is for readers of the code.
    cleaned.pop("description", None)
    return cleaned | getattr(kind, "SCHEMA", {})


def _field(schema: Json, extra: Json, ref: str, *, is_strict: bool) -> Json:
    made = {name: value for name, value in schema.items() if name != "default" or value is not None}
    made.pop("examples", None)
    if "items" in extra:
        made["items"] = {"$ref": ref + extra["items"].__name__}
    parameter = extra.get("parameter", {}) if is_strict else {}
    alternatives = made.pop("anyOf", None)
    if alternatives and "type" not in parameter:
        if is_strict or not extra.get("nullable"):
            alternatives = [one for one in alternatives if one != {"type": "null"}]
        made = _either(alternatives) | made
    return made | parameter


def _either(alternatives: list[Json]) -> Json:
    if len(alternatives) == 1:
        return alternatives[0]
    if all(one.keys() == {"type"} for one in alternatives):
        return {"type": [one["type"] for one in alternatives]}
    return {"anyOf": alternatives}


def _inlined(schema: Any, defined: dict[str, Json]) -> Any:
    if isinstance(schema, list):
        return [_inlined(part, defined) for part in schema]
    if not isinstance(schema, dict):
        return schema
    if "$ref" in schema:
        rest = {name: value for name, value in schema.items() if name != "$ref"}
        return _inlined(defined[schema["$ref"].removeprefix(_REF)], defined) | rest
    return {name: _inlined(value, defined) for name, value in schema.items()}
