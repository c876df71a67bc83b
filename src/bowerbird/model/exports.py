"""An export: what was asked for, and the file that came of it."""

from typing import Final

from msgspec import Struct

KIND: Final = "export"
FOLDER: Final = "exports"
KEPT_S: Final = 24 * 3_600


def folder_of(account_id: int) -> str:
    return f"{FOLDER}/{account_id}"


class ExportQuery(Struct, frozen=True, kw_only=True):
    """The parameters of an export's job."""

    format: str
    # A list's own parameters; without the flags, read and archived bookmarks are in it too.
    given: dict[str, str] = {}
    post_ids: list[str] | None = None
    # Of the Smart View, where one was named.
    view_slug: str = ""
    view_name: str = ""
    # Of the parameters, those that narrow the view further.
    further: dict[str, str] = {}


class ExportFile(Struct, frozen=True, kw_only=True):
    """The result of an export's job: its file, and what is to be known of it."""

    name: str
    size: int
    media_type: str
    suffix: str
    notes: list[str] = []
