"""Example values of the page of labels."""

from typing import Any, Final

from bowerbird.model.labels import COLORS
from bowerbird.web.library import post_parts
from tests.web import library_examples

_NAMES: Final = (
    ("birds", 128, "blue"),
    ("cyanotype", 17, "sea"),
    ("field notes", 1_054, None),
    ("letterpress", 23, "rust"),
    (
        "a label whose name is as long as names of labels may be: it takes more than one line",
        0,
        None,
    ),
    ('<b>quiet</b> & "web"', 71, "plum"),
    ("\u062a\u0635\u0645\u064a\u0645", 9, "straw"),
    ("\u9ce5\u306e\u5de3 \U0001fab6", 1, "berry"),
)
_PAGE: Final[dict[str, Any]] = library_examples.LIST | {
    "title": "Labels",
    "here": "/labels",
    "back": "/labels",
    "search": "",
    "can_make": False,
    "name_problem": "A label has at most 100 characters; this one has 120.",
    "labels": [
        {
            **post_parts.label(name, colour),
            "id": str(number),
            "count": count,
            "chosen": colour or "",
            "derived": post_parts.label(name)["colour"],
            "edit_url": f"/labels?label={number}",
        }
        for number, (name, count, colour) in enumerate(_NAMES)
    ],
    "edited": "",
    "typed": "",
    "colours": COLORS,
    "found": 23,
    "more": "/labels?cursor=abc",
}
EXAMPLES: Final[dict[str, tuple[str, dict[str, Any]]]] = {
    "labels": ("labels.html", _PAGE),
    "labels-edited": (
        "labels.html",
        _PAGE | {"edited": "3", "problem": "A label named \u201cbirds\u201d already exists."},
    ),
    "labels-none": (
        "labels.html",
        _PAGE | {"search": "nothing", "can_make": True, "labels": [], "found": 0, "more": ""},
    ),
}
