"""Example values of the library's templates, from stored posts of every kind."""

from typing import Any, Final

from bowerbird.web.library import post_parts
from bowerbird.web.library.dates import Dates
from bowerbird.web.library.post_parts import PostParts
from bowerbird.web.library.texts import LinkedTexts
from tests.web.library_posts import POSTS

Values = dict[str, Any]

# 28 August 2026, 12:00 UTC.
_PARTS: Final = PostParts(
    LinkedTexts(""), Dates("Europe/Berlin", 1_787_918_400_000_000), "", "author", {"birds": "moss"}
)
_LISTED: Final = [_PARTS.in_list(post, "bookmarked_at") for post in POSTS]
LINES: Final = [_PARTS.in_line(post, "bookmarked_at") for post in POSTS]
_LABELS: Final = ["birds", "databases", "field notes", "quiet web", "to read", "تصميم"]
_HITS: Final = {"field": "text", "html": "…is not a <mark>nest</mark>. The male builds it"}

LIST: Final[Values] = {
    "email": "nora.van.der.meer@example.org",
    "is_owner": False,
    "csrf": "c5rf",
    "message": "",
    "problem": "",
    "title": "Unread",
    "states": [
        ("bead", "Unread", "/library", 312),
        ("library", "All posts", "/library?is_unread_only=false", 2_312),
        ("archive", "Archive", "/library?is_unread_only=false&is_archived_only=true", 918),
        ("trash", "Trash", "/trash", None),
    ],
    "side_views": [("Birds this week", "/views/birds"), ("Long reads", "/views/long-reads")],
    "side_labels": [{**post_parts.label(name), "count": 23} for name in _LABELS],
    "label_names": _LABELS,
    "label_total": 23,
    "here": "/library",
    "back": "/library",
    "undo": None,
    "undo_post": "",
    "search": "",
    "mode": "both",
    "kept_fields": [("tag", "birds")],
    "account_total": 4_218,
    "account_read": 3_906,
    "account_archived": 1_906,
    "clear_url": "/library",
    "chips": [],
    "filters": dict.fromkeys(
        ("media_type", "author", "tag", "posted_from", "posted_to", "bookmarked_from"), ""
    )
    | {"bookmarked_to": ""},
    "filter_kept": [],
    "media_types": ["image", "article"],
    "heading": "312 unread",
    "order": "newest first",
    "orders": [
        {"text": "Newest saved first", "url": "/library", "is_chosen": True},
        {"text": "Oldest saved first", "url": "/library?sort_order=asc", "is_chosen": False},
    ],
    "is_compact": False,
    "comfortable_url": "/library",
    "compact_url": "/library?density=compact",
    "buckets": [],
    "groups": [("Today", _LISTED[:3]), ("Yesterday", _LISTED[3:6]), ("Aug 2026", _LISTED[6:])],
    "shown_count": 14,
    "total": 312,
    "older": "/library?cursor=abc",
    "newer": "",
    "is_unread_only": True,
    "hides_archived": True,
    "is_cut": False,
    "pending": 0,
    "is_archive": False,
}
_SEARCH: Final[Values] = LIST | {
    "title": "Search: nest",
    "here": "/library?q=nest",
    "search": "nest",
    "heading": "2 posts",
    "order": "best first",
    "chips": [
        {"name": "label", "value": "birds", "url": "/library?q=nest"},
        {"name": "state", "value": "unread", "url": "/library?q=nest&is_unread_only=false"},
    ],
    "groups": [
        (
            "",
            [
                _PARTS.in_list({**POSTS[0], "highlight": _HITS}, "posted_at", is_searched=True),
                _PARTS.in_list(POSTS[4], "posted_at", is_searched=True),
            ],
        )
    ],
    "pending": 12,
}


def _post(number: int, strand: list[int]) -> Values:
    post = _PARTS.on_page(POSTS[number])
    return LIST | {
        "title": post["name"],
        "post": post,
        "network": "X",
        "strand": [_PARTS.on_page(POSTS[each]) for each in strand],
        "near": [_PARTS.nearby(POSTS[each]) for each in (0, 6, 5)],
        "json": '{\n  "post_id": "1"\n}',
    }


EXAMPLES: Final[dict[str, tuple[str, Values]]] = {
    "library": ("library.html", LIST),
    "library-compact": (
        "library.html",
        LIST
        | {
            "is_compact": True,
            "groups": [("", LINES)],
        },
    ),
    "library-search": ("library.html", _SEARCH),
    "library-continued": ("library.html", LIST | {"newer": "/library"}),
    "help_keys": ("help_keys.html", LIST | {"title": "Keyboard", "here": "/help/keys"}),
    "library-undo": (
        "library.html",
        LIST | {"message": "Archived.", "undo": "unarchive", "undo_post": "1", "is_cut": True},
    ),
    "library-many-undo": (
        "library.html",
        LIST | {"message": "Archived 1,204 posts.", "undo_change": "a1"},
    ),
    "library-view": (
        "library.html",
        LIST
        | {
            "title": "Long reads",
            "order": "",
            "orders": [],
            "buckets": [
                {"text": "All", "url": "/views/long-reads", "is_chosen": True},
                {"text": "Birds", "url": "/views/long-reads?bucket=birds", "is_chosen": False},
            ],
        },
    ),
    "library-refused": (
        "library.html",
        _SEARCH
        | {
            "heading": "",
            "groups": [],
            "older": "",
            "problem": "The vector store is being built: 1,200 of 3,000 posts.",
        },
    ),
    "library_empty": ("library_empty.html", LIST | {"side_labels": [], "label_total": 0}),
    "library_read": ("library_read.html", LIST),
    "library-archive-empty": (
        "library_read.html",
        LIST | {"title": "Archive", "is_archive": True},
    ),
    "library_none": (
        "library_none.html",
        _SEARCH
        | {
            "suggestions": [
                {"text": "Look in read and archived posts too", "url": "/library", "count": 6},
                {"text": "Search by meaning instead", "url": "/library", "count": None},
            ]
        },
    ),
    "post": ("post.html", _post(2, [2, 3])),
    "post-article": ("post.html", _post(5, [5])),
    "post-pictures": ("post.html", _post(0, [0])),
    "post-gone": ("post.html", _post(9, [9])),
}
