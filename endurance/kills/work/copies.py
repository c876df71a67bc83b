"""`bowerbird backup` and `bowerbird restore` that are killed. PostgreSQL has tools of its own."""

import asyncio
import hashlib
import json
import shutil
from pathlib import Path
from typing import Any, Final

from bowerbird.cli.context import opened_library
from bowerbird.clock import system_clock
from bowerbird.library.accounts.accounts import Accounts
from bowerbird.settings import Settings
from bowerbird.storage.backup import archives
from endurance.kills.trials import EMAIL, SQLITE, Kind, Library, Trial
from tests.crash.killing import Moment, Work
from tests.support import make
from tests.support.imports import dump_of

_POSTS: Final = 200
_FILES: Final = 12
_BACKUPS: Final = 25
_RESTORES: Final = 20
# About as long as a backup or a restore takes.
_BACKUP: Final = Moment(0, 0, 0.12)
_RESTORE: Final = Moment(0, 0, 0.15)


def _fill(library: Library) -> str:
    _import(library, "first")
    return _fingerprint(library.settings)


def _back_up(trial: Trial) -> None:
    """At any time there is no backup, or a whole one, and the library does not change."""
    folder = trial.library.folder / "backups"
    folder.mkdir()
    target = folder / "backup.tar"
    backup = _command(trial, "backup", target, "--force")
    for _ in range(_BACKUPS):
        trial.life(backup, _BACKUP)
        if target.exists():
            _verify(target)
    trial.life(backup, None)
    assert [path.name for path in folder.iterdir()] == ["backup.tar"]
    assert _fingerprint(trial.settings) == trial.state
    other = {**trial.library.options, "data_dir": trial.library.folder / "other"}
    copy = Library(trial.library.folder, other)
    copy.command("restore", str(target), "--yes")
    assert _fingerprint(copy.settings) == trial.state


def _fill_twice(library: Library) -> dict[str, str]:
    """Returns the fingerprints of two libraries; the backup of each has its name."""
    found = {}
    for name in ("first", "second"):
        _import(library, name)
        library.command("backup", str(library.folder / name))
        found[name] = _fingerprint(library.settings)
    return found


def _restore(trial: Trial) -> None:
    """At any time the library is the old or the new one, with its files."""
    present = "second"
    for _ in range(_RESTORES):
        (wanted,) = {"first", "second"} - {present}
        archive = trial.library.folder / wanted
        is_finished = trial.life(_command(trial, "restore", archive, "--yes"), _RESTORE)
        found = _fingerprint(trial.settings)
        assert found in trial.state.values()
        assert not is_finished or found == trial.state[wanted]
        present = wanted if found == trial.state[wanted] else present
        _remove_kept(trial.settings.data_dir)
    trial.library.command("restore", str(trial.library.folder / "first"), "--yes")
    assert _fingerprint(trial.settings) == trial.state["first"]
    assert not list(trial.settings.data_dir.glob("restore.*"))


def _command(trial: Trial, name: str, file: Path, option: str) -> Work:
    return lambda _: trial.library.command(name, str(file), option)


def _import(library: Library, name: str) -> None:
    posts = [make.post(text=f"{name} post {n}") for n in range(_POSTS)]
    file = library.folder / "posts.json"
    file.write_text(json.dumps(posts))
    library.command("import", EMAIL, str(file))
    files = library.settings.data_dir / "files"
    shutil.rmtree(files, ignore_errors=True)
    for number in range(_FILES):
        place = files / "media" / str(number % 3) / f"{name}-{number}"
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(f"{name} {number} ".encode() * 5_000)


def _verify(archive: Path) -> None:
    with archive.open("rb") as file:
        archives.read(file, None, lambda _what, _done, _total: None)


def _fingerprint(settings: Settings) -> str:
    """A hash of every row of the account and of every file."""
    found: list[Any] = [sorted(asyncio.run(_rows(settings)).items())]
    folder = settings.data_dir / "files"
    found += [
        (path.relative_to(folder).as_posix(), hashlib.sha256(path.read_bytes()).hexdigest())
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    ]
    return hashlib.sha256(repr(found).encode()).hexdigest()


async def _rows(settings: Settings) -> dict[str, Any]:
    async with opened_library(settings) as opened:
        account = await Accounts(opened.database, system_clock).find(EMAIL)
        return await dump_of(opened.database, account)


def _remove_kept(data: Path) -> None:
    """Each restore keeps the library before it."""
    for path in data.glob("*.before-restore*"):
        shutil.rmtree(path) if path.is_dir() else path.unlink()


BACKUP: Final = Kind(_back_up, _fill, databases=(SQLITE,))
RESTORE: Final = Kind(_restore, _fill_twice, databases=(SQLITE,))
