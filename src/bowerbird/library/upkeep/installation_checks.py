"""Checks that read many files, start a process or ask another server. They may take seconds.

Files of the data folder must be usable by this user, and by nobody else. The operator's page has
the results, beside the state of the service and its open jobs.
"""

import asyncio
import itertools
import os
import pwd
import shlex
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from pathlib import Path
from typing import Final, Generic, TypeVar

from msgspec import Struct

from bowerbird.clock import MICROSECONDS, Clock, day_of
from bowerbird.errors import Code, Refusal
from bowerbird.exports import fonts as export_fonts
from bowerbird.library.upkeep import health
from bowerbird.library.upkeep.health import Mark, Result
from bowerbird.model.jobs import OpenJob
from bowerbird.model.words import ListedVectorStore
from bowerbird.search.meaning.embedding import MULTILINGUAL, local_model
from bowerbird.search.meaning.models import model_folder
from bowerbird.settings import PREFIX, Settings
from bowerbird.storage import opening
from bowerbird.storage.backup import archives
from bowerbird.storage.backup.archives import LastBackup
from bowerbird.storage.database import Database
from bowerbird.storage.files import Files
from bowerbird.storage.migrations import SchemaProblem
from bowerbird.storage.opening import Diagnosis
from bowerbird.storage.private_files import OTHERS
from bowerbird.storage.sqlite import replacing
from bowerbird.storage.sqlite.database import FILE_NAME, with_side_files
from bowerbird.storage.sqlite.schema import LOCK_NAME as FOLDER_LOCK
from bowerbird.storage.sqlite.write_queue import LOCK_NAME as WRITE_LOCK
from bowerbird.storage.stores import TimedService

_MAX_CHECKED: Final = 100_000
_MAX_NAMED: Final = 3
# SQLite creates files to open a library.
_OPENING_BYTES: Final = 1_000_000


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
        fix = "restore a backup with bowerbird restore FILE"
        if not settings.is_sqlite:
            fix = f"start PostgreSQL, or correct {PREFIX}DATABASE_URL; see docs/postgresql.md"
        elif health.free_bytes(settings) < _OPENING_BYTES:
            fix = f"free disk space; if that does not help, {fix}"
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


PER_PAGE: Final = 10
_FIRST: Final = (-1, 0, "")
T = TypeVar("T")
_KEPT: Final = 60 * MICROSECONDS


class Remembered(Generic[T]):
    """Computes the value once, however many callers wait for it."""

    def __init__(self, compute: Callable[[], Awaitable[T]], clock: Clock) -> None:
        self._compute = compute
        self._clock = clock
        self._computing: asyncio.Task[T] | None = None
        self._started_at = 0

    async def get(self) -> T:
        """A caller that is cancelled does not stop the work for the others."""
        if self._computing is None or self._is_outdated(self._computing):
            self._started_at = self._clock()
            self._computing = asyncio.ensure_future(_run(self._compute))
            # Retrieve the exception; asyncio warns otherwise.
            self._computing.add_done_callback(lambda done: done.cancelled() or done.exception())
        return await asyncio.shield(self._computing)

    def _is_outdated(self, computing: "asyncio.Task[T]") -> bool:
        if not computing.done():
            return False
        has_failed = computing.cancelled() or computing.exception() is not None
        return has_failed or not 0 <= self._clock() - self._started_at < _KEPT


async def _run(compute: Callable[[], Awaitable[T]]) -> T:
    return await compute()


class OpenJobs(TimedService):
    async def page(self, after: tuple[int, int, str] = _FIRST) -> Sequence[OpenJob]:
        """By account, the oldest first, and one more than a page if there are more."""
        return await self._stores.jobs.open_page(after, PER_PAGE + 1)

    async def retry(self, account_id: int, job_id: str) -> None:
        if not await self._stores.jobs.retry(account_id, job_id):
            raise Refusal(
                Code.NOT_FOUND, "The job has not failed, or the same work is queued or running."
            )

    async def cancel(self, account_id: int, job_id: str) -> None:
        """Ends a waiting job; the worker of a running one notices within a second or two."""
        if not await self._stores.jobs.cancel(account_id, job_id, now=self._clock()):
            raise Refusal(Code.NOT_FOUND, "The job has already ended.")


CALLED_DAYS: Final = 90
# More accounts than this are not counted.
MAX_COUNTED: Final = 10_000
STORES_PER_PAGE: Final = 10
_FIRST_STORE: Final = (-1, b"")
# The page does not wait longer for checks. They continue, and the next visit shows them.
_WAIT_S: Final = 10.0


class UsedVersion(Struct, frozen=True):
    """A version of the API that was called recently."""

    version: str
    accounts: int
    # Days since 1970, UTC.
    last_day: int


class State(Struct, frozen=True):
    accounts: int
    engine: str
    database_bytes: int
    free_bytes: int
    backup: LastBackup | None
    versions: list[UsedVersion]
    results: list[Result]


class Overview(TimedService):
    def __init__(self, settings: Settings, database: Database, clock: Clock) -> None:
        super().__init__(database, clock)
        self._settings = settings
        self._state = Remembered(self._read_state, clock)
        self._installation = Remembered(self._check_installation, clock)

    async def state(self) -> State:
        """At most a minute old."""
        return await self._state.get()

    async def installation(self) -> list[Result] | None:
        """The checks that take long; None while they still run."""
        try:
            async with asyncio.timeout(_WAIT_S):
                return await self._installation.get()
        except TimeoutError:
            return None

    async def stores(self, after: tuple[int, bytes] = _FIRST_STORE) -> Sequence[ListedVectorStore]:
        """The vector stores of all accounts, and one more than a page if there are more."""
        return await self._stores.vectors.page(after, STORES_PER_PAGE + 1)

    async def _read_state(self) -> State:
        now, settings = self._clock(), self._settings
        engine, size = await self._stores.checks.engine()
        called = await self._stores.version_uses.callers(day_of(now) - CALLED_DAYS)
        backup = health.backup(settings, now)
        return State(
            accounts=await self._stores.accounts.count_up_to(MAX_COUNTED + 1),
            engine=engine,
            database_bytes=size,
            free_bytes=health.free_bytes(settings),
            backup=archives.read_last(settings.data_dir) if settings.is_sqlite else None,
            versions=[UsedVersion(*row) for row in called],
            results=[
                health.address(settings),
                health.data_folder(settings),
                *([backup] if backup is not None else []),
                await health.jobs(settings, self._stores.jobs, now, is_quick=True),
            ],
        )

    async def _check_installation(self) -> list[Result]:
        results = await database(self._settings)
        async for result in installation(self._settings):
            results.append(result)
        return results
