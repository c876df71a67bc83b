"""Requests that list imports."""

from typing import Annotated

from msgspec import Struct

from bowerbird.requests import limits
from bowerbird.requests.bookmarks import Limit
from bowerbird.requests.fields import about


class ImportsQuery(Struct, frozen=True):
    """GET /imports."""

    limit: Limit = None
    cursor: Annotated[
        str | None,
        about(
            "next_cursor of the previous page, unchanged.",
            "",
            argument={"maxLength": limits.CURSOR_MAX},
        ),
    ] = None
