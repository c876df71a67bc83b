"""A folder of Markdown files that is kept in step with a library, such as a vault of Obsidian.

Only files of this export are replaced or removed: their names end with the id of a post and they
begin with the same id, and pictures have names of ours. Every file is replaced as a whole, and how
far the folder is in step is recorded last. So a run that was killed is repeated by the next one.
"""

import fcntl
import os
import re
from collections.abc import Collection, Iterator
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Final, Self

import msgspec
from msgspec import Struct

from bowerbird.exports.markdown_note import BEGINNING, PICTURES, Note
from bowerbird.storage import private_files

STATE: Final = ".bowerbird-export.json"
_PART: Final = ".bowerbird-export.part"
_FILE: Final = re.compile(r".*-([0-9]{1,40})\.md")
# The ids of kept pictures, with the endings of `Picture`.
_PICTURE: Final = re.compile(r"[0-9a-f]{16,64}\.(?:jpg|png|gif|webp|avif)")


class FolderRefused(Exception):  # noqa: N818 - it says what happened
    """The export cannot write into the folder. The message is for the user."""


class State(Struct, frozen=True):
    """The library that the folder shows, and the last of its events that it has."""

    account_id: str
    epoch: int
    number: int


class ExportFolder:
    """Locked while it is open: two runs would remove each other's files."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lock = -1
        # The names by id of post.
        self._names: dict[str, set[str]] = {}
        self._has_changed = False
        self.written = self.removed = self.unchanged = 0

    def __enter__(self) -> Self:
        private_files.make_folder(self._folder)
        pictures = self._folder / PICTURES
        if pictures.is_symlink():
            raise FolderRefused(f"{pictures} is a link to another folder. Remove it first.")
        self._lock = os.open(self._folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(self._lock)
            raise FolderRefused(f"Another export is writing into {self._folder}.") from None
        for entry in os.scandir(self._folder):
            if (name := _FILE.fullmatch(entry.name)) and entry.is_file(follow_symlinks=False):
                self._names.setdefault(name[1], set()).add(entry.name)
        return self

    def __exit__(
        self,
        _type: type[BaseException] | None,
        _error: BaseException | None,
        _traceback: TracebackType | None,
    ) -> None:
        os.close(self._lock)

    @property
    def state(self) -> State | None:
        """None if nothing was recorded, or nothing that can be read."""
        content = self._read(self._folder / STATE)
        try:
            return msgspec.json.decode(content or b"", type=State)
        except msgspec.MsgspecError:
            return None

    def finish(self, state: State) -> None:
        """Records the state, after all files."""
        if self._has_changed:
            self._remove_unused_pictures()
        self._write(self._folder / STATE, msgspec.json.encode(state) + b"\n")

    def put(self, post_id: str, note: Note) -> None:
        path, content = self._folder / note.name, note.text.encode(errors="replace")
        if self._read(path) == content:
            self.unchanged += 1
        else:
            # What was there before may have shown other pictures.
            self._has_changed |= post_id in self._names
            self._write(path, content)
            self.written += 1
        # After the new one, so that the post always has a file.
        for name in self._names.get(post_id, set()) - {note.name}:
            self._remove(name, post_id)
        self._names[post_id] = {note.name}

    def remove(self, post_id: str) -> None:
        # Also without a file: the run before may have been killed after it removed it.
        self._has_changed = True
        for name in self._names.pop(post_id, ()):
            self.removed += self._remove(name, post_id)

    def remove_others(self, post_ids: Collection[str]) -> None:
        """Removes the files of all posts but these."""
        for post_id in self._names.keys() - set(post_ids):
            self.remove(post_id)
        self._has_changed = True

    def has_picture(self, name: str) -> bool:
        return (self._folder / PICTURES / name).is_file()

    def put_picture(self, name: str, content: bytes) -> None:
        private_files.make_folder(self._folder / PICTURES)
        self._write(self._folder / PICTURES / name, content)

    def _remove(self, name: str, post_id: str) -> bool:
        path = self._folder / name
        is_ours = (self._read(path) or b"").startswith(f'{BEGINNING}{post_id}"\n'.encode())
        if is_ours:
            self._has_changed = True
            path.unlink(missing_ok=True)
        return is_ours

    def _remove_unused_pictures(self) -> None:
        """Pictures that no file shows any more."""
        with suppress(FileNotFoundError):
            unused = {
                entry.name
                for entry in os.scandir(self._folder / PICTURES)
                if _PICTURE.fullmatch(entry.name)
            }
            for text in self._texts() if unused else ():
                unused.difference_update(_PICTURE.findall(text))
            for name in unused:
                (self._folder / PICTURES / name).unlink(missing_ok=True)

    def _texts(self) -> Iterator[str]:
        """All files of Markdown in the folder, also those that somebody else wrote."""
        for file in self._folder.glob("*.md"):
            yield (self._read(file) or b"").decode(errors="replace")

    def _read(self, path: Path) -> bytes | None:
        """None if there is no such file, or a link instead of it."""
        try:
            descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        except OSError:
            return None
        with os.fdopen(descriptor, "rb") as file:
            return file.read()

    def _write(self, path: Path, content: bytes) -> None:
        """Replaces the file as a whole. A link at its place is replaced, not followed."""
        part = self._folder / _PART
        part.unlink(missing_ok=True)
        with os.fdopen(private_files.open_new(part), "wb") as file:
            file.write(content)
        part.replace(path)
