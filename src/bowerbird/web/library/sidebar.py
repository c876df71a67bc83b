"""The sidebar of every page: states with their counts, Smart Views and labels."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from bowerbird.library.bookmarks.trash import TrashList
from bowerbird.library.labels.label_list import LabelUse
from bowerbird.library.labels.labels import Labels
from bowerbird.library.views.counts import Count, CountState
from bowerbird.library.views.views import ViewResponse, Views
from bowerbird.model.accounts import Account, SignedIn
from bowerbird.model.labels import name_key
from bowerbird.web.library import post_parts
from bowerbird.web.library.addresses import LIBRARY, TRASH, Address, everything, of_view

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
            else [_label(use, colours) for use in _most_used(uses, star)],
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


def _label(use: LabelUse, colours: Mapping[str, str]) -> dict[str, Any]:
    name = use.label_name
    return {**post_parts.label(name, colours.get(name)), "count": use.count}
