"""Example values for the pages of imports and exports, in each state that looks different."""

from typing import Final

from bowerbird.web.exports.pages import Option
from tests.web.example_values import AUGUST, FRAME, MARCH, SEPTEMBER, TODAY, Values

CHECKED: Final[Values] = {
    "name": "raindrop-export.csv",
    "size": "3.2 MB",
    "format": "Raindrop CSV",
    "found": 1204,
    "new": 61,
    "changed": 4,
    "unchanged": 22,
    "left_out": 1117,
    "outcomes": [
        {"name": "New posts", "count": 61, "text": "kept"},
        {"name": "Known, with more in the file", "count": 4, "text": "filled in or changed"},
        {"name": "Known already", "count": 22, "text": "left as they are"},
        {
            "name": "Links that are not posts",
            "count": 1098,
            "text": "left out: a library holds only posts",
        },
        {"name": "Not readable", "count": 19, "text": "left out"},
    ],
    "nothing_new": "",
    "labels_created": 22,
    "new_labels": ["Birds", "<b>تصميم</b>", *(f"Shelf {number}" for number in range(18))],
    "rows": [
        {"line": 455, "sentence": "The row has no end quote."},
        {"line": 0, "sentence": "<b>تصميم</b> is not a link to a post."},
    ],
    "loses_labels": True,
    "notices": ["The file has no dates of saving, so its order counts."],
}
NOTHING_NEW: Final[Values] = {
    "new": 0,
    "changed": 0,
    "rows": [],
    "notices": [],
    "labels_created": 0,
    "new_labels": [],
    "nothing_new": "Nothing in this file is new. Left out: 1,098 links that are not posts and "
    "19 rows that cannot be read.",
}
RUNS: Final = [
    {
        "id": "r1",
        "source": "dewey-2026-06.csv (Dewey CSV)",
        "client": "Firefox on Linux",
        "new": 1482,
        "changed": 3,
        "started_at": AUGUST,
        "state": "",
        "state_kind": "",
        "undo_until": SEPTEMBER,
        "posts": "/library?import_run=r1",
    },
    {
        "id": "r2",
        "source": "<b>bookmarks</b> تصميم.json",
        "client": "",
        "new": 2514,
        "changed": 0,
        "started_at": MARCH,
        "state": "undone: 2,514 posts removed",
        "state_kind": "",
        "undo_until": None,
        "posts": "",
    },
]
IMPORT: Final[Values] = FRAME | {
    "file_error": "",
    "max_size": "50 MB",
    "max_links": 100,
    "bookmarklet": "javascript:void open('http://localhost/save')",
    "links": "",
    "links_error": "",
    "saved": None,
    "runs": RUNS,
    "unread": 3,
    "run_count": 2,
    "older": "AoJ1",
    "is_first": True,
}
FILE_JOB: Final[Values] = {
    "id": "3f9c",
    "done": 1_240_000,
    "total": 3_200_000,
    "text": "1.2 MB of 3.2 MB",
}
CHECK: Final[Values] = FRAME | {
    "file": CHECKED,
    "job_id": "3f9c",
    "is_kept": True,
    "kept_until": AUGUST,
    "import_path": "",
    "with_likes": True,
}
SAVE: Final[Values] = FRAME | {
    "problem": "",
    "link": "https://x.com/bowerwatch/status/1945678901234567890",
    "post": {
        "network": "X",
        "author": "bowerwatch",
        "link": "https://x.com/bowerwatch/status/1945678901234567890",
    },
    "known_at": "",
    "supported": "X (Twitter), Mastodon, Bluesky or Reddit",
    "labels": "birds, تصميم",
    "label_names": ["birds", "<b>bold</b>"],
    "can_label": True,
}
UNDO: Final[Values] = {"run": "r1", "until": SEPTEMBER, "posts": "/library?import_run=r1"}
EXPORT: Final[Values] = {
    "id": "e1",
    "format": "PDF",
    "description": "The whole library",
    "state": "processing",
    "is_running": True,
    "is_cancelled": False,
    "progress": {"id": "e1", "done": 2610, "total": 4218, "text": "2,610 of 4,218"},
    "posts": 4218,
    "size": "",
    "error": "",
    "notes": [],
    "created_at": TODAY,
    "expires_at": None,
}
EXPORTS: Final[Values] = FRAME | {
    "total": 4218,
    "is_free": False,
    "options": [
        Option("view", "Smart View", "choice", "", [("", "All posts"), ("x", "<b>تصميم</b>")]),
        Option("is_unread_only", "Unread posts only", "flag", "true"),
        Option("tag", "Label", "text", "letterpress", suggestions=["birds", "<b>"]),
        Option("author", "Author", "text", "تصميم"),
        Option("posted_from", "Posted from", "date", "2026-07-01"),
    ],
    "is_whole": False,
    "chosen": "csv",
    "jobs": [
        EXPORT,
        EXPORT
        | {
            "id": "e2",
            "format": "CSV",
            "description": "Narrowed by tag letterpress",
            "state": "completed",
            "is_running": False,
            "posts": 23,
            "size": "41.0 kB",
            "notes": ["The fonts of this server lack characters of one script: Tibetan."],
            "expires_at": SEPTEMBER,
        },
        EXPORT
        | {
            "id": "e3",
            "state": "failed",
            "is_running": False,
            "error": "The server's disk is full, so the export could not be written.",
        },
        EXPORT | {"id": "e4", "format": "JSON", "state": "expired", "is_running": False},
    ],
    "mark": "e1",
    "max_listed": 50,
}

