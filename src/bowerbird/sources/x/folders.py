"""The folders of saved posts that X has, whose names become labels."""

from msgspec import Struct

from bowerbird.sources.x.pages import without_list


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
    is_blank: bool = False


def without_folders(document: object) -> Folders:
    page = without_list(document, "The page has no list of folders.")
    return Folders(errors=page.errors, is_unknown_form=page.is_unknown_form, is_blank=page.is_blank)
