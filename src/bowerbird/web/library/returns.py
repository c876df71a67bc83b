"""Where a form returns to, and what that page says about the change."""

from typing import Final
from urllib.parse import parse_qsl, urlencode, urlsplit

from bowerbird.web.library.addresses import LIBRARY
from bowerbird.web.visits.visit import is_own_path

# Pages with posts or labels, which can show a message about a change.
_OURS: Final = (LIBRARY, "/labels", "/p/", "/trash", "/views/")
# What an earlier message added to the address.
_SAID: Final = ("said", "post", "change")


def sender(back: str, otherwise: str = LIBRARY) -> str:
    """The page that sent a form, if it is one with posts or labels."""
    return back if is_own_path(back) and urlsplit(back).path.startswith(_OURS) else otherwise


def saying(path: str, **said: str) -> str:
    """The page with a message about a change, in place of an earlier one."""
    parts = urlsplit(path)
    kept = [(name, value) for name, value in parse_qsl(parts.query) if name not in _SAID]
    return f"{parts.path}?{urlencode([*kept, *said.items()])}"
