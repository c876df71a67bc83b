"""Brings a database to this release's schema: numbered files, each applied once.

A file that was applied and changed since stops the start: its checksum is remembered. A file
that says "-- compatible: yes" leaves the schema usable for the release before it.
"""

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any, Final

READ_APPLIED: Final = "SELECT number, checksum, is_compatible FROM schema_migration ORDER BY number"
_FILE: Final = re.compile(r"(\d{4})_\w+\.sql")
_COMPATIBLE: Final = re.compile(r"^-- compatible: (yes|no)$", re.MULTILINE)


class SchemaProblem(Exception):  # noqa: N818 - named for what it is
    """The database's schema and this release do not fit. Says why and what to do."""


@dataclass(frozen=True, slots=True)
class Migration:
    number: int
    name: str
    sql: str
    is_compatible: bool

    @property
    def checksum(self) -> str:
        return hashlib.sha256(self.sql.encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class Applied:
    number: int
    checksum: str
    is_compatible: bool


@cache
def available(dialect: str) -> Sequence[Migration]:
    folder = resources.files("bowerbird.storage") / "migrations" / dialect
    found = [
        _read(int(match[1]), file.name, file.read_text(encoding="utf-8"))
        for file in folder.iterdir()
        if (match := _FILE.fullmatch(file.name))
    ]
    return tuple(sorted(found, key=lambda migration: migration.number))


def pending(known: Sequence[Migration], applied: Sequence[Applied]) -> list[Migration]:
    """What is still to do. Raises when the database does not fit this release."""
    by_number = {migration.number: migration for migration in known}
    for done in applied:
        own = by_number.get(done.number)
        if own is None and not done.is_compatible:
            raise SchemaProblem(
                f"The database was migrated by a newer release (step {done.number:04d}). "
                "Install that release, or restore a backup made before."
            )
        if own is not None and own.checksum != done.checksum:
            raise SchemaProblem(
                f"{own.name} was changed after it was applied. Restore the file as released."
            )
    finished = {done.number for done in applied}
    return [migration for migration in known if migration.number not in finished]


def require_current(dialect: str, applied: Sequence[Sequence[Any]]) -> None:
    """Raises unless this release can work with a database in which READ_APPLIED finds this."""
    if pending(available(dialect), [Applied(*row) for row in applied]):
        raise SchemaProblem("The database has not been migrated. Run: bowerbird migrate")


def _read(number: int, name: str, sql: str) -> Migration:
    declared = _COMPATIBLE.search(sql)
    if declared is None:
        raise SchemaProblem(f"{name} must say '-- compatible: yes' or '-- compatible: no'.")
    return Migration(number, name, sql, declared[1] == "yes")
