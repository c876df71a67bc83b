"""Reads the schemas of an OpenAPI document: as rows a person can read, and as an example."""

from collections.abc import Mapping
from typing import Any, Final

import msgspec
from msgspec import Struct

Json = dict[str, Any]

_DEEPEST: Final = 8
_BOUNDS: Final = (
    ("minimum", "maximum", ""),
    ("minLength", "maxLength", " characters"),
    ("minItems", "maxItems", " items"),
)
_SAMPLES: Final[Mapping[str, Any]] = {
    "string": "…",
    "integer": 0,
    "number": 0,
    "boolean": False,
    "null": None,
}
_FORMATS: Final[Mapping[str, str]] = {
    "date-time": "2026-03-14T09:26:00+00:00",
    "uri": "https://example.org/",
}


class Field(Struct, frozen=True):
    """One row: a property or a parameter, with what it holds."""

    name: str
    type: str
    text: str = ""
    limits: tuple[str, ...] = ()
    values: tuple[str, ...] = ()
    is_required: bool = False
    is_deprecated: bool = False
    fields: tuple["Field", ...] = ()


class SchemaRows:
    def __init__(self, document: Json) -> None:
        self._document = document

    def resolved(self, node: Json) -> Json:
        """What a node stands for; a reference is followed to its end."""
        for _ in range(_DEEPEST):
            if "$ref" not in node:
                break
            found: Any = self._document
            for part in node["$ref"].removeprefix("#/").split("/"):
                found = found[part.replace("~1", "/").replace("~0", "~")]
            node = {**found, **{key: node[key] for key in node if key != "$ref"}}
        return node

    def field(self, name: str, schema: Json, *, is_required: bool, text: str = "") -> Field:
        return self._field(name, schema, is_required=is_required, text=text, depth=0)

    def fields(self, schema: Json, depth: int = 0) -> tuple[Field, ...]:
        """The properties of an object, of an array's items, or of the object among alternatives."""
        schema = self._whole(schema)
        if depth >= _DEEPEST:
            return ()
        if "items" in schema:
            return self.fields(schema["items"], depth)
        for option in (*schema.get("anyOf", ()), *schema.get("oneOf", ())):
            if found := self.fields(option, depth):
                return found
        needed = schema.get("required", ())
        return tuple(
            self._field(name, inner, is_required=name in needed, text="", depth=depth + 1)
            for name, inner in schema.get("properties", {}).items()
        )

    def type_of(self, schema: Json) -> str:
        options = schema.get("anyOf") or schema.get("oneOf")
        if options:
            return " or ".join(dict.fromkeys(map(self.type_of, options)))
        schema = self._whole(schema)
        if "const" in schema:
            return _shown(schema["const"])
        if "enum" in schema and "type" not in schema:
            return "string"
        kinds = schema.get("type", "any")
        names = kinds if isinstance(kinds, list) else [kinds]
        return " or ".join(self._type_name(name, schema) for name in names)

    def sample(self, schema: Json, depth: int = 0) -> Any:
        """A value of the shape: the given example where there is one."""
        schema = self._whole(schema)
        for key in ("example", "const", "default"):
            if key in schema:
                return schema[key]
        for key in ("examples", "enum"):
            if schema.get(key):
                return schema[key][0]
        options = schema.get("anyOf") or schema.get("oneOf")
        if options:
            # What may be null is null in most answers, and reads faster so.
            return None if {"type": "null"} in options else self.sample(options[0], depth)
        return self._sample_of_type(schema, depth)

    def _sample_of_type(self, schema: Json, depth: int) -> Any:
        kind = schema.get("type", "object" if "properties" in schema else "null")
        if isinstance(kind, list):
            kind = kind[0]
        if kind == "array":
            items = schema.get("items", {})
            return [self.sample(items, depth + 1)] if depth < _DEEPEST and items else []
        if kind == "object":
            properties = schema.get("properties", {}) if depth < _DEEPEST else {}
            shown = schema.get("required") or properties
            return {name: self.sample(properties[name], depth + 1) for name in shown}
        return _FORMATS.get(schema.get("format", ""), _SAMPLES.get(kind))

    def _field(self, name: str, schema: Json, *, is_required: bool, text: str, depth: int) -> Field:
        whole = self._whole(schema)
        return Field(
            name=name,
            type=self.type_of(schema),
            text=text or whole.get("description", ""),
            limits=tuple(_limits(whole)),
            values=tuple(map(_shown, self._values(whole))),
            is_required=is_required,
            is_deprecated=whole.get("deprecated", False),
            fields=self.fields(schema, depth),
        )

    def _values(self, schema: Json) -> list[Any]:
        if "items" in schema:
            return self._values(self._whole(schema["items"]))
        found: list[Any] = schema.get("enum", [])
        return found

    def _type_name(self, name: str, schema: Json) -> str:
        if name == "array":
            return f"array of {self.type_of(schema.get('items', {}))}"
        return {"date-time": "instant", "uri": "address"}.get(schema.get("format", ""), name)

    def _whole(self, schema: Json) -> Json:
        """A schema with its reference followed and its `allOf` folded in."""
        schema = self.resolved(schema)
        if "allOf" not in schema:
            return schema
        merged: Json = {key: schema[key] for key in schema if key != "allOf"}
        for part in map(self._whole, schema["allOf"]):
            properties = {**part.get("properties", {}), **merged.get("properties", {})}
            required = [*part.get("required", []), *merged.get("required", [])]
            merged = {**part, **merged, "properties": properties, "required": required}
        return merged


def _limits(schema: Json) -> list[str]:
    found = [
        _between(schema.get(least), schema.get(most), unit)
        for least, most, unit in _BOUNDS
        if least in schema or most in schema
    ]
    if "default" in schema:
        found.append(f"default {_shown(schema['default'])}")
    return found


def _between(least: Any, most: Any, unit: str) -> str:
    if most is None:
        return f"at least {least}{unit}"
    if least is None:
        return f"at most {most}{unit}"
    return f"{least} to {most}{unit}"


def _shown(value: Any) -> str:
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()
