"""`doctor`: checks everything the service needs, and suggests a fix for each problem."""

import asyncio
import os
import shlex
import shutil
import sys
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import Final

import click
from msgspec import Struct

from bowerbird.cli.context import opened_library, settings_from_environment
from bowerbird.cli.permissions import open_to_others
from bowerbird.cli.ports import Port, port_state
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

_MIN_FREE_BYTES: Final = 1 << 30
_LONG_WAIT: Final = 300 * MICROSECONDS


class Result(Struct, frozen=True):
    """The result of one check. `mark` is ✓ (good), ! (a warning) or ✗ (broken)."""

    mark: str
    subject: str
    sentence: str
    fix: str = ""


@click.command()
def doctor() -> None:
    r"""Check the installation, and suggest a fix for each problem.

    Checks settings, data folder, database, files, jobs, fonts, model and ports. Exits with 1 if
    something the service needs is broken.

    \b
    Example:
      bowerbird doctor
    """
    is_broken = False
    for result in _results():
        is_broken = is_broken or result.mark == "✗"
        click.echo(f"{result.mark} {result.subject}: {result.sentence}")
        if result.fix:
            click.echo(f"    fix: {result.fix}")
    sys.exit(1 if is_broken else 0)


def _results() -> Iterator[Result]:
    try:
        settings = settings_from_environment()
    except BadSetting as error:
        yield Result(
            "✗", "settings", str(error), "correct the variable; docs/settings.md lists them all"
        )
        yield from _fonts()
        return
    yield from _settings(settings)
    yield from _data_folder(settings)
    yield from _database(settings)
    yield _files(settings)
    yield from _fonts()
    yield from _model(settings)
    yield from _ports(settings)


def _settings(settings: Settings) -> Iterator[Result]:
    given = [
        f"{PREFIX}{field.name.upper()}={_value(settings, field.name, field.metadata['secret'])}"
        for field in fields(settings)
        if getattr(settings, field.name) != field.default
    ]
    yield Result("✓", "settings", " ".join(given) or "none is set, so all have their defaults")


def _value(settings: Settings, name: str, is_secret: bool) -> str:  # noqa: FBT001 - from metadata
    return "(hidden)" if is_secret else str(getattr(settings, name))


def _data_folder(settings: Settings) -> Iterator[Result]:
    folder = settings.data_dir.absolute()
    existing = next(path for path in (folder, *folder.parents) if path.exists())
    if not existing.is_dir() or not os.access(existing, os.W_OK | os.X_OK):
        yield Result(
            "✗",
            "data folder",
            f"this user cannot write to {existing}",
            f"chown it to the user that runs bowerbird, or set {PREFIX}DATA_DIR to another folder",
        )
        return
    free = shutil.disk_usage(existing).free
    state = f"{folder} is writable" if folder.exists() else f"the first start creates {folder}"
    fix = "" if free >= _MIN_FREE_BYTES else "free disk space: imports and backups need it"
    yield Result("!" if fix else "✓", "data folder", f"{state}, {free / 1e9:,.1f} GB free", fix)
    if folder.exists():
        yield _permissions(folder)


def _permissions(folder: Path) -> Result:
    if named := open_to_others(folder):
        fix = f"run chmod -R go-rwx {shlex.quote(str(folder))}"
        return Result("!", "permissions", f"other users can read {named}", fix)
    return Result("✓", "permissions", "only this user can read the data folder")


def _database(settings: Settings) -> Iterator[Result]:
    if settings.is_sqlite and not (settings.data_dir / FILE_NAME).exists():
        yield Result("✓", "database", "the first start creates it")
        return
    try:
        if settings.is_sqlite:
            found = diagnosis.of_sqlite(settings.data_dir)
        else:
            found = asyncio.run(diagnosis.of_postgres(settings.database_url))
    except SchemaProblem as error:
        fix = (
            "restore a backup with bowerbird restore FILE"
            if settings.is_sqlite
            else f"start PostgreSQL, or correct {PREFIX}DATABASE_URL; see docs/postgresql.md"
        )
        yield Result("✗", "database", str(error), fix)
        return
    yield from _database_results(found, settings)


