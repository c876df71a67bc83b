"""Requests that read digests and change their preferences."""

from typing import Annotated

from msgspec import Meta, Struct

from bowerbird.model.digests import Frequency
from bowerbird.requests.bookmarks import PageQuery
from bowerbird.requests.fields import TimeZone, about

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
