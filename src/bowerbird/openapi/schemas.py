"""The schemas of the OpenAPI document, derived from the structs of requests and answers."""

from typing import Any, Final

import msgspec

from bowerbird.model.bookmarks import Article, Attachment, QuotedPost
from bowerbird.model.jobs import JobState
from bowerbird.model.periods import PeriodKind
from bowerbird.openapi import field_descriptions, promised
from bowerbird.openapi.operations import OPERATIONS
from bowerbird.requests import schemas as requests
from bowerbird.requests.limits import PAGE_MAX

Json = dict[str, Any]

REF: Final = "#/components/schemas/"
# Only some posts have them. They are never null in an answer, though an import may send null.
_OPTIONAL: Final = (
    *("source", "source_id", "gone_at", "gone_reason", "removed_at", "note", "highlights"),
    *("via_repost_id", "version_ids"),
)
_OPTIONAL_TEXTS: Final = ("gone_at", "gone_reason", "removed_at", "note")
_TEXT: Final[Json] = {"type": "string"}


def schemas() -> Json:
    made = {**_records(), **_metas(), **_bodies(), **refusals()}
    return {name: described(name, schema) for name, schema in made.items()}


def described(name: str, schema: Json) -> Json:
    """The schema with a description for each field that has none."""
    properties = {
        field: {"description": sentence, **shape}
        if (sentence := field_descriptions.sentence(name, field)) and "description" not in shape
        else shape
        for field, shape in schema.get("properties", {}).items()
    }
    return {**schema, "properties": properties} if properties else schema


def success(data: Json, meta: Json) -> Json:
    return required(status={"const": True}, data=data, meta=meta)


def required(**properties: Json) -> Json:
    return {"type": "object", "properties": properties, "required": list(properties)}


def _records() -> Json:
    kinds = {one.data for one in OPERATIONS if one.data is not None}
    # These are inside a bookmark, whose own struct leaves them open.
    records = [*sorted(kinds, key=lambda kind: kind.__name__), Attachment, Article, QuotedPost]
    _, components = msgspec.json.schema_components(records, ref_template=REF + "{name}")
    made: Json = dict(components)
    # "$" is the end of the text in JSON Schema, and not every validator knows Python's own anchor.
    made["Bookmark"]["properties"]["post_id"]["pattern"] = "^[0-9]{1,40}$"
    for name in _OPTIONAL_TEXTS:
        made["Bookmark"]["properties"][name] = {"type": "string"}
    passages = {"type": "array", "items": {"$ref": REF + "HighlightedPassage"}}
    made["Bookmark"]["properties"]["highlights"] = passages
    passage = made["HighlightedPassage"]["properties"]
    passage["id"]["pattern"] = "^[A-Za-z0-9_-]{1,40}$"
    details = made["PostDetails"]["properties"]
    details["attachments"]["items"] = {"$ref": REF + "Attachment"}
    details["article"] = {"anyOf": [{"$ref": REF + "Article"}, {"type": "null"}]}
    details["quoted_tweet"] = {"anyOf": [{"$ref": REF + "QuotedPost"}, {"type": "null"}]}
    for name in ("Bookmark", "PostDetails", "PostMeta", "Metrics", "AuthorDetails"):
        # An answer always has every field, though an import may leave some out.
        made[name]["required"] = [
            field for field in made[name]["properties"] if field not in _OPTIONAL
        ]
        for field in made[name]["properties"].values():
            field.pop("default", None)
    made["ExportResponse"]["properties"]["status"] = {"enum": list(JobState)}
    for name in ("DigestSummary", "DigestResponse"):
        made[name]["properties"]["kind"] = {"enum": list(PeriodKind)}
    made["Highlight"] = _highlight()
    made["Bookmark"]["properties"]["highlight"] = {"$ref": REF + "Highlight"}
    made["Bookmark"]["properties"]["score"] = {"type": "number"}
    return made


def _highlight() -> Json:
    """Optional in a bookmark: present if it was requested and there is a match."""
    return required(field=_TEXT, html=_TEXT)


def _metas() -> Json:
    kinds = {one.meta for one in OPERATIONS if one.meta is not None}
    _, found = msgspec.json.schema_components(
        sorted(kinds, key=lambda kind: kind.__name__), ref_template=REF + "{name}"
    )
    made: Json = {name: _untitled(schema) for name, schema in found.items()}
    for name in ("ListMeta", "DigestListMeta", "ImportListMeta"):
        properties = made[name]["properties"]
        properties["next_cursor"] = {"type": ["string", "null"]}
        properties["limit"] |= {"minimum": 1, "maximum": PAGE_MAX}
        properties["total_count"] |= {"minimum": 0}
        properties["count"] |= {"minimum": 0, "maximum": PAGE_MAX}
    made["ListMeta"]["properties"]["vector_pending"]["minimum"] = 1
    made["ChangeMeta"]["properties"]["affected"]["minimum"] = 0
    return made


def _bodies() -> Json:
    kinds = {one.body for one in OPERATIONS if one.body is not None}
    made = requests.components(sorted(kinds, key=lambda kind: kind.__name__), REF)
    return {name: promised.body(name, schema) for name, schema in made.items()}


def _untitled(schema: Json) -> Json:
    return {name: value for name, value in schema.items() if name not in ("title", "description")}


def refusals() -> Json:
    refusal = required(status={"const": False}, code=_TEXT, error=_TEXT)
    upgrade = {"type": "string", "format": "uri"}
    return {
        "Refusal": refusal,
        "UpgradeRefusal": required(**refusal["properties"], upgrade_url=upgrade),
    }
