"""Which list a request to version 2 of X's API asks for."""

import re
from typing import Final
from urllib.parse import urlsplit

from bowerbird.sources.x.requests import Operation, PageRequest

_FOLDERS: Final = re.compile(r"/2/users/[0-9]{1,20}/bookmarks/folders(?:/([0-9]{1,20}))?")


def folder_request(url: str) -> PageRequest | None:
    """The list of folders, or the posts of one; None for any other request."""
    try:
        path = urlsplit(url).path
    except ValueError:
        return None
    found = _FOLDERS.fullmatch(path)
    if found is None:
        return None
    if found[1] is None:
        return PageRequest(operation=Operation.FOLDERS)
    return PageRequest(operation=Operation.FOLDER, folder_id=found[1])