def _files(settings: Settings) -> Result:
    files = Files(settings)
    if files.folder is not None and not files.folder.exists():
        return Result("✓", "files", f"{files.place} is created when it is needed")
    try:
        asyncio.run(files.size("mark"))
    except Refusal as refused:
        fix = f"check {PREFIX}FILES_URL and the {PREFIX}FILES_* settings, and start the file server"
        return Result("✗", "files", f"cannot reach the files in {_cause(refused)}", fix)
    return Result("✓", "files", f"{files.place} is readable")


def _cause(refused: Refusal) -> str:
    """The first line of the underlying error."""
    return str(refused.__cause__ or "").partition("\n")[0]


def _jobs(settings: Settings) -> Iterator[Result]:
    counts = asyncio.run(_job_counts(settings))
    summary = ", ".join(f"{each.count} {each.kind} {each.state}" for each in counts)
    now = system_clock()
    waiting = [each.oldest_at for each in counts if each.state == JobState.PENDING]
    if waiting and now - min(waiting) > _LONG_WAIT:
        fix = "run bowerbird serve" if settings.is_sqlite else "run bowerbird worker"
        yield Result("!", "jobs", f"{summary}; no process is running them", fix)
        return
    failed = any(each.state == JobState.FAILED for each in counts)
    fix = "run bowerbird jobs list for the reason, then bowerbird jobs retry" if failed else ""
    yield Result("!" if failed else "✓", "jobs", summary or "none", fix)


async def _job_counts(settings: Settings) -> list[JobCount]:
    async with opened_library(settings) as opened:
        return await JobStore(opened.database).counts()


def _database_results(found: diagnosis.Diagnosis, settings: Settings) -> Iterator[Result]:
    fix = "" if found.is_usable else "install PostgreSQL's contrib modules (Debian: postgresql)"
    mark = "✓" if found.is_usable else "✗"
    yield Result(mark, "database", f"{found.engine}, {found.detail}", fix)
    if not found.pending:
        yield Result("✓", "schema", "is up to date")
        yield from _jobs(settings)
        return
    steps = ", ".join(found.pending)
    # The next start migrates a SQLite library; only the command migrates PostgreSQL.
    mark = "!" if settings.is_sqlite else "✗"
    yield Result(mark, "schema", f"not yet applied: {steps}", "run bowerbird migrate")


def _fonts() -> Iterator[Result]:
    missing = fonts.missing_fonts()
    if not missing:
        yield Result("✓", "fonts", f"PDF exports can show {', '.join(fonts.SCRIPTS)}")
        return
    scripts = ", ".join(lack.script for lack in missing)
    packages = " ".join(sorted({lack.package for lack in missing}))
    sentence = f"no font for {scripts}; PDF exports show such text as empty boxes"
    yield Result("!", "fonts", sentence, f"run {fonts.INSTALL_COMMAND}, or apt install {packages}")


def _model(settings: Settings) -> Iterator[Result]:
    if settings.embedding_url:
        sentence = f"{settings.embedding_model}, from the service in {PREFIX}EMBEDDING_URL"
        yield Result("✓", "model", sentence)
        return
    folder = model_folder(settings)
    model = local_model(folder)
    if model is None:
        sentence = f"{folder} contains no model, so search by meaning is not available"
        yield Result("!", "model", sentence, "run make model")
    elif broken := model.broken_file():
        yield Result("!", "model", f"{broken} is damaged or missing", "run make model")
    else:
        yield Result("✓", "model", model.name)


def _ports(settings: Settings) -> Iterator[Result]:
    yield _port("port", settings.host, settings.port, "/v1/bookmarks", f"{PREFIX}PORT")
    if settings.admin_port:
        yield _port(
            "admin port",
            settings.admin_host,
            settings.admin_port,
            "/metrics",
            f"{PREFIX}ADMIN_PORT",
        )


def _port(subject: str, host: str, port: int, path: str, variable: str) -> Result:
    state = port_state(host, port, path)
    if state is Port.FREE:
        return Result("✓", subject, f"{host}:{port} is free")
    if state is Port.OURS:
        return Result("✓", subject, f"{host}:{port} is served by bowerbird")
    fix = f"stop the other program, or set {variable} to another port"
    return Result("✗", subject, f"{host}:{port} {state.value}", fix)
