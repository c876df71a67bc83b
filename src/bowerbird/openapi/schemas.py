"""The shapes of the OpenAPI document: answers from the code's own records, bodies by hand."""

from typing import Any, Final

import msgspec

from bowerbird.library.access.bodies import MOST_IDS
from bowerbird.library.accounts.account_state import AccountResponse
from bowerbird.library.bookmarks.bookmarks import BookmarkCounts
from bowerbird.library.bookmarks.flags import BookmarkState
from bowerbird.library.bookmarks.parameters import FILTER_PARAMETERS
from bowerbird.library.bookmarks.trash import Deleted
from bowerbird.library.digests.digests import PreferencesResponse
from bowerbird.library.digests.responses import DigestResponse, DigestSummary
from bowerbird.library.exports.exports import ExportJob
from bowerbird.library.labels.labels import MOST_OPERATIONS, BatchResult, LabelResponse, Tagged
from bowerbird.library.views.views import ViewResponse
from bowerbird.model.bookmarks import Article, Attachment, Bookmark, QuotedPost
from bowerbird.model.digests import Frequency
from bowerbird.model.jobs import JobState
from bowerbird.model.periods import PeriodKind
from bowerbird.openapi import field_descriptions
from bowerbird.openapi.query_parameters import PARAMETERS

Json = dict[str, Any]

REF: Final = "#/components/schemas/"
_TEXT: Final[Json] = {"type": "string"}
_FLAG: Final[Json] = {"type": "boolean"}
_COUNT: Final[Json] = {"type": "integer", "minimum": 0}
_IDS: Final[Json] = {
    "type": "array",
    "items": {"type": "string", "minLength": 1},
    "minItems": 1,
    "maxItems": MOST_IDS,
}
_NAME: Final[Json] = {"type": "string", "minLength": 1, "maxLength": 100}


def schemas() -> Json:
    made = {**_records(), **_metas(), **_bodies(), **_refusals()}
    return {name: described(name, schema) for name, schema in made.items()}


def described(name: str, schema: Json) -> Json:
    """The schema with a sentence to each of its fields."""
    properties = {
        field: {"description": sentence, **shape}
        if (sentence := field_descriptions.sentence(name, field))
        else shape
        for field, shape in schema.get("properties", {}).items()
    }
    return {**schema, "properties": properties} if properties else schema


def success(data: Json, meta: Json) -> Json:
    return required(status={"const": True}, data=data, meta=meta)


def required(**properties: Json) -> Json:
    return {"type": "object", "properties": properties, "required": list(properties)}


def _records() -> Json:
    records = [Bookmark, BookmarkCounts, Attachment, Article, QuotedPost]
    records += [LabelResponse, Tagged, BatchResult, BookmarkState, Deleted, ViewResponse, ExportJob]
    records += [AccountResponse]
    records += [DigestSummary, DigestResponse, PreferencesResponse]
    _, components = msgspec.json.schema_components(records, ref_template=REF + "{name}")
    made: Json = dict(components)
    # JSON Schema's "$" is the very end, and not every reader of it knows what stands behind ours.
    made["Bookmark"]["properties"]["post_id"]["pattern"] = "^[0-9]{1,40}$"
    details = made["PostDetails"]["properties"]
    details["attachments"]["items"] = {"$ref": REF + "Attachment"}
    details["article"] = {"anyOf": [{"$ref": REF + "Article"}, {"type": "null"}]}
    details["quoted_tweet"] = {"anyOf": [{"$ref": REF + "QuotedPost"}, {"type": "null"}]}
    for name in ("Bookmark", "PostDetails", "PostMeta", "Metrics", "AuthorDetails"):
        # An answer always carries every field, though an import may leave some out.
        made[name]["required"] = list(made[name]["properties"])
        for field in made[name]["properties"].values():
            field.pop("default", None)
    made["ExportJob"]["properties"]["status"] = {"enum": list(JobState)}
    for name in ("DigestSummary", "DigestResponse"):
        made[name]["properties"]["kind"] = {"enum": list(PeriodKind)}
    made["Highlight"] = _highlight()
    made["Bookmark"]["properties"]["highlight"] = {"$ref": REF + "Highlight"}
    return made


