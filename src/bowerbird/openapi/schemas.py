"""The schemas of the OpenAPI document, derived from the structs of requests and answers.

The docstring below a field of an answer describes it; requests describe their fields in annotations
(requests/fields.py).
"""

import ast
import inspect
import sys
from functools import cache
from itertools import pairwise
from typing import Any, Final

import msgspec
from msgspec import Struct

from bowerbird.library.bookmarks.shown_fields import ContentFields
from bowerbird.model.instants import PeriodKind
from bowerbird.model.jobs import JobState
from bowerbird.model.posts.bookmarks import Article, Attachment, QuotedPost
from bowerbird.openapi import operations
from bowerbird.openapi.operations import OPERATIONS
from bowerbird.requests import limits
from bowerbird.requests import schemas as requests
from bowerbird.requests.limits import PAGE_MAX

# A field that means the same in every answer.
SHARED: Final[dict[str, str]] = {
    "ignored_parameters": "Names of the parameters that were sent and have no effect, at most "
    "20; absent if there are none.",
    "status": "true if the request succeeded, false if it was refused.",
    "data": "The result of the request.",
    "meta": "Information about the data, such as counts and the next page.",
    "post_id": "Identifier of the saved post: digits, as text.",
    "tags": "Names of the post's labels in alphabetical order, or null if it has none.",
    "is_read": "Whether the account has marked the post as read.",
    "is_archived": "Whether the account has archived the post.",
    "label_name": "The label's name. Case is ignored when labels are compared.",
    "message": "What was done, in a sentence for people to read.",
    "affected": "Number of posts that this request changed.",
    "not_found": "Ids that are not in the library.",
    "further_ids": "Ids of the posts that data does not repeat, because an answer repeats the "
    f"labels of at most {limits.ECHOED_POSTS_MAX:,} posts; only if there are any.",
    "not_changed": "Not sent any more: a request changes all posts that it names, or none.",
    "author_id": "Identifier of the post's author.",
    "author_username": "The author's handle, without @.",
    "author_details": "Who wrote the post.",
    "attachments": "Images, videos, links and polls of the post; empty if it has none.",
    "article": "The long-form article that the post is or quotes, or null.",
    "posted_at": "When the post was published: ISO 8601 with an offset. If its source did not "
    "say it, the time in its id, otherwise bookmarked_at.",
    "text": "The full text. It may contain line breaks.",
    "link": "URL of the original post.",
    "content_state": "How much of the post the library has: whole (its text is known), fetching "
    "(it is a link, and its network is being asked), link (only the link is known) or gone (only "
    "the link is known, and its network does not show the post). A bookmark has it only if it is "
    "not whole, and not in the answer to a change.",
    "content_problem": "Why the text is not known, as a sentence; absent if there is nothing to "
    "say.",
    "run_id": "Identifier of the import.",
    "username": "Handle, without @.",
    "profile_image": "URL of the profile picture.",
    "base_query": "Filters of the list by name. Dates may be relative, such as last 7 days.",
    "default_sort": "Order of the view's bookmarks; null for the list's default.",
    "triage_buckets": "Parts of the view, each with a narrower query.",
    "query": "Filters that narrow the view further, by the list's names.",
    "sort_by": "The field to sort by, as in the list.",
    "sort_order": "asc or desc. By default dates and counts descend, text ascends.",
    "change": "What was changed, for its progress and its undo. Absent if nothing has changed.",
}


@cache
def of_struct(kind: type[Struct]) -> dict[str, str]:
    """The docstring of each field that has one, by its name in JSON."""
    bases = [base for base in reversed(kind.__mro__) if issubclass(base, Struct)]
    found = {
        field: text
        for base in bases
        for field, text in _docstrings(base.__module__).get(base.__name__, {}).items()
    }
    names = {field.name: field.encode_name for field in msgspec.structs.fields(kind)}
    return {names[field]: text for field, text in found.items()}


@cache
def _docstrings(module: str) -> dict[str, dict[str, str]]:
    """The docstrings below fields, by class, from the source: Python does not keep them."""
    return {
        node.name: {
            field.target.id: " ".join(text.split())
            for field, below in pairwise(node.body)
            if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name)
            if isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant)
            if isinstance(text := below.value.value, str)
        }
        for node in ast.parse(inspect.getsource(sys.modules[module])).body
        if isinstance(node, ast.ClassDef)
    }


Json = dict[str, Any]

REF: Final = "#/components/schemas/"
# Only some posts have them. They are never null in an answer, though an import may send null.
_OPTIONAL: Final = (
    *("source", "source_id", "gone_at", "gone_reason", "removed_at", "note", "highlights"),
    *("image_texts", "via_repost_id", "version_ids", "language"),
)
_OPTIONAL_TEXTS: Final = ("gone_at", "gone_reason", "removed_at", "note")
_TEXT: Final[Json] = {"type": "string"}
# These are inside a bookmark, whose own struct leaves them open.
_INSIDE: Final = (Attachment, Article, QuotedPost)
_COUNTED: Final = {
    "ListMeta": ("bookmarks", "bookmarks that match"),
    "DigestListMeta": ("digests", "digests that the account has"),
    "ChangeListMeta": ("changes", "changes that can be undone or are not finished"),
    "TrashListMeta": ("bookmarks", "bookmarks in the trash that match"),
    "ImportListMeta": ("imports", "imports that are listed; the oldest leave the list"),
}


def schemas() -> Json:
    made = {**_records(), **_metas(), **_bodies(), **refusals()}
    kinds = [kind for one in OPERATIONS for kind in (one.data, one.meta) if kind is not None]
    named = {kind.__name__: kind for kind in requests.with_nested([*kinds, *_INSIDE])}
    return {name: described(schema, named.get(name)) for name, schema in made.items()}


def described(schema: Json, kind: type[Struct] | None = None) -> Json:
    """The schema of a struct with a description for each field that has none."""
    sentences = SHARED | (of_struct(kind) if kind else {})
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
        "copies": {
            "description": "How many bookmarks of the list have the same text and links. The list "
            "has only the best of them, and total_count counts all. Only in ranked lists, and "
            "absent if there is one.",
            "type": "integer",
            "minimum": 2,
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
