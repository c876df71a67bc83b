"""The formats of an export, and its messages to a writing process: one JSON line each."""

from collections.abc import Mapping
from typing import Final, Literal, NamedTuple

from msgspec import Struct

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
    # A folder of pictures, see posts_file.py; "" if there are none.
    pictures: str = ""


class Report(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One line of output: the progress so far or, as the last line, the result."""

    done: int = 0
    is_finished: bool = False
    notes: list[str] = []
    names: list[str] = []
