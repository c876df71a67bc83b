"""`doctor`: looks at everything the service needs, and says how to mend what is missing."""

import asyncio
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import fields
from typing import Final

import click
from msgspec import Struct

from bowerbird.cli.opened import settings_from_environment
from bowerbird.cli.ports import Port, state_of
from bowerbird.search.embedding import local_model
from bowerbird.search.models import model_folder
from bowerbird.settings import PREFIX, BadSetting, Settings
from bowerbird.storage import diagnosis
from bowerbird.storage.migrations import SchemaProblem
from bowerbird.storage.sqlite import FILE_NAME

_LEAST_FREE_BYTES: Final = 1 << 30
# A character of the script, and the Debian package that brings a Noto font for it.
_SCRIPTS: Final = {
    "Latin": (0x41, "fonts-noto-core"),
    "Arabic": (0x627, "fonts-noto-core"),
    "Hebrew": (0x5D0, "fonts-noto-core"),
    "Devanagari": (0x905, "fonts-noto-core"),
    "Thai": (0xE01, "fonts-noto-core"),
    "CJK": (0x4E00, "fonts-noto-cjk"),
    "emoji": (0x1F600, "fonts-noto-color-emoji"),
}


class Line(Struct, frozen=True):
    """One thing that was looked at. `mark` is ✓ (well), ! (worth knowing) or ✗ (broken)."""

    mark: str
    subject: str
    sentence: str
    mend: str = ""


@click.command()
def doctor() -> None:
    r"""Check settings, data folder, database, fonts, model and ports, and say how to mend each.

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


def _diagnosed(found: diagnosis.Diagnosis, settings: Settings) -> Iterator[Line]:
    mend = "" if found.is_usable else "install PostgreSQL's contrib modules (Debian: postgresql)"
    mark = "✓" if found.is_usable else "✗"
    yield Line(mark, "database", f"{found.engine}, {found.detail}", mend)
    if not found.pending:
        yield Line("✓", "schema", "is current")
        return
    steps = ", ".join(found.pending)
    # A SQLite library is migrated by the next start; PostgreSQL waits for the command.
    mark = "!" if settings.is_sqlite else "✗"
    yield Line(mark, "schema", f"not yet applied: {steps}", "bowerbird migrate")


def _fonts() -> Iterator[Line]:
    program = shutil.which("fc-list")
    if program is None:
        yield Line(
            "!", "fonts", "fc-list is missing, so fonts cannot be found", "apt install fontconfig"
        )
        return
    missing = {
        script: package
        for script, (character, package) in _SCRIPTS.items()
        if "Noto" not in _families(program, character)
    }
    if not missing:
        yield Line("✓", "fonts", f"Noto fonts for {', '.join(_SCRIPTS)}")
        return
    packages = " ".join(sorted(set(missing.values())))
    sentence = f"no Noto font for {', '.join(missing)}; PDF exports will lack these scripts"
    yield Line("!", "fonts", sentence, f"apt install {packages}")


def _families(program: str, character: int) -> str:
    ran = subprocess.run(  # noqa: S603 - the program and a number of ours
        [program, f":charset={character:x}", "family"], capture_output=True, text=True, check=False
    )
    return ran.stdout


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
