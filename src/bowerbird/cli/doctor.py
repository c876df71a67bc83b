"""`doctor`: looks at everything the service needs, and says how to mend what is missing."""

import asyncio
import os
import shutil
import sys
from collections.abc import Iterator
from dataclasses import fields
from typing import Final

import click
from msgspec import Struct

from bowerbird.cli.context import opened_library, settings_from_environment
from bowerbird.cli.ports import Port, state_of
from bowerbird.clock import MICROSECONDS, system_clock
from bowerbird.errors import Refusal
from bowerbird.exports import fonts
from bowerbird.model.jobs import JobCount, JobState
from bowerbird.search.embedding import local_model
from bowerbird.search.models import model_folder
from bowerbird.settings import PREFIX, BadSetting, Settings
from bowerbird.storage import diagnosis
from bowerbird.storage.files.files import Files
from bowerbird.storage.jobs import JobStore
from bowerbird.storage.migrations import SchemaProblem
from bowerbird.storage.sqlite.database import FILE_NAME

_LEAST_FREE_BYTES: Final = 1 << 30
_LONG_WAIT: Final = 300 * MICROSECONDS


class Line(Struct, frozen=True):
    """One thing that was looked at. `mark` is ✓ (well), ! (worth knowing) or ✗ (broken)."""

    mark: str
    subject: str
    sentence: str
    mend: str = ""


@click.command()
def doctor() -> None:
    r"""Check settings, data folder, database, files, jobs, fonts, model and ports; tell the mend.

    Exits with 1 when something the service needs is broken.

    \b
    Example:
      bowerbird doctor
    """
    is_broken = False
    for line in _examination():
        is_broken = is_broken or line.mark == "✗"
        click.echo(f"{line.mark} {line.subject}: {line.sentence}")
        if line.mend:
            click.echo(f"    mend: {line.mend}")
    sys.exit(1 if is_broken else 0)


def _examination() -> Iterator[Line]:
    try:
        settings = settings_from_environment()
    except BadSetting as error:
        yield Line("✗", "settings", str(error), "correct the variable; docs/settings.md lists all")
        yield from _fonts()
        return
    yield from _settings(settings)
    yield from _data_folder(settings)
    yield from _database(settings)
    yield _files(settings)
    yield from _fonts()
    yield from _model(settings)
    yield from _ports(settings)


def _settings(settings: Settings) -> Iterator[Line]:
    given = [
        f"{PREFIX}{field.name.upper()}={_value(settings, field.name, field.metadata['secret'])}"
        for field in fields(settings)
        if getattr(settings, field.name) != field.default
    ]
    yield Line("✓", "settings", " ".join(given) or "none is set; the defaults are in force")


def _value(settings: Settings, name: str, is_secret: bool) -> str:  # noqa: FBT001 - of metadata
    return "(hidden)" if is_secret else str(getattr(settings, name))


def _data_folder(settings: Settings) -> Iterator[Line]:
    folder = settings.data_dir.absolute()
    existing = next(path for path in (folder, *folder.parents) if path.exists())
    if not existing.is_dir() or not os.access(existing, os.W_OK | os.X_OK):
        yield Line(
            "✗",
            "data folder",
            f"{existing} cannot be written to by this user",
            f"chown it to the user that runs bowerbird, or set {PREFIX}DATA_DIR to another folder",
        )
        return
    free = shutil.disk_usage(existing).free
    state = f"{folder} is writable" if folder.exists() else f"{folder} will be made at first start"
    mend = "" if free >= _LEAST_FREE_BYTES else "make room: imports and backups need it"
    yield Line("!" if mend else "✓", "data folder", f"{state}, {free / 1e9:,.1f} GB free", mend)


def _database(settings: Settings) -> Iterator[Line]:
    if settings.is_sqlite and not (settings.data_dir / FILE_NAME).exists():
        yield Line("✓", "database", "there is none yet; the first start makes it")
        return
    try:
        if settings.is_sqlite:
            found = diagnosis.of_sqlite(settings.data_dir)
        else:
            found = asyncio.run(diagnosis.of_postgres(settings.database_url))
    except SchemaProblem as error:
        mend = (
            "restore a backup: bowerbird restore FILE"
            if settings.is_sqlite
            else f"start PostgreSQL, or correct {PREFIX}DATABASE_URL; see docs/postgresql.md"
        )
        yield Line("✗", "database", str(error), mend)
        return
    yield from _diagnosed(found, settings)


