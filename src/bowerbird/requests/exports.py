"""Requests that start and fetch exports, and read digests."""

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar

from msgspec import Meta, Struct, field

from bowerbird.model.digests import Frequency
from bowerbird.requests.bookmarks import PageQuery
from bowerbird.requests.fields import PostIds, TimeZone, about, unique
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


FORMATS = ("json", "markdown", "html")


class DigestsQuery(PageQuery, frozen=True):
    """GET /digests."""


class DigestQuery(Struct, frozen=True):
    """GET /digests/{digest_id}."""

    format: Annotated[
        str | None,
        about(
            "Return only this form; json leaves out Markdown and HTML.",
            "markdown",
            parameter={"enum": list(FORMATS)},
        ),
    ] = None


class PreferencesRequest(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """PATCH /digests/preferences: the fields that are sent change."""

    frequency: Annotated[
        Frequency | None, about("off, daily or weekly.", parameter={"enum": list(Frequency)})
    ] = None
    time_zone: Annotated[
        TimeZone | None,
        about(
            "A name of the time zone database, such as Europe/Berlin.",
            argument={"description": "Such as Europe/Berlin."},
        ),
    ] = None
    hour: Annotated[
        Annotated[int, Meta(ge=0, le=23)] | None,
        about(
            "Hour of the day after the period at which the digest is created, 0 to 23.",
            argument={"description": "Hour of the day, 0 to 23."},
        ),
    ] = None
    mail: Annotated[
        bool | None,
        about(
            "Whether each new digest is emailed to the account's address.",
            argument={"description": "Also by email."},
        ),
    ] = None
    highlight: Annotated[
        bool | None,
        about(
            "Whether each digest has one of your notes or highlights, that of its day.",
            argument={"description": "With one of their highlights."},
        ),
    ] = None
