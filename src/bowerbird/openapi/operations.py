"""Operations of the OpenAPI document: their parameters, bodies and answers."""

from typing import Any, Final

from msgspec import Struct

from bowerbird.requests.limits import TEXT_MAX
from bowerbird.rest import (
    account,
    bookmarks,
    bulk,
    digests,
    duplicates,
    events,
    exports,
    facets,
    highlights,
    imports,
    labels,
    rules,
    saving,
    shares,
    suggested_labels,
    views,
    webhooks,
)

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


# Their texts are filters, which are checked together and not by their types.
_FILTERS: Final = frozenset({"ChangeFilters", "ExportRequest", "NewRuleQuery", "NewViewQuery"})
_ALTERNATIVES: Final = ("anyOf", "oneOf")


def enforced(name: str, schema: Json) -> Json:
    made = _without_union(schema)
    if name in _FILTERS:
        made["properties"] = {
            field: _bounded(shape) for field, shape in schema["properties"].items()
        }
    return made


def _without_union(schema: Json) -> Json:
    """Moves alternatives that only name required fields into allOf.

    Generators of clients take alternatives at the top for a union, and lose the properties.
    """
    choices = {name: schema[name] for name in _ALTERNATIVES if name in schema}
    if not choices or "properties" not in schema:
        return dict(schema)
    rest = {name: value for name, value in schema.items() if name not in choices}
    return {**rest, "allOf": [{name: value} for name, value in choices.items()]}


def _bounded(shape: Json) -> Json:
    if "anyOf" in shape:
        # A text, or a list of such texts.
        return {**shape, "anyOf": [_bounded_either(one) for one in shape["anyOf"]]}
    kinds = shape.get("type", ())
    is_text = kinds == "string" or "string" in kinds
    if not is_text or "enum" in shape or "maxLength" in shape:
        return shape
    return {**shape, "maxLength": TEXT_MAX}


def _bounded_either(shape: Json) -> Json:
    if "items" in shape:
        return {**shape, "items": _bounded(shape["items"])}
    return _bounded(shape)


OPERATIONS: Final = (
    *account.OPERATIONS,
    *bookmarks.OPERATIONS,
    *facets.OPERATIONS,
    *bulk.OPERATIONS,
    *saving.OPERATIONS,
    *highlights.OPERATIONS,
    *labels.OPERATIONS,
    *suggested_labels.OPERATIONS,
    *views.OPERATIONS,
    *rules.OPERATIONS,
    *shares.OPERATIONS,
    *digests.OPERATIONS,
    *exports.OPERATIONS,
    *imports.OPERATIONS,
    *events.OPERATIONS,
    *duplicates.OPERATIONS,
    *webhooks.OPERATIONS,
)

TAGS: Final[dict[str, str]] = {
    "account": "The account itself.",
    "bookmarks": "The posts an account has saved.",
    "labels": "Names that an account gives its posts.",
    "views": "Queries that an account has saved.",
    "rules": "What should happen by itself to posts that match a query.",
    "shares": "Labels and views that an account shares, and its private feeds.",
    "digests": "Summaries of what was saved in a day or a week.",
    "exports": "An account's posts as a file to download.",
    "imports": "How posts came into the library, and undoing it.",
    "changes": "What happened to the library, in order.",
    "webhooks": "Addresses that are told what happens to the library.",
    "sandbox": "The same operations on sample data. Needs no key and stores nothing.",
}

PATH_PARAMETERS: Final[dict[str, str]] = {
    "post_id": "The saved post's identifier.",
    "highlight_id": "The highlight's id.",
    "label_id": "The label's id.",
    "slug": "The view's slug.",
    "rule_id": "The rule's id.",
    "share_id": "The share's id.",
    "digest_id": "The digest's id, such as weekly-2026-07-13, or latest.",
    "job_id": "The export's id.",
    "run_id": "The import's id.",
    "change_id": "The change's id.",
    "webhook_id": "The webhook's id.",
    "message_id": "The message's id, which is sent as webhook-id.",
}

PATH_EXAMPLES: Final[dict[str, str]] = {
    "post_id": "1945678901234567890",
    "highlight_id": "3f9a1c20be77",
    "label_id": "1",
    "slug": "weekend-reading",
    "rule_id": "5f0c9a7be01d4c3389aa01bc",
    "share_id": "9f86d081884c7d65",
    "job_id": "x7Qk2mZt9LwP4sVb",
    "change_id": "9b1f04c2d67ae35812c07d4e",
    "run_id": "5f2c9a7be01d4c3389aa01bc",
    "digest_id": "weekly-2026-07-13",
    "webhook_id": "5b0e6a4f9c21d7831f02ab47",
    "message_id": "msg_3c81f04e9d2a7b65_41",
}
# By the path. A label cannot be merged with itself, and the body's example has the id 1.
OTHER_EXAMPLES: Final[dict[str, str]] = {"/v1/labels/{label_id}/merge": "2"}
