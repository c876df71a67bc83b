"""JSON schemas of requests and of results of tools, derived from their structs."""

from collections.abc import Sequence
from enum import Enum
from functools import cache
from typing import Any, Final

import msgspec
from msgspec import Struct

from bowerbird.requests.fields import metadata_of, scalar_schema

Json = dict[str, Any]
_REF: Final = "#/$defs/"


class Form(Enum):
    """The purpose of a schema."""

    # Everything that a JSON body may contain.
    BODY = "body"
    # What a client should send, which is less than is accepted.
    PARAMETERS = "parameters"
    # What a model should send. It reads the schemas of all tools at once.
    ARGUMENTS = "arguments"
    # What a tool returns.
    RESULT = "result"


def components(kinds: Sequence[type[Struct]], ref: str, form: Form = Form.BODY) -> dict[str, Json]:
    """Named schemas of requests and of the structs inside them; `ref` precedes each name."""
    every = with_nested(kinds)
    _, made = msgspec.json.schema_components(
        every, schema_hook=scalar_schema, ref_template=ref + "{name}"
    )
    named = {kind.__name__: kind for kind in every}
    return {name: _cleaned(schema, named.get(name), ref, form) for name, schema in made.items()}


@cache
def inline(kind: type[Struct], form: Form = Form.PARAMETERS) -> Json:
    """The schema of a request without references and null, which every client can read."""
    made = components([kind], _REF, form)
    schema: Json = _inlined(made[kind.__name__], made)
    return schema


def parameters(kind: type[Struct]) -> dict[str, Json]:
    """The schema of each field of a query string."""
    properties: dict[str, Json] = inline(kind)["properties"]
    return properties


def with_nested(kinds: Sequence[type[Struct]]) -> list[type[Struct]]:
    """The structs and those in their fields."""
    found: list[type[Struct]] = []
    waiting = list(kinds)
    while waiting:
        kind = waiting.pop()
        if kind not in found:
            found.append(kind)
            for field in msgspec.structs.fields(kind):
                waiting += _structs_in(field.type)
            waiting += [meta["items"] for meta in metadata_of(kind).values() if "items" in meta]
    return found


def structs_in(kind: type[Struct], name: str) -> list[type[Struct]]:
    """The structs in the type of a field."""
    (field,) = (one for one in msgspec.structs.fields(kind) if one.encode_name == name)
    return _structs_in(field.type)


def _structs_in(annotation: Any) -> list[type[Struct]]:
    return [part for part in _parts(annotation) if issubclass(part, Struct)]


def _parts(annotation: Any) -> list[type]:
    inner = [part for arg in getattr(annotation, "__args__", ()) for part in _parts(arg)]
    return [annotation] if isinstance(annotation, type) and not inner else inner


def _cleaned(schema: Json, kind: type[Struct] | None, ref: str, form: Form) -> Json:
    """Removes the details of msgspec: titles, null for "not sent", and internal defaults."""
    cleaned = {name: value for name, value in schema.items() if name != "title"}
    if kind is None:
        return cleaned
    named = {n: extra for n, extra in metadata_of(kind).items() if "is_other_name" not in extra}
    fields = {
        name: _field(schema["properties"][name], extra, ref, form)
        for name, extra in named.items()
        if form is not Form.ARGUMENTS
        or (extra.get("argument", {}) is not None and name not in getattr(kind, "UNLISTED", ()))
    }
    if form is not Form.BODY:
        for name, default in getattr(kind, "DEFAULTS", {}).items():
            if name in fields:
                fields[name]["default"] = default
    cleaned["properties"] = fields
    if len(fields) < len(named):
        # A field that is left out is still accepted.
        cleaned.pop("additionalProperties", None)
    if not cleaned.get("required"):
        cleaned.pop("required", None)
    # The docstring is for readers of the code.
    cleaned.pop("description", None)
    return cleaned | getattr(kind, "SCHEMA", {})


def _field(schema: Json, extra: Json, ref: str, form: Form) -> Json:
    made = {name: value for name, value in schema.items() if name != "default" or value is not None}
    made.pop("examples", None)
    if "items" in extra:
        made["items"] = {"$ref": ref + extra["items"].__name__}
    details = _details(extra, form)
    alternatives = made.pop("anyOf", None)
    if alternatives and "type" not in details:
        if not _may_be_null(schema, extra, form):
            alternatives = [one for one in alternatives if one != {"type": "null"}]
        if form is Form.ARGUMENTS:
            # A text that is accepted instead of an object is only a shorter way to write it.
            alternatives = [one for one in alternatives if "$ref" in one] or alternatives
        made = _either(alternatives) | made
    made |= details
    return {"type": "string", **made} if "enum" in made and form is not Form.BODY else made


def _may_be_null(schema: Json, extra: Json, form: Form) -> bool:
    if form is Form.RESULT:
        # A result leaves fields out that have their default.
        return "default" not in schema
    return form is Form.BODY and bool(extra.get("nullable"))


def _details(extra: Json, form: Form) -> Json:
    if form is Form.BODY:
        return {}
    parameter: Json = extra.get("parameter", {})
    return extra.get("argument", parameter) if form is Form.ARGUMENTS else parameter


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
