"""The parts that all committed results share: the commit, the machine and the tables.

The runs in `endurance/` use them too.
"""

import os
import platform
import subprocess
from collections.abc import Iterable, Sequence
from datetime import date
from pathlib import Path
from typing import Final

_REPOSITORY: Final = Path(__file__).parents[1]


def commit() -> str:
    """The abbreviated commit, with a suffix if the working tree has changes."""
    run = subprocess.run(
        ["git", "describe", "--always", "--dirty=-changed", "--exclude=*"],
        capture_output=True,
        text=True,
        check=False,
        cwd=_REPOSITORY,
    )
    return run.stdout.strip() or "uncommitted"


def machine() -> str:
    gigabytes = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 2**30
    return (
        f"{_cpu()}, {os.cpu_count()} cores, {gigabytes:.0f} GB of memory, {_system()}, "
        f"Python {platform.python_version()}"
    )


def table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """The lines of a table in Markdown."""
    return [
        "| " + " | ".join(columns) + " |",
        "|" + " --- |" * len(columns),
        *("| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in rows),
    ]


def save(folder: Path, day: date, name: str, lines: Iterable[str]) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"{day.isoformat()}-{name}.md"
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return file


def _cpu() -> str:
    for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.machine()


def _system() -> str:
    try:
        name = platform.freedesktop_os_release()["PRETTY_NAME"]
    except (OSError, KeyError):
        name = platform.system()
    return f"{name}, kernel {platform.release()}"
