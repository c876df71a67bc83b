"""The formats of an export, and what its writing process gets.

It gets messages, one JSON line each, a file of posts, which is the input of every format, and a
folder of pictures with an index.
"""

from collections.abc import AsyncIterable, AsyncIterator, Iterator, Mapping
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple, TypeVar

import msgspec
from msgspec import Struct

from bowerbird.model import json_depth
from bowerbird.model.posts.media import image_urls

FormatName = Literal["pdf", "csv", "json", "markdown", "netscape"]
# Types of pictures that everything reads, the typesetter too.
_PICTURES: Final = frozenset({"image/jpeg", "image/png", "image/gif", "image/webp"})


class Format(NamedTuple):
    title: str
    # Of a choice of formats, in a few words.
    about: str
    media_type: str
    suffix: str
    # The module that writes the file from the file of posts, which is itself the JSON export.
    module: str = ""
    # The types of kept pictures that the file can have.
    pictures: frozenset[str] = frozenset()


# An id of the sandbox has the place of its format here.
FORMATS: Final[Mapping[str, Format]] = {
    "pdf": Format(
        "PDF", "To read and print, with contents", "application/pdf", ".pdf", pictures=_PICTURES
    ),
    "csv": Format(
        "CSV",
        "For a spreadsheet, one row per post",
        "text/csv; charset=utf-8",
        ".csv",
        "csv_file",
    ),
    "json": Format("JSON", "All of it; can be imported again", "application/json", ".json"),
    "markdown": Format(
        "Markdown",
        "One file per post, for Obsidian or Hugo",
        "application/zip",
        ".zip",
        "markdown_note",
        _PICTURES | {"image/avif"},
    ),
    "netscape": Format(
        "Bookmarks file",
        "Links, for browsers and bookmark programs",
        "text/html; charset=utf-8",
        ".html",
        "netscape_file",
    ),
}

ZIPPED_VOLUMES: Final = Format("PDF", "", "application/zip", ".zip")
"""The format of a PDF export that is too large for one document."""


MEBIBYTE: Final = 1 << 20

OUT_OF_MEMORY: Final = 3
"""Exit status of a process that reached its memory limit and could still report it."""
DISK_FULL: Final = 4


class DocumentInfo(Struct, frozen=True, kw_only=True):
    """The cover of a document. `created_at` is in UTC microseconds."""

    title: str
    created_at: int
    total: int
    description: str


class ProcessLimits(Struct, frozen=True, kw_only=True):
    """The resources one writing process may use."""

    memory_mib: int = 1_536
    cpu_s: int = 300
    # Much more than the CPU limit: on a busy machine a low-priority process mostly waits.
    wall_s: int = 1_800


class Task(Struct, frozen=True, kw_only=True):
    """One step. `source` and `target` are paths; `volume` and `volumes` count from one."""

    step: str
    source: str
    target: str
    document: DocumentInfo
    limits: ProcessLimits
    volume: int = 1
    volumes: int = 1
    # A folder of pictures, "" if there are none.
    pictures: str = ""


class Report(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One line of output: the progress so far or, as the last line, the result."""

    done: int = 0
    is_finished: bool = False
    notes: list[str] = []
    names: list[str] = []


T = TypeVar("T")

_OPENING: Final = b"[\n"
_BETWEEN: Final = b",\n"
_CLOSING: Final = b"]\n"


async def to_json_array(pages: AsyncIterable[bytes]) -> AsyncIterator[bytes]:
    """Yields the file piece by piece. A page is Bookmarks joined by commas; it may be empty."""
    yield _OPENING
    is_first = True
    async for page in pages:
        if page:
            yield page if is_first else _BETWEEN + page
            is_first = False
    yield _CLOSING if is_first else b"\n" + _CLOSING


def read_pages(file: Path, kind: type[T]) -> Iterator[list[T]]:
    """Reads one page of posts at a time. Raises msgspec.MsgspecError for any other file.

    Values that are nested too deeply for the decoder are cut. Only then: looking for them takes
    three times as long as decoding a page.
    """
    decode = msgspec.json.Decoder(list[kind]).decode  # type: ignore[valid-type]  # the caller's type
    for page in _pages(file):
        try:
            yield decode(page)
        except RecursionError:
            yield decode(json_depth.cut(page))


def _pages(file: Path) -> Iterator[bytes]:
    """Each page as a JSON array. A page is a line, and a comma follows each but the last."""
    with file.open("rb") as source:
        for line in source:
            if not line.endswith(b"\n"):
                # The file was cut off, which the decoder reports.
                yield b"[%b]" % line
            elif line not in (_OPENING, _CLOSING):
                yield b"[%b]" % line.removesuffix(b"\n").removesuffix(b",")


_INDEX: Final = "index.json"
# Typesetting holds a picture in memory, with about four bytes per pixel; see `volumes`.
BYTES_PER_PIXEL: Final = 4


_ENDINGS: Final = {
    "image/jpeg": ".jpg",
    "image/png": ".png",
    "image/gif": ".gif",
    "image/webp": ".webp",
    "image/avif": ".avif",
}


class Picture(Struct, frozen=True, array_like=True):
    file: str
    width: int
    height: int
    type: str = ""

    @property
    def name(self) -> str:
        """Its name in an export that has it as a file."""
        return f"{self.file}{_ENDINGS.get(self.type, '')}"


Pictures = dict[str, Picture]


def write_pictures(folder: Path, pictures: Pictures) -> None:
    (folder / _INDEX).write_bytes(msgspec.json.encode(pictures))


def read_pictures(folder: str) -> Pictures:
    """The pictures of the task; none if it has no folder of them."""
    if not folder:
        return {}
    return msgspec.json.decode((Path(folder) / _INDEX).read_bytes(), type=Pictures)


def pictures_of(details: dict[str, Any], pictures: Pictures) -> list[str]:
    """The URLs of a post's images that the export has."""
    return [url for url in image_urls(details) if url in pictures] if pictures else []
