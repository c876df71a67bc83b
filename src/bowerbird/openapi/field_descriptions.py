"""Descriptions of the fields of answers: the docstring below each field of their structs.

Requests describe their fields in annotations (requests/fields.py).
"""

import ast
import inspect
import sys
from functools import cache
from itertools import pairwise
from typing import Final

import msgspec
from msgspec import Struct

from bowerbird.requests import limits

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
