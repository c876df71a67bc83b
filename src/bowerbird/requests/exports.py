"""Requests that start and fetch exports."""

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar

from msgspec import Meta, Struct, field

from bowerbird.requests.fields import PostIds, about, unique
from bowerbird.requests.filter_values import read_flag
from bowerbird.requests.filters import BookmarkQuery, check_filters
from bowerbird.requests.limits import SENT_SLUG_MAX


class ExportFilters(BookmarkQuery, frozen=True, kw_only=True):
    """The filters of an export. Without any, it contains the whole library."""

    DEFAULTS: ClassVar[dict[str, bool]] = {"is_unread_only": False, "hide_archived": False}


def as_listed(given: Mapping[str, Any]) -> dict[str, Any]:
    """The filters as a list understands them: unread posts are not archived either."""
    is_unread = read_flag("is_unread_only", given.get("is_unread_only", False))
    return {"hide_archived": True, **given} if is_unread else dict(given)


class ExportRequest(ExportFilters, frozen=True, kw_only=True):
    """POST /exports/{format}."""

    view: Annotated[
        Annotated[str, Meta(max_length=SENT_SLUG_MAX)] | None,
        about("Slug of a Smart View: export what it shows."),
    ] = None
    post_ids: PostIds | None = field(name="tweet_ids", default=None)

    def __post_init__(self) -> None:
        super().__post_init__()
        check_filters(self)
        if self.post_ids is not None:
            unique(self, "post_ids")


class DownloadQuery(Struct, frozen=True):
    """GET /exports/{job_id}/file."""

    token: Annotated[str | None, about("Token of the download link.", "eyJ0b2tlbiI6MX0")] = None
