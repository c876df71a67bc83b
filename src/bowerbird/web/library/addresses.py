"""The URLs of lists and labels, where a form returns to, and the sidebar, which has most of them.

Their parameters have the names of the API, and a page adds `density`.
"""

import zlib
from collections.abc import Mapping, Sequence
from typing import Any, Final
from urllib.parse import parse_qsl, quote, quote_plus, unquote, urlencode, urlsplit

from msgspec import Struct

from bowerbird.library.bookmarks.trash import TrashList
from bowerbird.library.labels.label_list import LabelUse
from bowerbird.library.labels.labels import Labels
from bowerbird.library.views.counts import Count, CountState
from bowerbird.library.views.views import ViewResponse, Views
from bowerbird.model.accounts import Account, SignedIn
from bowerbird.model.labels import COLORS, name_key
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


def label(name: str, colour: str | None = None) -> Mapping[str, str]:
    """A label. `colour` is the one that was chosen for it, if any."""
    return {
        "name": name,
        "colour": colour or colour_of(name_key(name)),
        "url": everything(tag=name),
    }


def colour_of(key: str) -> str:
    """A colour that depends only on the name."""
    return COLORS[zlib.crc32(key.encode("utf-8", "replace")) % len(COLORS)]


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


_LABELS_SHOWN: Final = 12
_SUGGESTED: Final = 200
_TRASH_COUNTED: Final = 1_000
UNREAD: Final = Address(LIBRARY, {})
ALL: Final = Address(LIBRARY, {"is_unread_only": "false", "hide_archived": "false"})
ARCHIVE: Final = Address(LIBRARY, {"is_unread_only": "false", "is_archived_only": "true"})


class Sidebar:
    def __init__(self, labels: Labels, views: Views, trash: TrashList) -> None:
        self._trash = trash
        self._labels = labels
        self._views = views

    async def values(self, visitor: SignedIn) -> dict[str, Any]:
        """What `app.html` takes, and the labels that a form suggests."""
        account, star = visitor.account, visitor.star
        uses, total = await self._labels.listed.uses(account)
        colours = await self.colours(account)
        return {
            "states": [
                ("bead", "Unread", UNREAD.url(), account.fresh),
                ("library", "All posts", ALL.url(), account.total),
                *_favourites(star, uses),
                ("archive", "Archive", ARCHIVE.url(), account.archived),
                ("trash", "Trash", TRASH, await self._trashed(account)),
            ],
            "side_views": await self._views_of(account),
            # The plan of a free account refuses the list of a label.
            "side_labels": []
            if account.is_free
            else [_side_label(use, colours) for use in _most_used(uses, star)],
            "label_names": [use.label_name for use in uses[:_SUGGESTED]],
            "label_total": total,
            "labels_shown": _LABELS_SHOWN,
        }

    async def colours(self, account: Account) -> Mapping[str, str]:
        """The colours that were chosen, by the name of the label."""
        return await self._labels.listed.colors(account)

    async def _trashed(self, account: Account) -> int | str:
        """Every page counts them, so as far as a limit."""
        count = await self._trash.count(account, _TRASH_COUNTED)
        return count if count < _TRASH_COUNTED else f"{_TRASH_COUNTED:,} or more"

    async def _views_of(self, account: Account) -> Sequence[tuple[str, str, str]]:
        views = await self._views.pinned(account)
        return [(view.name, of_view(view.slug), shown_count(view)) for view in views]


def shown_count(count: Count | ViewResponse) -> str:
    """A count for a page, or nothing as long as it is not known.

    The count of an earlier version of the library is about the number of posts in the list.
    """
    value = count.value if isinstance(count, Count) else count.count
    state = count.state if isinstance(count, Count) else count.count_state
    if state is CountState.EXACT:
        return f"{value:,}"
    return f"about {value:,}" if value else ""


def _favourites(star: str, uses: list[LabelUse]) -> list[tuple[str, str, str, int]]:
    """The posts with a star, if the plan has stars."""
    key = name_key(star)
    count = sum(use.count for use in uses if name_key(use.label_name) == key)
    return [("star", "Favourites", everything(tag=star), count)] if star else []


def _most_used(uses: list[LabelUse], star: str) -> list[LabelUse]:
    """The labels with the most posts, in the order of their names. The star has its own place."""
    key = name_key(star)
    used = [use for use in uses if use.count and name_key(use.label_name) != key]
    most = {use.label_name for use in sorted(used, key=lambda u: -u.count)[:_LABELS_SHOWN]}
    return [use for use in used if use.label_name in most]


def _side_label(use: LabelUse, colours: Mapping[str, str]) -> dict[str, Any]:
    name = use.label_name
    return {**label(name, colours.get(name)), "count": use.count}
