"""The parameters of an export, and the file it produced."""

from typing import Any, Final

from msgspec import Struct

KIND: Final = "export"
FOLDER: Final = "exports"
RETENTION_S: Final = 24 * 3_600


def folder_of(account_id: int) -> str:
    return f"{FOLDER}/{account_id}"


class ExportQuery(Struct, frozen=True, kw_only=True):
    """The parameters of an export job."""

    format: str
    # Query parameters as for a list. Unlike a list, an export includes read and archived
    # bookmarks by default.
    given: dict[str, Any] = {}
    post_ids: list[str] | None = None
    # The Smart View, if the request named one.
    view_slug: str = ""
    view_name: str = ""
    # The parameters that the request added to those of the view.
    further: dict[str, Any] = {}


class ExportFile(Struct, frozen=True, kw_only=True):
    """The result of an export job. The notes are for the user."""

    name: str
    size: int
    media_type: str
    suffix: str
    notes: list[str] = []
