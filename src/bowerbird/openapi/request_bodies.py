"""Schemas of request bodies: the limits that the service enforces, in a form that clients read."""

from typing import Any, Final

from bowerbird.requests.limits import TEXT_MAX

Json = dict[str, Any]

# Their texts are filters, which are checked together and not by their types.
_FILTERS: Final = frozenset({"ChangeFilters", "ExportRequest", "NewViewQuery"})
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
