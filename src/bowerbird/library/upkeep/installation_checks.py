"""Checks that read many files, start a process or ask another server. They may take seconds.

Files of the data folder must be usable by this user, and by nobody else.
"""

import asyncio
import itertools
import os
import pwd
import shlex
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Final

from bowerbird.errors import Refusal
from bowerbird.exports import fonts as export_fonts
from bowerbird.library.upkeep.health import Mark, Result
from bowerbird.search.meaning.embedding import MULTILINGUAL, local_model
from bowerbird.search.meaning.models import model_folder
from bowerbird.settings import PREFIX, Settings
from bowerbird.storage import opening
from bowerbird.storage.backup import archives
from bowerbird.storage.files import Files
from bowerbird.storage.migrations import SchemaProblem
from bowerbird.storage.opening import Diagnosis
from bowerbird.storage.private_files import OTHERS
from bowerbird.storage.sqlite import replacing
from bowerbird.storage.sqlite.database import FILE_NAME, with_side_files
from bowerbird.storage.sqlite.schema import LOCK_NAME as FOLDER_LOCK
from bowerbird.storage.sqlite.write_queue import LOCK_NAME as WRITE_LOCK

_MAX_CHECKED: Final = 100_000
_MAX_NAMED: Final = 3


def denied(settings: Settings) -> Result | None:
    """The first file of the library that exists but that this user cannot read and write."""
    folder = settings.data_dir.absolute()
    names = (FOLDER_LOCK, WRITE_LOCK, archives.LAST_NAME)
    files = (*with_side_files(folder / FILE_NAME), *(folder / name for name in names))
    for path in (folder, *files):
        try:
            owner = path.stat().st_uid
            mode = os.R_OK | os.W_OK | (os.X_OK if path.is_dir() else 0)
            is_denied = not os.access(path, mode, effective_ids=True)
        except OSError:
            continue
        if is_denied:
            return _denied(folder, path, owner)
    return None


def _denied(folder: Path, path: Path, owner: int) -> Result:
    user = os.geteuid()
    sentence = (
        f"{path} belongs to {_name(owner)}; this user, {_name(user)}, has no permission to read "
        "and write it"
    )
    chown = f"as root, run chown -R {_name(user)}: {shlex.quote(str(folder))}"
    if owner == user:
        fix = f"run chmod u+rwX {shlex.quote(str(path))}"
    elif folder.stat().st_uid == user:
        fix = chown
    else:
        owner_name = _name(folder.stat().st_uid)
        fix = f"run bowerbird as {owner_name}, the owner of the folder; or, {chown}"
    return Result(Mark.BROKEN, "permissions", sentence, fix)


def _name(user: int) -> str:
    try:
        return pwd.getpwuid(user).pw_name
    except KeyError:
        return str(user)


def open_to_others(folder: Path) -> str:
    """The folder and files that other users can access, as text for a sentence, or ""."""
    found = [str(folder)] if _is_open(folder) else []
    below = itertools.islice(_below(folder), _MAX_CHECKED)
    found += [str(path.relative_to(folder)) for path in below if _is_open(path)]
    named, others = found[:_MAX_NAMED], len(found) - _MAX_NAMED
    if others > 0:
        return f"{', '.join(named)} and {others} more"
    return " and ".join(filter(None, (", ".join(named[:-1]), *named[-1:])))


def _below(folder: Path) -> Iterator[Path]:
    for parent, folders, files in os.walk(folder):
        folders.sort()
        for name in (*folders, *sorted(files)):
            yield Path(parent) / name


def _is_open(path: Path) -> bool:
    try:
        status = path.lstat()
    except OSError:
        return False
    return not path.is_symlink() and bool(status.st_mode & OTHERS)


# A server or a command has opened a library in a folder that has one of these.
_LEFT_BY_A_LIBRARY: Final = ("write.lock", f"{FILE_NAME}-wal", "last-backup.json")


async def installation(settings: Settings) -> AsyncIterator[Result]:
    """All of them but the database."""
    if settings.data_dir.is_dir():
        yield await asyncio.to_thread(_permissions, settings)
    yield await _files(settings)
    yield await fonts()
    yield await asyncio.to_thread(_model, settings)


