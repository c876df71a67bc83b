"""Compares two OpenAPI documents and reports the breaking changes of the newer one."""

from collections.abc import Iterator
from datetime import date
from enum import StrEnum
from typing import Any, Final

from msgspec import Struct

Json = dict[str, Any]
_METHODS: Final = ("get", "put", "post", "patch", "delete")


_LIMITS: Final = (
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
        limits={name: schema[name] for name in _LIMITS if name in schema},
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


class Rule(StrEnum):
    """The promises to clients within a version of the API."""

    ENDPOINT = "An endpoint is not removed before its Sunset date has passed."
    SUNSET = "A published Sunset date is not moved to an earlier date."
    STATUS = "A status that an endpoint can return is not removed."
    HEADER = "A header of an answer is not removed."
    FIELD = "A field of an answer is not removed or renamed."
    PRESENT = "A field or header that is always present in an answer does not become optional."
    VALUE = "A value that an answer may contain, such as a code, is not removed or renamed."
    TYPE = "A field or parameter does not change its type."
    PARAMETER = "A request parameter or field is not removed or renamed."
    REQUIRED = (
        "A request parameter or field does not become required, and no required one is added."
    )
    ACCEPTED = "A value that a request may contain is not rejected later."
    DEFAULT = "The default of a parameter does not change."
    KEY = "An endpoint that works without a key does not start to require one."


class Break(Struct, frozen=True):
    rule: Rule
    # Method, path and status, then the path of the field.
    place: str

    def __str__(self) -> str:
        return f"{self.place}: {self.rule.value}"


def breaks(promised: Json, current: Json, today: date) -> list[Break]:
    """Every break once. New fields and changed descriptions are not breaks."""
    return list(dict.fromkeys(_Comparison(promised, current, today).run()))


class _Comparison:
    def __init__(self, promised: Json, current: Json, today: date) -> None:
        self._promised, self._current, self._today = promised, current, today
        self._old, self._new = Shapes(promised), Shapes(current)
        # Each pair of named schemas is compared once: they are shared, and some are recursive.
        self._compared: set[tuple[str, str, bool]] = set()

    def run(self) -> Iterator[Break]:
        for path, item in self._promised["paths"].items():
            for method in _METHODS:
                if method in item:
                    found = self._current["paths"].get(path, {}).get(method)
                    yield from self._operation(f"{method.upper()} {path}", item[method], found)

    def _operation(self, place: str, old: Json, new: Json | None) -> Iterator[Break]:
        if new is None:
            sunset = old.get("x-sunset")
            if sunset is None or date.fromisoformat(sunset) > self._today:
                yield Break(Rule.ENDPOINT, place)
            return
        if _is_public(old, self._promised) and not _is_public(new, self._current):
            yield Break(Rule.KEY, place)
        # ISO 8601 dates sort as text.
        if "x-sunset" in old and new.get("x-sunset", old["x-sunset"]) < old["x-sunset"]:
            yield Break(Rule.SUNSET, place)
        yield from self._parameters(place, old, new)
        yield from self._body(f"{place} body", old.get("requestBody"), new.get("requestBody"))
        for status, answer in old["responses"].items():
            found = new["responses"].get(status)
            if found is None:
                yield Break(Rule.STATUS, f"{place} {status}")
            else:
                yield from self._answer(f"{place} {status}", answer, found)

    def _parameters(self, place: str, old: Json, new: Json) -> Iterator[Break]:
        before = {(p["in"], p["name"]): p for p in map(self._old.resolved, old["parameters"])}
        after = {(p["in"], p["name"]): p for p in map(self._new.resolved, new["parameters"])}
        for key, parameter in after.items():
            was_required = before.get(key, {}).get("required", False)
            if parameter.get("required", False) and not was_required:
                yield Break(Rule.REQUIRED, f"{place} ?{key[1]}")
        for key, parameter in before.items():
            if key not in after:
                yield Break(Rule.PARAMETER, f"{place} ?{key[1]}")
            else:
                schemas = parameter["schema"], after[key]["schema"]
                yield from self._request_schema(f"{place} ?{key[1]}", *schemas)

    def _body(self, place: str, old: Json | None, new: Json | None) -> Iterator[Break]:
        if old is None:
            if new is not None and new.get("required", False):
                yield Break(Rule.REQUIRED, place)
            return
        if new is None:
            yield Break(Rule.PARAMETER, place)
            return
        if new.get("required", False) and not old.get("required", False):
            yield Break(Rule.REQUIRED, place)
        for media, content in old["content"].items():
            if media not in new["content"]:
                yield Break(Rule.ACCEPTED, f"{place} {media}")
            else:
                yield from self._request_schema(
                    place, content.get("schema", {}), new["content"][media].get("schema", {})
                )

    def _answer(self, place: str, old: Json, new: Json) -> Iterator[Break]:
        old, new = self._old.resolved(old), self._new.resolved(new)
        yield from self._headers(place, old.get("headers", {}), new.get("headers", {}))
        for media, content in old.get("content", {}).items():
            found = new.get("content", {}).get(media)
            if found is None:
                yield Break(Rule.TYPE, f"{place} {media}")
            else:
                yield from self._answer_schema(
                    place, content.get("schema", {}), found.get("schema", {})
                )

    def _headers(self, place: str, old: Json, new: Json) -> Iterator[Break]:
        for name, header in old.items():
            if name not in new:
                yield Break(Rule.HEADER, f"{place} {name}")
                continue
            before, after = self._old.resolved(header), self._new.resolved(new[name])
            if before.get("required", False) and not after.get("required", False):
                yield Break(Rule.PRESENT, f"{place} {name}")
            schemas = before.get("schema", {}), after.get("schema", {})
            yield from self._answer_schema(f"{place} {name}", *schemas)

    def _answer_schema(self, place: str, old: Json, new: Json) -> Iterator[Break]:
        """Compares schemas of answers, which may gain fields, but not lose or change any."""
        if self._is_compared(old, new, is_request=False):
            return
        before, after = self._old.of(old), self._new.of(new)
        if _is_retyped(sent=after, known=before):
            yield Break(Rule.TYPE, place)
        elif _has_lost_values(before, after):
            yield Break(Rule.VALUE, place)
        yield from self._answer_fields(place, before, after)
        if before.items is not None and after.items is None:
            yield Break(Rule.TYPE, f"{place}[]")
        elif before.items is not None and after.items is not None:
            yield from self._answer_schema(f"{place}[]", before.items, after.items)

    def _answer_fields(self, place: str, before: Shape, after: Shape) -> Iterator[Break]:
        for name in before.required - after.required:
            if name in after.properties:
                yield Break(Rule.PRESENT, f"{place}.{name}")
        for name, schema in before.properties.items():
            if name not in after.properties:
                yield Break(Rule.FIELD, f"{place}.{name}")
            else:
                yield from self._answer_schema(f"{place}.{name}", schema, after.properties[name])

    def _request_schema(self, place: str, old: Json, new: Json) -> Iterator[Break]:
        """Compares schemas of requests, which may accept more than before, but not less."""
        if self._is_compared(old, new, is_request=True) or _has_alternatives(old, new):
            return
        before, after = self._old.of(old), self._new.of(new)
        yield from (Break(rule, place) for rule in _rules_of_a_value(before, after))
        for name in after.required - before.required:
            yield Break(Rule.REQUIRED, f"{place}.{name}")
        for name, schema in before.properties.items():
            if name not in after.properties:
                yield Break(Rule.PARAMETER, f"{place}.{name}")
            else:
                yield from self._request_schema(f"{place}.{name}", schema, after.properties[name])
        if before.items is not None and after.items is not None:
            yield from self._request_schema(f"{place}[]", before.items, after.items)

    def _is_compared(self, old: Json, new: Json, *, is_request: bool) -> bool:
        """Whether these two named schemas have been compared already."""
        if "$ref" not in old or "$ref" not in new:
            return False
        pair = (old["$ref"], new["$ref"], is_request)
        is_compared = pair in self._compared
        self._compared.add(pair)
        return is_compared


def _rules_of_a_value(before: Shape, after: Shape) -> Iterator[Rule]:
    if _is_retyped(sent=before, known=after):
        yield Rule.TYPE
    elif _is_narrowed(before, after):
        yield Rule.ACCEPTED
    if before.default != after.default:
        yield Rule.DEFAULT


def _has_alternatives(old: Json, new: Json) -> bool:
    """Whether what was accepted before is among several alternatives now."""
    now = new.get("anyOf", ())
    if old in now:
        return True
    is_same = {**old, "anyOf": ()} == {**new, "anyOf": ()} and "$ref" not in repr(old)
    return is_same and "anyOf" in old and all(one in now for one in old["anyOf"])


def _is_public(operation: Json, document: Json) -> bool:
    return not operation.get("security", document.get("security", []))


def _is_retyped(*, sent: Shape, known: Shape) -> bool:
    """Whether the receiver may get a type or format that it does not know."""
    if known.types and not (sent.types and sent.types <= known.types):
        return True
    return sent.format != known.format


def _has_lost_values(before: Shape, after: Shape) -> bool:
    """An enum may gain values. If it is removed, clients no longer know the values."""
    return before.values is not None and not (
        after.values is not None and before.values <= after.values
    )


def _is_narrowed(before: Shape, after: Shape) -> bool:
    if after.is_closed and not before.is_closed:
        return True
    if after.items is not None and before.items is None:
        return True
    if after.values is not None and (before.values is None or not before.values <= after.values):
        return True
    return any(_is_tighter(name, before, after) for name in after.limits)


def _is_tighter(name: str, before: Shape, after: Shape) -> bool:
    if name not in before.limits:
        return True
    was, now = before.limits[name], after.limits[name]
    if name == "pattern":
        return bool(was != now)
    return bool(now > was if "min" in name.lower() else now < was)
