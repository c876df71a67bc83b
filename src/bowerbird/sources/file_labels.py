"""Turns the tags, folders and collections of other programs into names of labels."""

import re
import unicodedata
from collections.abc import Iterable
from typing import Final

from bowerbird.model.labels import MAX_NAME_CHARACTERS, clean_name, name_key
from bowerbird.sources.parsing.json_values import text_at

# More than a post may have, so that the importer can say which ones it left out.
MAX_NAMES_READ: Final = 1_000
MAX_FOLDER_DEPTH: Final = 50
_MAX_READ_CHARACTERS: Final = 20_000
_ELLIPSIS: Final = "…"
# Folders that programs make for links that are in none of their owner's.
_PROGRAM_FOLDERS: Final = frozenset(
    {
        *("unsorted", "unorganized"),
        *("bookmarks bar", "bookmarks toolbar", "bookmarks menu", "other bookmarks"),
        *("mobile bookmarks", "favorites bar", "favourites bar", "other favorites"),
    }
)
_QUOTED: Final = re.compile(
    r"'([^'\\]*+(?:\\.[^'\\]*+)*+)'|\"([^\"\\]*+(?:\\.[^\"\\]*+)*+)\"", re.DOTALL
)
_ESCAPE: Final = re.compile(r"\\(.)", re.DOTALL)


class Shortened(str):
    """A name that was too long, with the beginning of what it was."""

    __slots__ = ("original",)
    original: str


def _shortened(name: str, original: str) -> Shortened:
    made = Shortened(name)
    made.original = original
    return made


def names(*groups: Iterable[str]) -> list[str]:
    """Valid names, each once. A name that is too long is shortened, an empty one is dropped."""
    found: dict[str, str] = {}
    for group in groups:
        for text in group:
            if len(found) >= MAX_NAMES_READ:
                return list(found.values())
            if name := _valid(text):
                found.setdefault(name_key(name), name)
    return list(found.values())


def shortened(text: str) -> str | None:
    """A valid name for a label: without control characters, and not too long."""
    text = text[: MAX_NAME_CHARACTERS * 20]
    visible = "".join(
        " " if unicodedata.category(character) == "Cc" else character for character in text
    )
    name = " ".join(unicodedata.normalize("NFC", visible).split())
    if len(name) <= MAX_NAME_CHARACTERS:
        return clean_name(name)
    cut = clean_name(name[: MAX_NAME_CHARACTERS - 1].rstrip() + _ELLIPSIS)
    return None if cut is None else _shortened(cut, name)


def split(text: str, separators: str = ",") -> list[str]:
    """The tags in one cell: "a, b", or a list of Python as in "['a', 'b']"."""
    text = text[:_MAX_READ_CHARACTERS].strip()
    if text.startswith("[") and text.endswith("]"):
        quoted = [one or other for one, other in _QUOTED.findall(text)]
        if quoted or text == "[]":
            return [_ESCAPE.sub(r"\1", part) for part in quoted]
    return re.split(f"[{re.escape(separators)}]", text)


def tags(value: object, separators: str) -> list[str]:
    """The tags of a record: a text, or a list of texts or of objects with a name."""
    if isinstance(value, list):
        return [one if isinstance(one, str) else text_at(one, "name") for one in value]
    return split(value, separators) if isinstance(value, str) else []


def folder(text: str) -> list[str]:
    """The folder in one cell as one label, however deep it is."""
    return [path(part.strip() for part in text[:_MAX_READ_CHARACTERS].split("/"))]


def path(parts: Iterable[str]) -> str:
    """One name for a folder inside folders. The inner folders are kept if it is too long.

    "" for an outermost folder that a program made, which says nothing about its posts.
    """
    kept = [name for part in parts if (name := _valid(part))]
    if kept and name_key(kept[0]) in _PROGRAM_FOLDERS:
        kept.pop(0)
    whole = "/".join(name.original if isinstance(name, Shortened) else name for name in kept)
    joined = "/".join(kept)
    while len(joined) > MAX_NAME_CHARACTERS and len(kept) > 1:
        kept.pop(0)
        joined = f"{_ELLIPSIS}/" + "/".join(kept)
    return joined if joined == whole else _shortened(joined, whole)


def _valid(text: str) -> str | None:
    if not isinstance(text, Shortened):
        return shortened(text)
    # A folder with a long name can still be too long together with the mark before it.
    name = shortened(text)
    return None if name is None else _shortened(name, text.original)
