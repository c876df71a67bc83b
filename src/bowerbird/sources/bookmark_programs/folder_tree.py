"""Collections inside collections, as other programs export them: each one names its parent."""

from typing import Any, Final

from bowerbird.sources import file_labels
from bowerbird.sources.parsing.json_values import text_at

MAX_FOLDERS: Final = 20_000


class FolderTree:
    def __init__(self) -> None:
        # Id -> name and id of the parent, which is "" for a folder at the top.
        self._folders: dict[str, tuple[str, str]] = {}

    def __len__(self) -> int:
        return len(self._folders)

    def add(self, folder: Any) -> None:
        identifier = text_at(folder, "id")[:100]
        if identifier and len(self._folders) < MAX_FOLDERS:
            name = file_labels.shortened(text_at(folder, "name")) or ""
            self._folders[identifier] = name, text_at(folder, "parentId")[:100]

    def path(self, identifier: str) -> str:
        """One name for the folder and all that it is in. "" if there is no such folder."""
        names: list[str] = []
        # A file can make a folder its own parent.
        while identifier in self._folders and len(names) < file_labels.MAX_FOLDER_DEPTH:
            name, identifier = self._folders[identifier]
            names.insert(0, name)
        return file_labels.path(names)