# Name of the example -> template and values.
EXAMPLES: Final[dict[str, tuple[str, Values]]] = {
    "save": ("save.html", SAVE),
    "save-known": ("save.html", SAVE | {"known_at": "/p/1945678901234567890"}),
    "save-other": ("save.html", SAVE | {"link": "https://<b>.example/", "post": None}),
    "save-refused": (
        "save.html",
        SAVE | {"post": None, "link": "", "can_label": False, "problem": "The link is missing."},
    ),
    "import": ("import.html", IMPORT),
    "import-refused": (
        "import.html",
        IMPORT
        | {
            "file_error": "The file is larger than 50 MB. Pack it as a zip file, or import it "
            "with the command on the server.",
            "links": "https://example.org/page",
            "links_error": "Paste at least one link.",
            "saved": {
                "sentence": "1 post saved, 1 is not a link to a post.",
                "problems": ["'https://example.org/page' is not a link to a post."],
            },
            "runs": [],
            "older": "",
        },
    ),
    "import_running": (
        "import_running.html",
        FRAME
        | {
            "is_check": False,
            "file": CHECKED,
            "with_likes": False,
            "job": FILE_JOB,
            "mark": "open",
        },
    ),
    "import_running-check": (
        "import_running.html",
        FRAME
        | {
            "is_check": True,
            "file": {"name": "posts.json", "size": "3.2 MB"},
            "with_likes": False,
            "job": FILE_JOB,
            "mark": "open",
        },
    ),
    "import_check": ("import_check.html", CHECK),
    "import_check-known": (
        "import_check.html",
        CHECK | {"file": CHECKED | NOTHING_NEW},
    ),
    "import_check-gone": ("import_check.html", CHECK | {"is_kept": False}),
    "import_check-imported": (
        "import_check.html",
        CHECK | {"is_kept": False, "import_path": "/import/files/77aa"},
    ),
    "import_done": ("import_done.html", FRAME | {"file": CHECKED, "undo": UNDO}),
    "import_failed": (
        "import_failed.html",
        FRAME
        | {
            "is_check": True,
            "error": "This file cannot be imported. It looks like a PDF.",
            "file": {"name": "report.pdf", "size": "12.0 kB"},
            "undo": None,
        },
    ),
    "import_failed-partly": (
        "import_failed.html",
        FRAME
        | {
            "is_check": False,
            "error": "The server stopped during the import. Send the file again.",
            "file": CHECKED,
            "undo": UNDO,
        },
    ),
    "exports": ("exports.html", EXPORTS),
    "exports-empty": (
        "exports.html",
        EXPORTS
        | {
            "filters": {},
            "is_whole": True,
            "jobs": [],
            "mark": "",
            "problem": "This account has started 20 exports today (UTC), the maximum.",
        },
    ),
}
