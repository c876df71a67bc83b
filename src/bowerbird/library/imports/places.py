"""The place of a found post in the library: its index and the time of saving.

An index of X wins over a date of saving. A position in a list places only new posts. Of two
indexes of X, or of two dates, the later one wins, because a post that is saved again moves up. A
date that is later than the stored index of X wins for the same reason; an earlier one changes
nothing.
"""

from typing import Final, NamedTuple

from msgspec import UNSET, UnsetType

from bowerbird.library.bookmarks.writing.upsert_batch import index_of
from bowerbird.model import instants
from bowerbird.model.imports import Deletion, ExistingBookmark, OrderSource
from bowerbird.sources.found import FoundPost

# The bits of an index below its milliseconds.
_LOW_BITS: Final = 20
_LOW: Final = (1 << _LOW_BITS) - 1
# Clocks differ. A moment further ahead than this is no moment of saving.
_MAX_AHEAD: Final = 5 * 60 * 1_000_000


class Place(NamedTuple):
    """An unset value stays as it is in the library, or gets the default."""

    order_source: int
    sort_index: int | UnsetType = UNSET
    bookmarked_at: int | UnsetType = UNSET
    # Whether the place comes from the position in a list.
    is_counted: bool = False


class Positions:
    """Gives posts of a list places below the start of their run, in the order of the list."""

    def __init__(self, started_at: int, placed: int) -> None:
        self._first = index_of(started_at) | _LOW
        self.placed = placed

    def next(self) -> int:
        self.placed += 1
        return self._first - self.placed


def place(
    found: FoundPost,
    stored: ExistingBookmark | None,
    now: int,
    positions: Positions,
    *,
    is_older: bool = False,
) -> Place:
    """`is_older`: the post was captured before something else that is known about it."""
    offered = _offered(found, now)
    if stored is None:
        if offered.order_source == OrderSource.FILE_POSITION:
            return Place(OrderSource.FILE_POSITION, positions.next(), is_counted=True)
        return offered
    if offered.order_source < stored.order_source:
        # The post was saved again since X gave the index. The rank stays, so that an older page
        # does not move the post back.
        is_saved_again = offered.order_source == OrderSource.SAVED_DATE and _is_later(
            offered, stored
        )
        where = offered if is_saved_again else Place(stored.order_source)
        return where._replace(order_source=stored.order_source)
    if offered.order_source == stored.order_source:
        is_later = offered.sort_index is not UNSET and offered.sort_index > stored.sort_index
        return offered if is_later else Place(stored.order_source)
    if offered.order_source == OrderSource.FILE_POSITION:
        # A list without dates does not say that the post was saved again.
        return Place(stored.order_source)
    # An event may have said that the post was saved again after the page was captured.
    is_past = (
        is_older and stored.order_source == OrderSource.SAVED_DATE and _is_earlier(offered, stored)
    )
    return Place(stored.order_source) if is_past else offered


def later_index(where: Place, sort_index: int) -> Place:
    """The place of a valid index of X, unless the other place is a later index."""
    is_index = where.order_source == OrderSource.X
    if is_index and where.sort_index is not UNSET and where.sort_index >= sort_index:
        return where
    return Place(OrderSource.X, sort_index, (sort_index >> _LOW_BITS) * 1000)


def _is_later(offered: Place, stored: ExistingBookmark) -> bool:
    """Whether a date is after the millisecond of a stored index."""
    if offered.sort_index is UNSET:
        return False
    return offered.sort_index >> _LOW_BITS > stored.sort_index >> _LOW_BITS


def _is_earlier(offered: Place, stored: ExistingBookmark) -> bool:
    """Whether an index is before the millisecond of a stored date."""
    if offered.sort_index is UNSET:
        return False
    return offered.sort_index >> _LOW_BITS < stored.sort_index >> _LOW_BITS


def comes_back(found: FoundPost, deletion: Deletion, now: int) -> bool:
    """Whether a post was saved again after its owner deleted it."""
    offered = _offered(found, now)
    if offered.sort_index is UNSET:
        return False
    if offered.order_source == OrderSource.X:
        return offered.sort_index > deletion.sort_index
    return offered.sort_index > max(deletion.sort_index, index_of(deletion.deleted_at) | _LOW)


def _offered(found: FoundPost, now: int) -> Place:
    record = found.record
    order = found.order_source
    saved_at = None if record.bookmarked_at is UNSET else instants.parse(record.bookmarked_at)
    if order == OrderSource.X and record.sort_index is not UNSET:
        if saved_at is None:
            saved_at = _moment(found, record.sort_index, now)
        return Place(order, record.sort_index, UNSET if saved_at is None else saved_at)
    if order == OrderSource.SAVED_DATE and saved_at is not None:
        # A file with days but no times lists the newest first.
        below = _LOW - min(max(found.line, 0), _LOW)
        return Place(order, index_of(saved_at) | below, saved_at)
    if order == OrderSource.FILE_POSITION:
        return Place(order)
    return Place(OrderSource.IMPORT, bookmarked_at=UNSET if saved_at is None else saved_at)


def _moment(found: FoundPost, sort_index: int, now: int) -> int | None:
    """The moment in an index of X; None if it cannot be the moment of saving."""
    moment = (sort_index >> _LOW_BITS) * 1000
    posted_at = found.record.tweet_details.posted_at
    posted = (instants.parse(posted_at) if posted_at else None) or 0
    is_sane = posted <= moment <= now + _MAX_AHEAD and str(sort_index) != found.record.post_id
    return moment if is_sane and moment > 0 else None
