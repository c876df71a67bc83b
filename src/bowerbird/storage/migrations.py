"""Migrates a database to the schema of this release: numbered files, each applied once.

The database stores the checksum of each applied file, and the service does not start if a file
has changed since. A file with "-- compatible: yes" leaves the schema usable for the previous
release.
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
    """The schema does not fit this release. The message says why and what to do."""


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
    """The migrations to apply. Raises SchemaProblem if the schema does not fit this release."""
    by_number = {migration.number: migration for migration in known}
    for done in applied:
        own = by_number.get(done.number)
        if own is None and not done.is_compatible:
            raise SchemaProblem(
                f"The database was migrated by a newer release (step {done.number:04d}). "
                "Install that release, or restore an older backup."
            )
        if own is not None and own.checksum != done.checksum:
            raise SchemaProblem(
                f"{own.name} was changed after it was applied. Restore the released file."
            )
    finished = {done.number for done in applied}
    return [migration for migration in known if migration.number not in finished]


def require_current(dialect: str, applied: Sequence[Sequence[Any]]) -> None:
    """Raises SchemaProblem if migrations are missing. `applied`: the rows of READ_APPLIED."""
    if pending(available(dialect), [Applied(*row) for row in applied]):
        raise SchemaProblem("The database has not been migrated. Run: bowerbird migrate")


def _read(number: int, name: str, sql: str) -> Migration:
    declared = _COMPATIBLE.search(sql)
    if declared is None:
        raise SchemaProblem(f"{name} must contain '-- compatible: yes' or '-- compatible: no'.")
    return Migration(number, name, sql, declared[1] == "yes")
