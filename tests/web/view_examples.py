"""Example values of the templates of Smart Views."""

from typing import Any, Final

from bowerbird.web.views.drafts import LABELS, BucketDraft, Draft
from bowerbird.web.visits.formats import Times
from tests.web.library_examples import LIST, PARTS
from tests.web.library_posts import POSTS

Values = dict[str, Any]

_LONG: Final = "A very long name of a view that somebody wrote without a thought of narrow screens"


def _row(name: str, **values: Any) -> Values:
    return {
        "slug": name,
        "name": name,
        "description": "",
        "url": f"/views/{name}",
        "edit_url": f"/views/{name}/edit",
        "count": "14",
        "filters": [("label", "birds"), ("saved after", "last 7 days"), ("unread only", "")],
        "buckets": [],
        "is_pinned": True,
    } | values


_VIEWS: Final[Values] = LIST | {
    "title": "Smart Views",
    "here": "/views",
    "undo_view": "",
    "views": [
        _row("Birds this week", description="For Sunday.", buckets=["Bowers", "Nests"]),
        _row("読むもの", filters=[], count="1,204", is_pinned=False),
        _row(_LONG, filters=[("words", "x" * 90)], count=""),
    ],
    "deleted": [],
    "moved": ("", ""),
}
_DRAFT: Final = Draft(
    name="Birds this week",
    filters={"tag": "birds", "bookmarked_from": "last 7 days", "q": "bower* -cage"},
    buckets=[
        BucketDraft("bowers", "Bowers", {"q": "bower*"}),
        BucketDraft("images", "With images", {"media_type": "image", "author": "@mara"}),
        BucketDraft(),
    ],
)
_EDIT: Final[Values] = LIST | {
    "title": "Edit Smart View",
    "here": "/views/birds/edit",
    "slug": "birds",
    "view_url": "/views/birds",
    "draft": _DRAFT,
    "labels": LABELS,
    "orders": [("", "Newest saved first"), ("posted_at desc", "Newest posts first")],
    "media_types": ["image", "article"],
    "can_add": True,
    "focus": "",
    "refusal": "",
    "preview": {
        "problem": "",
        "total": 14,
        "account_total": 4_218,
        "posts": [PARTS.nearby(post) for post in POSTS[:5]],
        "buckets": [("Bowers", "5"), ("With images", "")],
    },
}

EXAMPLES: Final[dict[str, tuple[str, Values]]] = {
    "views": (
        "views.html",
        _VIEWS
        | {
            "message": "The view is deleted. Its posts stay. It can be restored for an hour.",
            "undo_view": "old",
            "deleted": [
                {"slug": "old", "name": "Old", "at": Times("UTC").moment(1_787_918_400_000_000)}
            ],
        },
    ),
    "views-none": ("views.html", _VIEWS | {"views": [], "side_views": []}),
    "view_edit": ("view_edit.html", _EDIT),
    "view_edit-refused": (
        "view_edit.html",
        _EDIT
        | {
            "title": "New Smart View",
            "here": "/views/new",
            "slug": "",
            "problem": "Bucket 2, label: is already set by the view.",
            "refusal": "Writing labels and Smart Views needs a paid plan.",
            "preview": {"problem": "“Saved from” must be a date, got 'soon'."},
        },
    ),
}
