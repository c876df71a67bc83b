"""The place of a saved post in its list, and the moment when it was saved."""

from typing import Final, NamedTuple

from msgspec import UNSET, UnsetType

from bowerbird.model import instants
from bowerbird.model.bookmarks import ImportRecord
from bowerbird.sources.found import FoundPost, OrderSource
from bowerbird.sources.x import dates
from bowerbird.sources.x.posts import Saved

_SAVED_AT_SHIFT: Final = 20
# Clocks differ. A moment further ahead than this is no moment of saving.
_MAX_AHEAD_US: Final = 5 * 60 * 1_000_000
# 2006-03-21, the day of the first post.
_FIRST_POST_US: Final = 1_142_899_200_000_000


class Place(NamedTuple):
    sort_index: int | UnsetType = UNSET
    bookmarked_at: str | UnsetType = UNSET
    source: OrderSource | None = None


UNPLACED: Final = Place()


def place(saved: Saved, sort_index: int | None, now: int) -> Place:
    """Reads X's index of a bookmark: the milliseconds of its saving, shifted by 20 bits.

    An index that is the id of the post, or that is earlier than the post or in the future, is not
    such a moment. Then only the order of the list counts.
    """
    ids = (saved.content.post_id, saved.via_repost)
    moment = _moment(sort_index, ids, saved.content.posted_at, now)
    if sort_index is None or moment is None:
        return Place(source=OrderSource.FILE_POSITION)
    return Place(sort_index, instants.with_offset(moment), OrderSource.X)


def valid_index(sort_index: int | None, post_id: str, now: int) -> int | None:
    """The index of a post of which only the id is known, if it is a moment of saving."""
    is_valid = _moment(sort_index, (post_id,), dates.of_post(post_id), now) is not None
    return sort_index if is_valid else None


def _moment(sort_index: int | None, ids: tuple[str, ...], posted_at: str, now: int) -> int | None:
    if sort_index is None or str(sort_index) in ids:
        return None
    moment = (sort_index >> _SAVED_AT_SHIFT) * 1000
    posted = instants.parse(posted_at) if posted_at else None
    earliest = max(_FIRST_POST_US, _FIRST_POST_US if posted is None else posted)
    return moment if earliest <= moment <= now + _MAX_AHEAD_US else None


def found(saved: Saved, line: int, place: Place, tags: tuple[str, ...] = ()) -> FoundPost:
    author = saved.content.author
    record = ImportRecord(
        post_id=saved.content.post_id,
        tweet_details=saved.details,
        author_id=author.id,
        author_username=author.username,
        author_details=author.details,
        sort_index=place.sort_index,
        bookmarked_at=place.bookmarked_at,
        tags=list(tags) if tags else UNSET,
    )
    return FoundPost(
        record=record,
        line=line,
        completeness=saved.completeness,
        order_source=place.source,
        source_id=saved.content.post_id,
        via_repost=saved.via_repost,
        versions=saved.versions,
    )
