"""Migrates a database to the schema of this release: numbered files, each applied once.

A file in migrations/both is for both databases: it has the types of PostgreSQL and the options
that SQLite's tables have. A step that differs in more has a file per database, in
migrations/sqlite and migrations/postgres.

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
_TABLE_OPTIONS: Final = re.compile(
    r"^\) (?:STRICT|STRICT, WITHOUT ROWID|WITHOUT ROWID);$", re.MULTILINE
)
_COLUMN: Final = re.compile(
    r"^((?:    |ALTER TABLE \w+ ADD COLUMN )\w+ +)"
    r"(bigint|BIGINT|integer|boolean|smallint|text|bytea)"
    r'( *COLLATE "C")?( *)(?=NOT NULL|[,;]|$)',
    re.MULTILINE,
)
_SQLITE_TYPES: Final = {"text": "TEXT", "bytea": "BLOB"}
_BOOLEAN: Final = re.compile(r"\b(?:false|true)\b")


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
    folder = resources.files("bowerbird.storage") / "migrations"
    for_dialect = for_sqlite if dialect == "sqlite" else for_postgres
    found = [
        _read(int(match[1]), file.name, change(file.read_text(encoding="utf-8")))
        for name, change in ((dialect, str), ("both", for_dialect))
        for file in (folder / name).iterdir()
        if (match := _FILE.fullmatch(file.name))
    ]
    return tuple(sorted(found, key=lambda migration: migration.number))


def for_postgres(text: str) -> str:
    return _TABLE_OPTIONS.sub(");", text)


def for_sqlite(text: str) -> str:
    """Aligned as all released files are, because their checksums must stay the same."""
    typed = _COLUMN.sub(_sqlite_column, text)
    return _BOOLEAN.sub(lambda value: str(int(value[0] == "true")), typed)


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


def _sqlite_column(column: re.Match[str]) -> str:
    name, declared, _, space = column.groups()
    kind = _SQLITE_TYPES.get(declared, "INTEGER")
    aligned = kind.ljust(8) if name.startswith(" ") else f"{kind} "
    return f"{name}{aligned if space else kind}"


def _read(number: int, name: str, sql: str) -> Migration:
    declared = _COMPATIBLE.search(sql)
    if declared is None:
        raise SchemaProblem(f"{name} must contain '-- compatible: yes' or '-- compatible: no'.")
    return Migration(number, name, sql, declared[1] == "yes")
