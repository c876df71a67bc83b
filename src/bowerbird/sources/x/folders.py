"""The folders of saved posts that X has, whose names become labels."""

from msgspec import Struct


class Folder(Struct, frozen=True):
    id: str
    # A valid label name, or "" if it is not known.
    name: str


class Folders(Struct, frozen=True, kw_only=True):
    folders: tuple[Folder, ...] = ()
    cursor_out: str = ""
    errors: tuple[str, ...] = ()
    # X has changed its answers.
    is_unknown_form: bool = False
