"""The library in the sidebar: states with their counts, Smart Views and labels."""

from collections.abc import Mapping
from typing import Any, Final

from bowerbird.library.labels.label_list import LabelUse
from bowerbird.library.labels.labels import Labels
from bowerbird.library.views.counts import Count, CountState
from bowerbird.library.views.views import ViewResponse, Views
from bowerbird.model.accounts import Account
from bowerbird.web.bulk.requests import TRASH
from bowerbird.web.library import post_parts
from bowerbird.web.library.addresses import LIBRARY, Address, of_view

_LABELS_SHOWN: Final = 12
_SUGGESTED: Final = 200
UNREAD: Final = Address(LIBRARY, {})
ALL: Final = Address(LIBRARY, {"is_unread_only": "false", "hide_archived": "false"})
ARCHIVE: Final = Address(LIBRARY, {"is_unread_only": "false", "is_archived_only": "true"})


class Sidebar:
    def __init__(self, labels: Labels, views: Views) -> None:
        self._labels = labels
        self._views = views

    async def values(self, account: Account) -> dict[str, Any]:
        """What `library_side.html` takes, and the labels that a form suggests."""
        views = await self._views.pinned(account)
        uses, total = await self._labels.listed.uses(account)
        colours = await self.colours(account)
        return {
            "states": [
                ("bead", "Unread", UNREAD.url(), account.fresh),
                ("library", "All posts", ALL.url(), account.total),
                ("archive", "Archive", ARCHIVE.url(), account.archived),
                ("trash", "Trash", TRASH, None),
            ],
            "side_views": [(view.name, of_view(view.slug), shown_count(view)) for view in views],
            "side_labels": [_label(use, colours) for use in _most_used(uses)],
            "label_names": [use.label_name for use in uses[:_SUGGESTED]],
            "label_total": total,
            "labels_shown": _LABELS_SHOWN,
        }

    async def colours(self, account: Account) -> Mapping[str, str]:
        """The colours that were chosen, by the name of the label."""
        return await self._labels.listed.colors(account)


def shown_count(count: Count | ViewResponse) -> str:
    """A count for a page, or nothing as long as it is not known.

    The count of an earlier version of the library is about the number of posts in the list.
    """
    value = count.value if isinstance(count, Count) else count.count
    state = count.state if isinstance(count, Count) else count.count_state
    if state is CountState.EXACT:
        return f"{value:,}"
    return f"about {value:,}" if value else ""


def _most_used(uses: list[LabelUse]) -> list[LabelUse]:
    """The labels with the most posts, in the order of their names."""
    used = [use for use in uses if use.count]
    most = {use.label_name for use in sorted(used, key=lambda u: -u.count)[:_LABELS_SHOWN]}
    return [use for use in used if use.label_name in most]


def _label(use: LabelUse, colours: Mapping[str, str]) -> dict[str, Any]:
    name = use.label_name
    return {**post_parts.label(name, colours.get(name)), "count": use.count}
