"""Turns the schemas of an OpenAPI document into rows of a table, and into example values."""

from collections.abc import Mapping
from typing import Any, Final

import msgspec
from msgspec import Struct

Json = dict[str, Any]

_MAX_DEPTH: Final = 8
_BOUNDS: Final = (
    ("minimum", "maximum", ""),
    ("minLength", "maxLength", " characters"),
    ("minItems", "maxItems", " items"),
)
_EXAMPLES_BY_TYPE: Final[Mapping[str, Any]] = {
    "string": "…",
    "integer": 0,
    "number": 0,
    "boolean": False,
    "null": None,
}
_TYPES_BY_FORMAT: Final[Mapping[str, str]] = {"date-time": "date-time", "uri": "URL"}
_EXAMPLES_BY_FORMAT: Final[Mapping[str, str]] = {
    "date-time": "2026-03-14T09:26:00+00:00",
    "uri": "https://example.org/",
}


class Field(Struct, frozen=True):
    """One row: a property or a parameter, and its nested properties."""

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
        """The node with its `$ref` resolved."""
        for _ in range(_MAX_DEPTH):
            if "$ref" not in node:
                break
            target: Any = self._document
            for part in node["$ref"].removeprefix("#/").split("/"):
                target = target[part.replace("~1", "/").replace("~0", "~")]
            node = {**target, **{key: node[key] for key in node if key != "$ref"}}
        return node

    def field(self, name: str, schema: Json, *, is_required: bool, text: str = "") -> Field:
        return self._field(name, schema, is_required=is_required, text=text, depth=0)

    def fields(self, schema: Json, depth: int = 0) -> tuple[Field, ...]:
        """The properties of an object, of an array's items, or of the first object in `anyOf`."""
        schema = self._flattened(schema)
        if depth >= _MAX_DEPTH:
            return ()
        if "items" in schema:
            return self.fields(schema["items"], depth)
        for option in (*schema.get("anyOf", ()), *schema.get("oneOf", ())):
            if found := self.fields(option, depth):
                return found
        required = schema.get("required", ())
        return tuple(
            self._field(name, inner, is_required=name in required, text="", depth=depth + 1)
            for name, inner in schema.get("properties", {}).items()
        )

    def type_of(self, schema: Json) -> str:
        options = schema.get("anyOf") or schema.get("oneOf")
        if options:
            return " or ".join(dict.fromkeys(map(self.type_of, options)))
        schema = self._flattened(schema)
        if "const" in schema:
            return _text(schema["const"])
        if "enum" in schema and "type" not in schema:
            return "string"
        kinds = schema.get("type", "any")
        names = kinds if isinstance(kinds, list) else [kinds]
        return " or ".join(self._type_name(name, schema) for name in names)

    def example(self, schema: Json, depth: int = 0) -> Any:
        """An example value: from the schema if it has one, else made up from the type."""
        schema = self._flattened(schema)
        for key in ("example", "const", "default"):
            if key in schema:
                return schema[key]
        for key in ("examples", "enum"):
            if schema.get(key):
                return schema[key][0]
        options = schema.get("anyOf") or schema.get("oneOf")
        if options:
            # Nullable fields are null in most responses, and the example stays short.
            return None if {"type": "null"} in options else self.example(options[0], depth)
        return self._example_of_type(schema, depth)

    def _example_of_type(self, schema: Json, depth: int) -> Any:
        kind = schema.get("type", "object" if "properties" in schema else "null")
        if isinstance(kind, list):
            kind = kind[0]
        if kind == "array":
            items = schema.get("items", {})
            return [self.example(items, depth + 1)] if depth < _MAX_DEPTH and items else []
        if kind == "object":
            properties = schema.get("properties", {}) if depth < _MAX_DEPTH else {}
            names = schema.get("required") or properties
            return {name: self.example(properties[name], depth + 1) for name in names}
        return _EXAMPLES_BY_FORMAT.get(schema.get("format", ""), _EXAMPLES_BY_TYPE.get(kind))

    def _field(self, name: str, schema: Json, *, is_required: bool, text: str, depth: int) -> Field:
        flat = self._flattened(schema)
        return Field(
            name=name,
            type=self.type_of(schema),
            text=text or flat.get("description", ""),
            limits=tuple(_limits(flat)),
            values=tuple(map(_text, self._values(flat))),
            is_required=is_required,
            is_deprecated=flat.get("deprecated", False),
            fields=self.fields(schema, depth),
        )

    def _values(self, schema: Json) -> list[Any]:
        if "items" in schema:
            return self._values(self._flattened(schema["items"]))
        found: list[Any] = schema.get("enum", [])
        return found

    def _type_name(self, name: str, schema: Json) -> str:
        if name == "array":
            return f"array of {self.type_of(schema.get('items', {}))}"
        return _TYPES_BY_FORMAT.get(schema.get("format", ""), name)

    def _flattened(self, schema: Json) -> Json:
        """The schema with its `$ref` resolved and its `allOf` merged."""
        schema = self.resolved(schema)
        if "allOf" not in schema:
            return schema
        merged: Json = {key: schema[key] for key in schema if key != "allOf"}
        for part in map(self._flattened, schema["allOf"]):
            properties = {**part.get("properties", {}), **merged.get("properties", {})}
            required = [*part.get("required", []), *merged.get("required", [])]
            merged = {**part, **merged, "properties": properties, "required": required}
        return merged


def _limits(schema: Json) -> list[str]:
    found = [
        _range(schema.get(minimum), schema.get(maximum), unit)
        for minimum, maximum, unit in _BOUNDS
        if minimum in schema or maximum in schema
    ]
    if "default" in schema:
        found.append(f"default {_text(schema['default'])}")
    return found


def _range(minimum: Any, maximum: Any, unit: str) -> str:
    if maximum is None:
        return f"at least {minimum}{unit}"
    if minimum is None:
        return f"at most {maximum}{unit}"
    return f"{minimum} to {maximum}{unit}"


def _text(value: Any) -> str:
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()
