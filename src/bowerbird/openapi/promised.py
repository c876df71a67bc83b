"""Where the document says less than the service checks, because /v1 was published that way.

A bound or default that is documented later looks like a breaking change, even if the service
always had it. These corrections wait until the document is published again.
"""

from typing import Any, Final

from msgspec import Struct

from bowerbird.requests.bookmarks import SimilarQuery

Json = dict[str, Any]

# Bodies that are published as closed to unknown fields. The others refuse them too.
_CLOSED: Final = frozenset({"ExportRequest"})
# Fields whose maximum length is not published.
_WITHOUT_LENGTH: Final = {
    "ExportRequest": "view",
    "LabelRequest": "label_id",
    "MergeRequest": "into",
    "NewBucket": "slug",
}
# Published defaults that differ: similar bookmarks include read ones.
_DEFAULTS: Final[dict[type[Struct], Json]] = {SimilarQuery: {"is_unread_only": True}}


def body(name: str, schema: Json) -> Json:
    """The schema of a request body, as it is promised."""
    promised = dict(schema)
    if name not in _CLOSED:
        promised.pop("additionalProperties", None)
    if field := _WITHOUT_LENGTH.get(name):
        shape = dict(schema["properties"][field])
        shape.pop("maxLength")
        promised["properties"] = {**schema["properties"], field: shape}
    return promised


def parameter(kind: type[Struct], name: str, schema: Json) -> Json:
    """The schema of a parameter of a query string, as it is promised."""
    defaults = _DEFAULTS.get(kind, {})
    return {**schema, "default": defaults[name]} if name in defaults else schema
