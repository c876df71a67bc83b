"""Chooses the statement that reads the keys of a list on SQLite.

SQLite has no statistics here, so it cannot know whether a filter matches five bookmarks or half of
the library. We know: the list was counted before. PostgreSQL keeps statistics and has one
statement.
"""

from typing import Final

from msgspec import Struct

from bowerbird.model.accounts import Account
from bowerbird.model.posts.filters import SORT_FIELDS, After, BookmarkFilter, Sort

# Follows an index in the order of the list and skips what does not match. Without such an index,
# it sorts the whole library.
WALK: Final = "keys"
# Starts with the posts of an author, a label, and so on, and sorts them.
MATCHES: Final = "keys_of_few"
# The walk, if an index of the dates in the filter would be slower.
PAST_DATES: Final = "keys_past_dates"
# Sorts the whole library, for an order that is nearly the one of the numbers.
SCAN: Final = "keys_by_number"

# Nanoseconds per bookmark, measured with a million of them: in an index that has the flags, and by
# number.
_WALKED: Final = 100
_LOOKED_UP: Final = 2_000
# A walk that has to look up the dates or the language of each bookmark.
_WALKED_PAST: Final = 700

# The filters whose posts an index has.
_LISTED: Final = ("author", "tag", "labels", "annotated", "linked", "post_ids")
# The columns of dates, by the name of their order.
_DATES: Final = {"posted_at": "posted", "created_at": "bookmarked"}


class ListRead(Struct, frozen=True):
    """An ordered read of a library, from a given position."""

    filter: BookmarkFilter
    sort: Sort
    after: After | None
    limit: int
    # How many bookmarks match the filter, if that is known.
    total: int | None = None

    def statement(self, account: Account) -> str:
        """The name of the statement that is probably the fastest."""
        filter = self.filter
        visible = account.visible(
            unread_only=filter.unread_only,
            hide_archived=filter.hide_archived,
            archived_only=filter.archived_only,
        )
        if filter.is_flags_only:
            return SCAN if self.sort.field == "imported_at" else WALK
        if self._is_listed and self.total is not None:
            costs = self._costs_of_listed(account, max(visible, 1), max(self.total, 1))
        elif self._is_dated and self.total is not None:
            # In the worst case, all bookmarks outside of the dates come first.
            skipped = max(visible - self.total, 0) + self.limit
            costs = {
                MATCHES: self.total * account.total // max(visible, 1) * _LOOKED_UP,
                PAST_DATES: skipped * _WALKED_PAST,
            }
        else:
            return WALK
        return min(costs, key=costs.__getitem__)

    @property
    def _is_listed(self) -> bool:
        filter = self.filter
        if filter.words is not None:
            return bool(filter.words.wanted_terms)
        is_listed = any(getattr(filter, name) is not None for name in _LISTED)
        return filter.has_rare_media or is_listed or self._looks_up_languages

    @property
    def _looks_up_languages(self) -> bool:
        """Whether a walk does: the index of languages has each one in the default order."""
        languages = self.filter.languages
        return languages is not None and (len(languages) > 1 or self.sort.field != "sort_index")

    @property
    def _is_dated(self) -> bool:
        """Whether the filter has dates, and an index has another order than these."""
        dates = [what for what in _DATES.values() if self._has_bound(what)]
        dates += [] if self.filter.updated_since is None else ["updated"]
        is_indexed = SORT_FIELDS[self.sort.field].is_indexed
        return bool(dates) and is_indexed and _DATES.get(self.sort.field) not in dates

    def _has_bound(self, what: str) -> bool:
        return any(getattr(self.filter, f"{what}_{end}") is not None for end in ("from", "to"))

    def _costs_of_listed(self, account: Account, visible: int, total: int) -> dict[str, int]:
        # Probably as many of them are hidden as of all posts.
        costs = {MATCHES: total * account.total // visible * _LOOKED_UP}
        if SORT_FIELDS[self.sort.field].is_indexed:
            walked = _WALKED_PAST if self._looks_up_languages else _WALKED
            costs[WALK] = min(self.limit * visible // total, visible) * walked
        return costs