def _files(settings: Settings) -> Line:
    files = Files(settings)
    if files.folder is not None and not files.folder.exists():
        return Line("✓", "files", f"{files.place} will be made when it is needed")
    try:
        asyncio.run(files.size("mark"))
    except Refusal as refused:
        mend = f"see that {PREFIX}FILES_URL and its kind's settings are right, and the server up"
        return Line("✗", "files", f"The files cannot be reached in {_cause(refused)}", mend)
    return Line("✓", "files", f"{files.place} can be read")


def _cause(refused: Refusal) -> str:
    """The first line of what lies behind it."""
    return str(refused.__cause__ or "").partition("\n")[0]


def _jobs(settings: Settings) -> Iterator[Line]:
    counts = asyncio.run(_counted(settings))
    told = ", ".join(f"{each.count} {each.kind} {each.state}" for each in counts)
    now = system_clock()
    waiting = [each.oldest_at for each in counts if each.state == JobState.PENDING]
    if waiting and now - min(waiting) > _LONG_WAIT:
        mend = "start bowerbird serve" if settings.is_sqlite else "start a bowerbird worker"
        yield Line("!", "jobs", f"{told}; nobody works on them", mend)
        return
    failed = any(each.state == JobState.FAILED for each in counts)
    mend = "bowerbird jobs list tells why; bowerbird jobs retry JOB-ID" if failed else ""
    yield Line("!" if failed else "✓", "jobs", told or "there are none", mend)


async def _counted(settings: Settings) -> list[JobCount]:
    async with opened_library(settings) as opened:
        return await JobStore(opened.database).counts()


def _diagnosed(found: diagnosis.Diagnosis, settings: Settings) -> Iterator[Line]:
    mend = "" if found.is_usable else "install PostgreSQL's contrib modules (Debian: postgresql)"
    mark = "✓" if found.is_usable else "✗"
    yield Line(mark, "database", f"{found.engine}, {found.detail}", mend)
    if not found.pending:
        yield Line("✓", "schema", "is current")
        yield from _jobs(settings)
        return
    steps = ", ".join(found.pending)
    # A SQLite library is migrated by the next start; PostgreSQL waits for the command.
    mark = "!" if settings.is_sqlite else "✗"
    yield Line(mark, "schema", f"not yet applied: {steps}", "bowerbird migrate")


def _fonts() -> Iterator[Line]:
    missing = fonts.missing_fonts()
    if not missing:
        yield Line("✓", "fonts", f"PDF exports can be set in {', '.join(fonts.SCRIPTS)}")
        return
    scripts = ", ".join(lack.script for lack in missing)
    packages = " ".join(sorted({lack.package for lack in missing}))
    sentence = f"none for {scripts}; PDF exports show such text as empty boxes"
    yield Line("!", "fonts", sentence, f"{fonts.INSTALL_COMMAND}, or apt install {packages}")


def _model(settings: Settings) -> Iterator[Line]:
    if settings.embedding_url:
        sentence = f"{settings.embedding_model}, by the service of {PREFIX}EMBEDDING_URL"
        yield Line("✓", "model", sentence)
        return
    folder = model_folder(settings)
    model = local_model(folder)
    if model is None:
        sentence = f"{folder} holds none, so nothing can be searched by meaning"
        yield Line("!", "model", sentence, "make model")
    elif broken := model.broken_file():
        yield Line("!", "model", f"{broken} is not as it was built", "make model")
    else:
        yield Line("✓", "model", model.name)


def _ports(settings: Settings) -> Iterator[Line]:
    yield _port("port", settings.host, settings.port, "/v1/bookmarks", f"{PREFIX}PORT")
    if settings.admin_port:
        yield _port(
            "admin port",
            settings.admin_host,
            settings.admin_port,
            "/metrics",
            f"{PREFIX}ADMIN_PORT",
        )


def _port(subject: str, host: str, port: int, path: str, variable: str) -> Line:
    state = state_of(host, port, path)
    if state is Port.FREE:
        return Line("✓", subject, f"{host}:{port} is free")
    if state is Port.OURS:
        return Line("✓", subject, f"{host}:{port} is served by bowerbird")
    mend = f"stop the other program, or set {variable} to another port"
    return Line("✗", subject, f"{host}:{port} {state.value}", mend)