def _highlight() -> Json:
    """Not required of a bookmark: it is there when it was asked for and there is a hit to show."""
    return required(field=_TEXT, html=_TEXT)


def _metas() -> Json:
    page = required(
        next_cursor={"type": ["string", "null"]},
        limit={"type": "integer", "minimum": 1, "maximum": 100},
        total_count=_COUNT,
        count={"type": "integer", "minimum": 0, "maximum": 100},
    )
    digests = {**page, "properties": dict(page["properties"])}
    page["properties"]["hint"] = _TEXT
    page["properties"]["vector_pending"] = {"type": "integer", "minimum": 1}
    return {
        "ListMeta": page,
        "DigestListMeta": digests,
        "MessageMeta": required(message=_TEXT),
        "ChangeMeta": required(
            message=_TEXT, affected=_COUNT, not_found={"type": "array", "items": _TEXT}
        ),
    }


def _bodies() -> Json:
    query = _query()
    view: Json = {
        "name": _NAME,
        "description": {"type": "string", "maxLength": 1000},
        "base_query": query,
        "default_sort": {"type": ["string", "object", "null"]},
        "triage_buckets": {"type": "array", "items": {"$ref": REF + "NewBucket"}, "maxItems": 20},
    }
    return {
        "StateRequest": _body(
            {"tweet_ids": _IDS, "is_read": _FLAG, "is_archived": _FLAG}, "tweet_ids"
        ),
        "FlagsRequest": _body({"is_read": _FLAG, "is_archived": _FLAG}),
        "LabelRequest": {
            **_body({"tweet_ids": _IDS, "label_name": _NAME, "label_id": _TEXT}, "tweet_ids"),
            "anyOf": [{"required": ["label_name"]}, {"required": ["label_id"]}],
        },
        "LabelOperation": _body(
            {"op": {"enum": ["add", "remove"]}, "tweet_ids": _IDS, "label_name": _NAME},
            "op",
            "tweet_ids",
            "label_name",
        ),
        "BatchRequest": _body(
            {
                "operations": {
                    "type": "array",
                    "items": {"$ref": REF + "LabelOperation"},
                    "minItems": 1,
                    "maxItems": MOST_OPERATIONS,
                }
            },
            "operations",
        ),
        "LabelChange": _body({"label_name": _NAME, "metadata": {"type": "object"}}),
        "PreferencesRequest": _body(
            {
                "frequency": {"enum": list(Frequency)},
                "time_zone": _TEXT,
                "hour": {"type": "integer", "minimum": 0, "maximum": 23},
                "mail": _FLAG,
            }
        ),
        "MergeRequest": _body({"into": _TEXT}, "into"),
        "ExportRequest": {
            **_body({**query["properties"], "view": _TEXT, "tweet_ids": _IDS}),
            "additionalProperties": False,
        },
        "NewBucket": _body({"name": _NAME, "slug": _TEXT, "query": query}, "name"),
        "NewView": _body(view, "name"),
        "ViewChange": _body(view),
    }


def _query() -> Json:
    """The list's filters as a kept query has them: a flag may be a text, a date relative."""
    filters: Json = {}
    for name in FILTER_PARAMETERS:
        schema, sentence = PARAMETERS[name]
        types = ["boolean", "string"] if schema["type"] == "boolean" else ["string"]
        filters[name] = {"type": [*types, "null"], "description": sentence}
    return {"type": "object", "properties": filters}


def _body(properties: Json, *needed: str) -> Json:
    body: Json = {"type": "object", "properties": properties}
    return body | ({"required": list(needed)} if needed else {})


def _refusals() -> Json:
    refusal = required(status={"const": False}, code=_TEXT, error=_TEXT)
    upgrade = {"type": "string", "format": "uri"}
    return {
        "Refusal": refusal,
        "UpgradeRefusal": required(**refusal["properties"], upgrade_url=upgrade),
    }
