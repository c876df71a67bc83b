"""The schemas of the OpenAPI document, derived from the structs of requests and answers."""

from typing import Any, Final

import msgspec
from msgspec import Struct

from bowerbird.library.bookmarks.contents import ContentFields
from bowerbird.model.bookmarks import Article, Attachment, QuotedPost
from bowerbird.model.instants import PeriodKind
from bowerbird.model.jobs import JobState
from bowerbird.openapi import field_descriptions, operations
from bowerbird.openapi.operations import OPERATIONS
from bowerbird.requests import schemas as requests
from bowerbird.requests.limits import PAGE_MAX

Json = dict[str, Any]

REF: Final = "#/components/schemas/"
# Only some posts have them. They are never null in an answer, though an import may send null.
_OPTIONAL: Final = (
    *("source", "source_id", "gone_at", "gone_reason", "removed_at", "note", "highlights"),
    *("via_repost_id", "version_ids", "language"),
)
_OPTIONAL_TEXTS: Final = ("gone_at", "gone_reason", "removed_at", "note")
_TEXT: Final[Json] = {"type": "string"}
# These are inside a bookmark, whose own struct leaves them open.
_INSIDE: Final = (Attachment, Article, QuotedPost)
_COUNTED: Final = {
    "ListMeta": ("bookmarks", "bookmarks that match"),
    "DigestListMeta": ("digests", "digests that the account has"),
    "ImportListMeta": ("imports", "imports that are listed; the oldest leave the list"),
}


def schemas() -> Json:
    made = {**_records(), **_metas(), **_bodies(), **refusals()}
    kinds = [kind for one in OPERATIONS for kind in (one.data, one.meta) if kind is not None]
    named = {kind.__name__: kind for kind in requests.with_nested([*kinds, *_INSIDE])}
    return {name: described(schema, named.get(name)) for name, schema in made.items()}


def described(schema: Json, kind: type[Struct] | None = None) -> Json:
    """The schema of a struct with a description for each field that has none."""
    sentences = field_descriptions.SHARED | (field_descriptions.of_struct(kind) if kind else {})
    properties = {
        field: {"description": sentences[field], **shape}
        if field in sentences and "description" not in shape
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
    records = [*sorted(kinds, key=lambda kind: kind.__name__), *_INSIDE]
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
    # Generators of clients drop an array without items, and everything that contains it.
    choices = {"type": "array", "items": {}}
    made["Attachment"]["properties"]["choices"] = {"anyOf": [choices, {"type": "null"}]}
    made["Highlight"] = _highlight()
    made["Bookmark"]["properties"] |= {
        "highlight": {
            "description": "Where the words of q occur. Only if requested, and if there is a "
            "match.",
            "$ref": REF + "Highlight",
        },
        "score": {
            "description": "How well the bookmark matches a ranked search; higher is better. Only "
            "in ranked lists, and comparable only within one list.",
            "type": "number",
        },
        # If only the link of the post is known.
        **_properties(ContentFields),
    }
    return made


def _properties(kind: type[Struct]) -> Json:
    _, components = msgspec.json.schema_components([kind], ref_template=REF + "{name}")
    return dict(components[kind.__name__]["properties"])


def _highlight() -> Json:
    """Optional in a bookmark: present if it was requested and there is a match."""
    return required(
        field={"description": "The field that contains the matches, such as text.", **_TEXT},
        html={
            "description": "HTML-escaped text around the matches, each in a mark element.",
            **_TEXT,
        },
    )


def _metas() -> Json:
    kinds = {one.meta for one in OPERATIONS if one.meta is not None}
    _, found = msgspec.json.schema_components(
        sorted(kinds, key=lambda kind: kind.__name__), ref_template=REF + "{name}"
    )
    made: Json = {name: _untitled(schema) for name, schema in found.items()}
    for name, (what, total) in _COUNTED.items():
        properties = made[name]["properties"]
        properties["next_cursor"] = {"type": ["string", "null"]}
        properties["limit"] |= {"minimum": 1, "maximum": PAGE_MAX}
        counted = {"description": f"Number of {total}.", **properties["total_count"]}
        properties["total_count"] = {**counted, "minimum": 0}
        counted = {"description": f"Number of {what} on this page.", **properties["count"]}
        properties["count"] = {**counted, "minimum": 0, "maximum": PAGE_MAX}
    made["ListMeta"]["properties"]["vector_pending"]["minimum"] = 1
    made["ChangeMeta"]["properties"]["affected"]["minimum"] = 0
    return made


def _bodies() -> Json:
    kinds = {one.body for one in OPERATIONS if one.body is not None}
    made = requests.components(sorted(kinds, key=lambda kind: kind.__name__), REF)
    return {name: operations.enforced(name, schema) for name, schema in made.items()}


def _untitled(schema: Json) -> Json:
    return {name: value for name, value in schema.items() if name not in ("title", "description")}


def refusals() -> Json:
    code = "The error code. Codes are stable; new ones may be added."
    error = "The reason, in a sentence for people to read. The wording may change."
    refusal = required(
        status={"const": False},
        code={"description": code, **_TEXT},
        error={"description": error, **_TEXT},
    )
    upgrade = {"description": "Where to upgrade the plan.", "type": "string", "format": "uri"}
    return {
        "Refusal": refusal,
        "UpgradeRefusal": required(**refusal["properties"], upgrade_url=upgrade),
    }
