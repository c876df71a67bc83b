"""Example values for the page of sources, in each state that looks different."""

from typing import Final

from tests.web.example_values import AUGUST, FRAME, SEPTEMBER, TODAY, Values

_SOURCE: Final[Values] = {
    "id": "3f9c",
    "network": "Mastodon",
    "name": "alice@social.example",
    "state": "up to date",
    "state_kind": "on",
    "problem": "",
    "last_run": TODAY,
    "next_run": SEPTEMBER,
    "new": 3,
    "changed": 0,
    "total": 1_204,
    "is_active": True,
    "is_paused": False,
    "is_unfinished": False,
    "is_x": False,
    "must_connect": False,
    "again": [("mastodon_server", "https://social.example")],
    "secret": {"name": "mastodon_token", "label": "New access token"},
    "interval": "3600",
    "posts_per_day": 2_000,
    "spent": 0,
    "estimate": None,
}
_X: Final[Values] = _SOURCE | {
    "id": "77aa",
    "network": "X",
    "name": "@alice",
    "is_x": True,
    "again": [],
    "secret": None,
    "spent": 180,
    "changed": 12,
}
_ESTIMATE: Final[Values] = {
    "posts": 2_516,
    "is_example": False,
    "cost": "$12.58",
    "owned_cost": "$2.52",
    "per_post": "$0.005",
    "per_owned_post": "$0.001",
    "per_user": "$0.010",
    "authors_cost": "$12.34",
    "day_cost": "$10.00",
    "day_owned_cost": "$2.00",
}
_PRICED: Final[Values] = _X | {
    "is_active": False,
    "state": "waits for your consent",
    "state_kind": "hold",
    "last_run": None,
    "next_run": "when you resume it",
    "estimate": _ESTIMATE,
}
_REVOKED: Final[Values] = _X | {
    "state": "needs a new token",
    "state_kind": "err",
    "problem": "X rejected the saved token. It was revoked, or it has expired. Connect again.",
    "next_run": "when you connect again",
    "must_connect": True,
}
_REVOKED_MASTODON: Final[Values] = _SOURCE | {
    "id": "9d01",
    "name": "bob@social.example",
    "state": "needs a new token",
    "state_kind": "err",
    "problem": "Mastodon rejected the saved token. It was revoked, or it has expired. "
    "Connect again.",
    "next_run": "when you connect again",
    "must_connect": True,
}
_RUNNING: Final[Values] = _SOURCE | {
    "id": "7e11",
    "name": "carol@social.example",
    "state": "running",
    "state_kind": "busy",
    "next_run": "now",
}
_BLUESKY: Final[Values] = _SOURCE | {
    "id": "b1ue",
    "network": "Bluesky",
    "name": "@تصميم.test",
    "state": "paused",
    "state_kind": "hold",
    "is_active": False,
    "is_paused": True,
    "next_run": "when you resume it",
}
_UNFINISHED: Final[Values] = _X | {
    "name": "",
    "state": "not connected yet",
    "state_kind": "hold",
    "is_active": False,
    "is_unfinished": True,
    "last_run": None,
    "next_run": "when you resume it",
}
_PAGE: Final[Values] = FRAME | {
    "sources": [_SOURCE, _REVOKED, _REVOKED_MASTODON, _RUNNING, _BLUESKY],
    "devices": [
        {
            "id": "d1",
            "name": "Firefox on the <laptop>",
            "state": "complete",
            "state_kind": "on",
            "last_run": AUGUST,
            "new": 20,
            "changed": 1,
        },
        {
            "id": "d2",
            "name": "",
            "state": "not used yet",
            "state_kind": "",
            "last_run": None,
            "new": 0,
            "changed": 0,
        },
    ],
    "unread": 0,
    "most": 10,
    "intervals": [("1800", "every 30 minutes"), ("3600", "every hour")],
    "x_return_url": "https://library.example/sources/x/return",
    "typed": {},
    "errors": {"9d01": "social.example did not accept the token."},
    "mark": "7e11:running",
}
EXAMPLES: Final[dict[str, tuple[str, Values]]] = {
    "sources": ("sources.html", _PAGE),
    "sources-priced": ("sources.html", _PAGE | {"sources": [_PRICED], "devices": []}),
    "sources-unread": ("sources.html", _PAGE | {"sources": [], "unread": 1_204}),
    "sources-empty": (
        "sources.html",
        _PAGE
        | {
            "sources": [],
            "devices": [],
            "typed": {"mastodon_server": "social.example"},
            "errors": {"mastodon": "social.example did not accept the token.", "x": "No."},
        },
    ),
    "sources-full": (
        "sources.html",
        _PAGE
        | {
            "sources": [
                _UNFINISHED,
                *(_SOURCE | {"id": f"u{n}", "name": f"{n}@social.example"} for n in range(9)),
            ]
        },
    ),
}