async def database(settings: Settings) -> list[Result]:
    if settings.is_sqlite and not (settings.data_dir / FILE_NAME).exists():
        return [_missing_file(settings)]
    try:
        if settings.is_sqlite:
            found = await asyncio.to_thread(opening.of_sqlite, settings.data_dir)
        else:
            found = await opening.of_postgres(settings.database_url)
    except SchemaProblem as error:
        fix = (
            "restore a backup with bowerbird restore FILE"
            if settings.is_sqlite
            else f"start PostgreSQL, or correct {PREFIX}DATABASE_URL; see docs/postgresql.md"
        )
        return [Result(Mark.BROKEN, "database", str(error), fix)]
    return [_engine(found), _schema(found, settings)]


def _missing_file(settings: Settings) -> Result:
    folder = settings.data_dir.absolute()
    left = [name for name in _LEFT_BY_A_LIBRARY if (folder / name).exists()]
    # After an interrupted restore, the next start puts the file there.
    if not left or replacing.is_interrupted(folder):
        return Result(Mark.GOOD, "database", "the first start creates it")
    return Result(
        Mark.BROKEN,
        "database",
        f"{FILE_NAME} is missing in {folder}, but {', '.join(left)} of a library are there",
        f"put the file back or run bowerbird restore FILE, or set {PREFIX}DATA_DIR to the folder "
        "of the library; bowerbird serve would start with an empty one",
    )


def _engine(found: Diagnosis) -> Result:
    sentence = f"{found.engine}, {found.detail}"
    if found.is_usable:
        return Result(Mark.GOOD, "database", sentence)
    fix = "install PostgreSQL's contrib modules (Debian: postgresql)"
    return Result(Mark.BROKEN, "database", sentence, fix)


def _schema(found: Diagnosis, settings: Settings) -> Result:
    if not found.pending:
        return Result(Mark.GOOD, "schema", "is up to date")
    # The next start migrates a SQLite library; only the command migrates PostgreSQL.
    mark = Mark.WARNING if settings.is_sqlite else Mark.BROKEN
    steps = ", ".join(found.pending)
    return Result(mark, "schema", f"not yet applied: {steps}", "run bowerbird migrate")


def _permissions(settings: Settings) -> Result:
    folder = settings.data_dir.absolute()
    if named := open_to_others(folder):
        fix = f"run chmod -R go-rwx {shlex.quote(str(folder))}"
        return Result(Mark.WARNING, "permissions", f"other users can read {named}", fix)
    return Result(Mark.GOOD, "permissions", "only this user can read the data folder")


async def _files(settings: Settings) -> Result:
    files = Files(settings)
    if files.folder is not None and not files.folder.exists():
        return Result(Mark.GOOD, "files", f"{files.place} is created when it is needed")
    try:
        await files.size("mark")
    except Refusal as refused:
        fix = f"check {PREFIX}FILES_URL and the {PREFIX}FILES_* settings, and start the file server"
        cause = str(refused.__cause__ or "").partition("\n")[0]
        return Result(Mark.BROKEN, "files", f"cannot reach the files in {cause}", fix)
    return Result(Mark.GOOD, "files", f"{files.place} is readable")


async def fonts() -> Result:
    try:
        missing = await export_fonts.missing_fonts()
    except (OSError, TimeoutError) as error:
        return Result(Mark.WARNING, "fonts", f"cannot be checked: {error or 'it took too long'}")
    if not missing:
        scripts = ", ".join(export_fonts.SCRIPTS)
        return Result(Mark.GOOD, "fonts", f"PDF exports can show {scripts}")
    scripts = ", ".join(f"{lack.script} ({lack.font})" for lack in missing)
    packages = sorted({lack.package for lack in missing})
    sentence = f"no font for {scripts}; PDF exports show such text as empty boxes"
    return Result(Mark.WARNING, "fonts", sentence, export_fonts.install_advice(packages))


def _model(settings: Settings) -> Result:
    if settings.embedding_url:
        sentence = f"{settings.embedding_model}, from the service in {PREFIX}EMBEDDING_URL"
        return Result(Mark.GOOD, "model", sentence)
    folder = model_folder(settings)
    model, second = local_model(folder), local_model(folder, MULTILINGUAL)
    if model is None:
        sentence = f"{folder} contains no model, so search by meaning is not available"
        return Result(Mark.WARNING, "model", sentence, "run bowerbird model")
    for built in filter(None, (model, second)):
        if broken := built.broken_file():
            sentence = f"{broken} of {built.name} is damaged or missing"
            return Result(Mark.WARNING, "model", sentence, "run bowerbird model")
    if second is None:
        sentence = f"{model.name}; without the second model, search by meaning knows only English"
        return Result(Mark.WARNING, "model", sentence, "run bowerbird model")
    return Result(Mark.GOOD, "model", f"{model.name}, {second.name}")
