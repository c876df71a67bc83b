"""What the service asks of a writing process, and what the process answers, a JSON line each."""

from typing import Final

from msgspec import Struct

MEBIBYTE: Final = 1 << 20

OUT_OF_MEMORY: Final = 3
"""The exit status of a process that was refused memory and could still say so."""
DISK_FULL: Final = 4


class About(Struct, frozen=True, kw_only=True):
    """What the cover of a document says of it. `made_at` is in UTC microseconds."""

    title: str
    made_at: int
    total: int
    description: str


class ProcessLimits(Struct, frozen=True, kw_only=True):
    """What one writing process may use."""

    memory_mib: int = 1_536
    cpu_s: int = 300
    # Nice processes on a busy machine wait long for their turn.
    wall_s: int = 1_800


class Task(Struct, frozen=True, kw_only=True):
    """One step. `source` and `target` are paths; `volume` and `volumes` count from one."""

    step: str
    source: str
    target: str
    about: About
    limits: ProcessLimits
    volume: int = 1
    volumes: int = 1


class Report(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A line of the process: how far it is or, once, what it made."""

    done: int = 0
    is_made: bool = False
    notes: list[str] = []
    names: list[str] = []
