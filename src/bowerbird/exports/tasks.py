"""The formats of an export, and its messages to a writing process: one JSON line each."""

from collections.abc import Mapping
from typing import Final, NamedTuple

from msgspec import Struct


class Format(NamedTuple):
    media_type: str
    suffix: str


FORMATS: Final[Mapping[str, Format]] = {
    "pdf": Format("application/pdf", ".pdf"),
    "csv": Format("text/csv; charset=utf-8", ".csv"),
    "json": Format("application/json", ".json"),
}

ZIPPED_VOLUMES: Final = Format("application/zip", ".zip")
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
    # A folder of pictures, see picture_index.py; "" if there are none.
    pictures: str = ""


class Report(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One line of output: the progress so far or, as the last line, the result."""

    done: int = 0
    is_finished: bool = False
    notes: list[str] = []
    names: list[str] = []
