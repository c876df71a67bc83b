"""A JSON Schema of the OpenAPI document reduced to what a client can rely on."""

from typing import Any, Final

from msgspec import Struct

Json = dict[str, Any]
LIMITS: Final = (
    *("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"),
    *("minLength", "maxLength", "minItems", "maxItems", "minProperties", "pattern"),
)
_TYPES: Final = {
    bool: "boolean",
    str: "string",
    int: "integer",
    float: "number",
    type(None): "null",
}

_NULL: Final = frozenset({"null"})


class Shape(Struct, frozen=True, kw_only=True):
    # Empty if any type is allowed.
    types: frozenset[str]
    format: str | None
    # None if any value is allowed.
    values: frozenset[str] | None
    limits: dict[str, Any]
    properties: dict[str, Json]
    required: frozenset[str]
    # Whether other properties are refused.
    is_closed: bool
    items: Json | None
    default: Any


class Shapes:
    """Reads the schemas of one document."""

    def __init__(self, document: Json) -> None:
        self._document = document

    def resolved(self, part: Json) -> Json:
        found = part
        while "$ref" in found:
            names = found["$ref"].removeprefix("#/").split("/")
            found = self._document
            for name in names:
                found = found[name]
        return found

    def of(self, schema: Json) -> Shape:
        """The shape of a schema: anyOf and oneOf are united, the parts of allOf are combined."""
        schema = self.resolved(schema)
        own = _own(schema)
        for part in schema.get("allOf", ()):
            own = _both(own, self.of(part))
        alternatives = [
            self.of(part) for part in (*schema.get("anyOf", ()), *schema.get("oneOf", ()))
        ]
        if not alternatives:
            return own
        either = alternatives[0]
        for other in alternatives[1:]:
            either = _either(either, other)
        return _both(own, either)


def _own(schema: Json) -> Shape:
    given = schema.get("type", ())
    types = frozenset([given] if isinstance(given, str) else given)
    values = [schema["const"]] if "const" in schema else schema.get("enum")
    if given == "null":
        values = [None]
    if values is not None and not types:
        types = frozenset(_TYPES.get(type(value), "object") for value in values)
    return Shape(
        types=types,
        format=schema.get("format"),
        values=None if values is None else frozenset(map(repr, values)),
        limits={name: schema[name] for name in LIMITS if name in schema},
        properties=schema.get("properties", {}),
        required=frozenset(schema.get("required", ())),
        is_closed=schema.get("additionalProperties") is False,
        items=schema.get("items"),
        default=schema.get("default"),
    )


def _both(one: Shape, other: Shape) -> Shape:
    return Shape(
        types=one.types or other.types,
        format=one.format or other.format,
        values=other.values if one.values is None else one.values,
        limits=one.limits | other.limits,
        properties=other.properties | one.properties,
        required=one.required | other.required,
        is_closed=one.is_closed or other.is_closed,
        items=one.items or other.items,
        default=other.default if one.default is None else one.default,
    )


def _either(one: Shape, other: Shape) -> Shape:
    is_open = one.values is None or other.values is None
    return Shape(
        types=one.types | other.types,
        format=one.format or other.format,
        values=None if is_open else (one.values or frozenset()) | (other.values or frozenset()),
        limits=one.limits | other.limits,
        properties=other.properties | one.properties,
        # Null has no fields, so it does not make the others optional.
        required=one.required | other.required
        if _NULL in (one.types, other.types)
        else one.required & other.required,
        is_closed=one.is_closed and other.is_closed,
        items=one.items or other.items,
        default=other.default if one.default is None else one.default,
    )
