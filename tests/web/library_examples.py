"""Example values of the library's templates, from stored posts of every kind."""

from typing import Any, Final

from bowerbird.web.labels.words import name_problem
from bowerbird.web.library import post_parts
from bowerbird.web.library.post_parts import PostParts
from bowerbird.web.library.texts import LinkedTexts
from bowerbird.web.visits.formats import Dates, Times
from tests.web.library_posts import POSTS

Values = dict[str, Any]

# 28 August 2026, 12:00 UTC.
PARTS: Final = PostParts(
    LinkedTexts(""),
    Dates(Times("Europe/Berlin"), 1_787_918_400_000_000),
    "",
    "author",
    {"birds": "moss"},
)
LISTED: Final = [PARTS.in_list(post, "bookmarked_at") for post in POSTS]
LINES: Final = [PARTS.in_line(post, "bookmarked_at") for post in POSTS]
_LABELS: Final = ["birds", "databases", "field notes", "quiet web", "to read", "تصميم"]
_HITS: Final = {"field": "text", "html": "…is not a <mark>nest</mark>. The male builds it"}

LIST: Final[Values] = {
    "email": "nora.van.der.meer@example.org",
    "is_owner": False,
    "drafts": "note 1 ",
    "unsent": {},
    "csrf": "c5rf",
    "message": "",
    "problem": "",
    "title": "Unread",
    "states": [
        ("bead", "Unread", "/library", 312),
        ("library", "All posts", "/library?is_unread_only=false&hide_archived=false", 4_218),
        ("archive", "Archive", "/library?is_unread_only=false&is_archived_only=true", 918),
        ("trash", "Trash", "/trash", None),
    ],
    "side_views": [
        ("Birds this week", "/views/birds", "14"),
        ("Long reads", "/views/long-reads", ""),
    ],
    "side_labels": [{**post_parts.label(name), "count": 23} for name in _LABELS],
    "label_names": _LABELS,
    "label_total": 23,
    "labels_shown": 12,
    "here": "/library",
    "back": "/library",
    "undo": None,
    "undo_post": "",
    "search": "",
    "hints": [],
    "mode": "both",
    "kept_fields": [("tag", "birds")],
    "account_total": 4_218,
    "search_words": "Search 4,218 posts",
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
    "edit_url": "",
    "save_url": "",
    "groups": [("Today", LISTED[:3]), ("Yesterday", LISTED[3:6]), ("Aug 2026", LISTED[6:])],
    "shown_count": 14,
    "total": 312,
    "is_best": False,
    "older": "/library?cursor=abc",
    "newer": "",
    "is_unread_only": True,
    "hides_archived": True,
    "is_cut": False,
    "pending": "",
    "relaxed": "",
    "hidden": 0,
    "hidden_url": "",
    "meant": "",
    "meant_url": "",
    "can_show_images": True,
    "shows_images": False,
    "is_archive": False,
}
_SEARCH: Final[Values] = LIST | {
    "title": "Search: nest",
    "here": "/library?q=nest",
    "search": "nest",
    "hints": ["OR needs a word on both sides."],
    "save_url": "/views/new?q=nest",
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
                PARTS.in_list({**POSTS[0], "highlight": _HITS}, "posted_at", is_searched=True),
                PARTS.in_list(POSTS[4], "posted_at", is_searched=True),
            ],
        )
    ],
    "pending": "Search by meaning cannot find 12 posts yet. Search by words finds them.",
}


_NOTE: Final = (
    "Print the *feather* for the birthday. Ask **Oren** about paper.\n\n"
    "- [the recipe](https://example.org/recipe)\n- two iron salts\n\n> like a shop window"
)


def _noted(post: Values) -> Values:
    """The post with a note, a highlight with a comment, and one that is lost."""
    details = post["tweet_details"]
    field = "article" if details.get("article") else "text"
    text = details["article"]["plain_text"] if field == "article" else details["text"]
    passage = {"id": "a1", "field": field, "quote": text[4:40], "start": 4, "end": 40}
    lost = {"id": "b2", "field": "text", "quote": "words that an edit removed"}
    commented = passage | {"comment": "The best sentence of it."}
    return post | {"note": _NOTE, "highlights": [commented, lost]}


def _post(number: int, strand: list[int], *, is_noted: bool = False) -> Values:
    shown = _noted(POSTS[number]) if is_noted else POSTS[number]
    post = PARTS.on_page(shown)
    return LIST | {
        "title": post["name"],
        "post": post,
        "network": "X",
        "strand": [PARTS.on_page(shown if each == number else POSTS[each]) for each in strand],
        "near": [PARTS.nearby(POSTS[each]) for each in (0, 6, 5)],
        "list_before": "/library?tag=birds",
        "previous": "",
        "following": "/p/2?from=%2Flibrary%3Ftag%3Dbirds",
        "undo_annotation": "",
        "note_max": 20_000,
        "name_problem": name_problem,
        "quote_max": 2_000,
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
    "library-relaxed": (
        "library.html",
        _SEARCH
        | {
            "hidden": 2,
            "hidden_url": "/library?q=blue",
            "relaxed": "No post has all of these words. These have some of them.",
            "meant": "blue nest",
            "meant_url": "/library?q=blue+nest",
        },
    ),
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
            "heading": "2 posts",
            "edit_url": "/views/long-reads/edit",
            "buckets": [
                {"text": "All", "url": "/views/long-reads", "is_chosen": True, "count": ""},
                {
                    "text": "Birds",
                    "url": "/views/long-reads?bucket=birds",
                    "is_chosen": False,
                    "count": "5",
                },
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
    "library_empty": (
        "library_empty.html",
        LIST | {"side_labels": [], "label_total": 0, "demo_size": 42},
    ),
    "library-demo": ("library.html", LIST | {"is_demo": True}),
    "library_read": ("library_read.html", LIST),
    "library-archive-empty": (
        "library_read.html",
        LIST | {"title": "Archive", "is_archive": True},
    ),
    "library_none": (
        "library_none.html",
        _SEARCH
        | {
            "reason": 'No post has the word "nset".',
            "meant": "nest",
            "meant_url": "/library?q=nest",
            "suggestions": [
                {"text": "Look in read and archived posts too", "url": "/library", "count": 6},
                {"text": "Search by meaning instead", "url": "/library", "count": None},
            ],
        },
    ),
    "post": ("post.html", _post(2, [2, 3])),
    "post-article": ("post.html", _post(5, [5])),
    "post-pictures": ("post.html", _post(0, [0])),
    "post-gone": ("post.html", _post(9, [9])),
    "post-noted": (
        "post.html",
        _post(2, [2], is_noted=True)
        | {"unsent": {"add": "x" * 120}}
        | {"message": "The highlight is removed.", "undo_annotation": "a1"},
    ),
    "post-article-noted": ("post.html", _post(5, [5], is_noted=True)),
}
