"""The meta of each kind of success answer."""

from msgspec import UNSET, Struct, UnsetType

from bowerbird.library.bulk.requests import BulkChange


class QueryMeta(Struct, frozen=True, kw_only=True):
    """Of every read but a file. `AnswerCache` sets it, or the route if there is no cache."""

    ignored_parameters: list[str] | UnsetType = UNSET


class PageMeta(QueryMeta, frozen=True, kw_only=True):
    next_cursor: str | None
    limit: int
    total_count: int
    count: int


class ListMeta(PageMeta, frozen=True, kw_only=True):
    hint: str | UnsetType = UNSET
    relaxed: bool | UnsetType = UNSET
    did_you_mean: str | UnsetType = UNSET
    vector_pending: int | UnsetType = UNSET


class FacetMeta(QueryMeta, frozen=True, kw_only=True):
    by: str
    count: int
    total_count: int
    bookmarks: int
    bookmarks_read: int | UnsetType = UNSET


class LabelListMeta(QueryMeta, frozen=True, kw_only=True):
    """Empty unless limit or cursor is sent."""

    next_cursor: str | UnsetType | None = UNSET
    limit: int | UnsetType = UNSET
    total_count: int | UnsetType = UNSET
    count: int | UnsetType = UNSET


class DigestListMeta(PageMeta, frozen=True, kw_only=True):
    pass


class ImportListMeta(PageMeta, frozen=True, kw_only=True):
    pass


class MessageMeta(Struct, frozen=True):
    message: str


class ChangeMeta(Struct, frozen=True):
    message: str
    affected: int
    not_found: list[str]
    further_ids: list[str] | UnsetType = UNSET
    not_changed: list[str] | UnsetType = UNSET
    # Of a request with filter.
    change: BulkChange | UnsetType = UNSET


class ViewListMeta(QueryMeta, frozen=True, kw_only=True):
    counts_pending: int | UnsetType = UNSET
