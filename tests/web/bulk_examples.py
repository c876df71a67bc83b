"""Example values of the pages of the trash and of large changes."""

from typing import Any, Final

from tests.web.library_examples import LINES, LIST

Values = dict[str, Any]
_MOMENTS: Final[Values] = {
    "deleted": {"iso": "2026-08-20T09:00:00+02:00", "text": "20 Aug 2026"},
    "kept_until": {"iso": "2026-09-19T09:00:00+02:00", "text": "19 Sep 2026"},
}
_TRASH: Final[Values] = LIST | {
    "here": "/trash",
    "back": "/trash",
    "posts": [{**line, **_MOMENTS} for line in LINES],
    "total": 214,
    "older": "/trash?cursor=abc",
}
_CHANGE: Final[Values] = LIST | {
    "title": "Archiving posts",
    "job": {"id": "a1", "done": 12_400, "total": 41_204, "text": "12,400 of 41,204"},
    "mark": "working",
    "can_stop": True,
}

EXAMPLES: Final[dict[str, tuple[str, Values]]] = {
    "trash": ("trash.html", _TRASH | {"message": "Restored 2 posts.", "undo_change": "a1"}),
    "trash-empty": ("trash.html", _TRASH | {"posts": [], "total": 0, "older": ""}),
    "trash_delete": (
        "trash_delete.html",
        LIST | {"here": "/trash", "count": 214, "post_ids": "", "is_all": True},
    ),
    "library_many": ("library_many.html", _CHANGE),
    "library_many-failed": (
        "library_many.html",
        _CHANGE | {"problem": "The worker stopped during the last of 3 attempts."},
    ),
}
