"""The meta of each kind of success answer."""

from msgspec import UNSET, Struct, UnsetType

from bowerbird.library.bulk.requests import BulkChange
from bowerbird.model.links import ContentState, PostContent


class QueryMeta(Struct, frozen=True, kw_only=True):
    """In the answer to every read but a file. `AnswerCache` sets it, or the route without one."""

    ignored_parameters: list[str] | UnsetType = UNSET


class BookmarkMeta(QueryMeta, frozen=True, kw_only=True):
    content_state: ContentState
    content_problem: str | UnsetType = UNSET


def content_meta(content: PostContent) -> BookmarkMeta:
    return BookmarkMeta(content_state=content.state, content_problem=content.problem or UNSET)


class PageMeta(QueryMeta, frozen=True, kw_only=True):
    next_cursor: str | None
    """Send it as cursor to get the next page. null on the last page."""
    limit: int
    """The page size that was used."""
    total_count: int
    count: int


class ListMeta(PageMeta, frozen=True, kw_only=True):
    hint: str | UnsetType = UNSET
    """Why a search found nothing, only hidden bookmarks or only similar ones, whether a search by
    meaning may help, and how many bookmarks it cannot find yet; absent otherwise."""
    relaxed: bool | UnsetType = UNSET
    """true if no bookmark has every word of q, so that those with some of the words are listed,
    best first; absent otherwise."""
    did_you_mean: str | UnsetType = UNSET
    """q with other words in place of words that no bookmark has; absent if none was probably
    misspelled."""
    vector_pending: int | UnsetType = UNSET
    """Number of bookmarks that a search by meaning cannot find yet, or only by an earlier text."""


class FacetMeta(QueryMeta, frozen=True, kw_only=True):
    by: str
    """What was counted by."""
    count: int
    """Number of values in data."""
    total_count: int
    """Number of values in all."""
    bookmarks: int
    """Number of bookmarks that match."""
    bookmarks_read: int | UnsetType = UNSET
    """Number of these that were read for their links, if not all were."""


class LabelListMeta(QueryMeta, frozen=True, kw_only=True):
    """Empty unless limit or cursor is sent."""

    next_cursor: str | UnsetType | None = UNSET
    """Send it as cursor to get the next page. null on the last page."""
    limit: int | UnsetType = UNSET
    """The page size that was used. Absent if neither limit nor cursor was sent."""
    total_count: int | UnsetType = UNSET
    """Number of labels that the account has."""
    count: int | UnsetType = UNSET
    """Number of labels on this page."""


class DigestListMeta(PageMeta, frozen=True, kw_only=True):
    pass


class ImportListMeta(PageMeta, frozen=True, kw_only=True):
    pass


class MessageMeta(Struct, frozen=True):
    message: str


class BatchMeta(Struct, frozen=True):
    message: str
    # Of all operations together, if they have changed something.
    change: BulkChange | UnsetType = UNSET


class UndoMeta(Struct, frozen=True):
    # Of flags or the trash, if they were changed.
    change: BulkChange | UnsetType = UNSET


class ChangeMeta(Struct, frozen=True):
    message: str
    affected: int
    not_found: list[str]
    further_ids: list[str] | UnsetType = UNSET
    not_changed: list[str] | UnsetType = UNSET
    # Absent if nothing has changed.
    change: BulkChange | UnsetType = UNSET


class LabelMeta(Struct, frozen=True):
    # Of the posts of the label, if they were changed.
    change: BulkChange | UnsetType = UNSET


class ViewListMeta(QueryMeta, frozen=True, kw_only=True):
    counts_pending: int | UnsetType = UNSET
    """Number of views with a count that is earlier or pending; absent if 0."""
