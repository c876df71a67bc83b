"""The URLs of lists, and where a form returns to.

Their parameters have the names of the API, and a page adds `density`.
"""

from collections.abc import Mapping
from typing import Final
from urllib.parse import parse_qsl, quote, quote_plus, unquote, urlencode, urlsplit

from msgspec import Struct

from bowerbird.requests.bookmarks import ListQuery
from bowerbird.requests.filter_values import plain_name
from bowerbird.web.visits.visit import is_own_path

LIBRARY: Final = "/library"
LABELS: Final = "/labels"
TRASH: Final = "/trash"
_VIEWS: Final = "/views/"
DENSITY: Final = "density"
COMPACT: Final = "compact"
GRID: Final = "grid"
_POSTS: Final = "/posts"
# In this order, so that the same list has the same URL. A bound has one name here.
NAMES: Final = (
    *(name for name in ListQuery.__struct_encode_fields__ if plain_name(name) == name),
    "bucket",
    DENSITY,
)
_ORDER: Final = {name: place for place, name in enumerate(NAMES)}
# Without these, a list starts at its first page.
_PLACE: Final = ("cursor", "sort_cursor")


def sharing(**named: str) -> str:
    """The page that shares a label by its name, or a view by its slug."""
    return f"/sharing/new?{urlencode(named)}"


class Address(Struct, frozen=True):
    """A list: its path and its parameters."""

    path: str
    values: Mapping[str, str]

    def url(self) -> str:
        values = self.values
        # A page has hundreds of them, each with few parameters.
        names = sorted([name for name in values if name in _ORDER], key=_ORDER.__getitem__)
        sent = "&".join([f"{name}={quote_plus(values[name])}" for name in names if values[name]])
        return f"{self.path}?{sent}" if sent else self.path

    def changed(self, **values: str | None) -> "Address":
        """The first page of the list with other parameters; None removes one."""
        kept = {name: value for name, value in self.values.items() if name not in _PLACE}
        return Address(self.path, kept | {name: value or "" for name, value in values.items()})

    def continued(self, cursor: str) -> "Address":
        """The page after a cursor; without one, the first page."""
        return Address(self.path, {**self.changed().values, "cursor": cursor})

    def fields(self, *without: str) -> list[tuple[str, str]]:
        """The parameters of the first page that a form sends along, except these."""
        values = self.changed().values
        return [(name, values[name]) for name in NAMES if values.get(name) and name not in without]


def address_of(path: str, query: Mapping[str, str]) -> Address:
    """The list at a path with the parameters of a request."""
    return Address(path, {name: query[name] for name in NAMES if query.get(name)})


def everything(**values: str) -> str:
    """The URL of a list of read, unread and archived posts, which every count includes."""
    shown = {"is_unread_only": "false", "hide_archived": "false", **values}
    return Address(LIBRARY, shown).url()


def of_view(slug: str) -> str:
    """The URL of a Smart View. "new" is the page that creates one."""
    return f"{_VIEWS}{quote(slug, safe='')}{_POSTS if slug == 'new' else ''}"


def view_of(path: str) -> str:
    """The slug of the Smart View at this path; "" for another path."""
    return unquote(path.removeprefix(_VIEWS).removesuffix(_POSTS)) if is_view(path) else ""


def is_view(path: str) -> bool:
    return path.startswith(_VIEWS)


def returning(text: str) -> str:
    """The list that a page was opened from, if it is one of ours; otherwise ''.

    It has no message: that was about a change before.
    """
    # Checked first: `urlsplit` does not read every text.
    if not is_own_path(text):
        return ""
    parts = urlsplit(text)
    if parts.path != LIBRARY and not is_view(parts.path):
        return ""
    return Address(parts.path, dict(parse_qsl(parts.query))).url()


def of_post(post_id: str) -> str:
    is_plain = post_id.isascii() and post_id.isdigit()
    return f"/p/{post_id if is_plain else quote(post_id, safe='')}"


# Pages with posts or labels, which can show a message about a change.
_OURS: Final = (LIBRARY, "/activity", LABELS, "/p/", TRASH, "/views")
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
