"""Only the user who runs the service can read what it stores, whatever the umask is."""

import json
import os
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from bowerbird.settings import Settings
from bowerbird.storage.files import Files
from bowerbird.storage.sqlite import schema as sqlite_schema
from bowerbird.storage.sqlite.database import FILE_NAME, SqliteDatabase
from tests.cli.libraries import EMAIL, Library, sqlite_library
from tests.support import make, serving
from tests.support.waiting import wait_until


@pytest.fixture
def library(tmp_path: Path) -> Library:
    """A library whose folder existed before, readable for everybody."""
    folder = tmp_path / "data"
    folder.mkdir(mode=0o755)
    return sqlite_library(folder)


def readable_by_others(folder: Path) -> list[str]:
    """The files and folders below this one that other users may read or change."""
    return sorted(
        f"{path.relative_to(folder)} {stat.S_IMODE(path.stat().st_mode):o}"
        for path in folder.rglob("*")
        if path.stat().st_mode & 0o077
    )


def run(library: Library, *arguments: object) -> str:
    """Runs a command in a process that takes no permission away from new files."""
    ran = subprocess.run(
        [sys.executable, "-m", "bowerbird", *map(str, arguments)],
        env={**os.environ, **library.environment},
        capture_output=True,
        text=True,
        check=False,
        umask=0,
    )
    assert ran.returncode in (0, 1), ran.stderr
    return ran.stdout


def test_commands_create_private_files_in_an_open_folder(library: Library, tmp_path: Path) -> None:
    posts, output = tmp_path / "posts.json", tmp_path / "output"
    posts.write_text(json.dumps([make.post(), {"post_id": "wrong"}]))
    output.mkdir()

    run(library, "account", "create", EMAIL)
    run(library, "import", EMAIL, posts, "--refused", output / "refused")
    run(library, "account", "export", EMAIL, output / "account.json")
    run(library, "backup", output / "backup.tar")
    run(library, "restore", "--yes", output / "backup.tar")

    assert {path.name for path in output.iterdir()} == {"refused", "account.json", "backup.tar"}
    assert readable_by_others(output) == []
    assert readable_by_others(library.folder) == []


def test_a_missing_data_folder_is_created_private_with_its_parents(tmp_path: Path) -> None:
    library = sqlite_library(tmp_path / "one" / "two" / "data")

    run(library, "account", "create", EMAIL)

    assert readable_by_others(tmp_path) == []


def test_a_running_server_has_only_private_files(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir(mode=0o755)
    # A shell that takes no permission away, and is then replaced by the server.
    command = ("sh", "-c", f'umask 0; exec {sys.executable} -m bowerbird "$@"', "sh")
    with serving.serving(tmp_path, command=command) as server:
        key = server.new_key()
        server.run("account", "plan", "you@example.com", "pro")
        started = serving.http.post(
            f"http://127.0.0.1:{server.port}/v1/exports/csv",
            json={},
            headers={"Authorization": f"Bearer {key}"},
        )
        path = started.headers["Location"]
        wait_until(lambda: server.get(path, key).json()["data"]["status"] == "completed")

        assert list((tmp_path / "data" / "files").rglob("*.csv"))
        assert (tmp_path / "data" / f"{FILE_NAME}-wal").exists()
        assert readable_by_others(tmp_path / "data") == []


@pytest.mark.anyio
async def test_files_are_private_without_the_umask_of_the_command(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        await Files(Settings(data_dir=tmp_path)).put("exports/7/file.csv", b"text")
        await Files(Settings(data_dir=tmp_path)).put_new("mark", b"text")
        sqlite_schema.prepare(tmp_path)
        await SqliteDatabase(tmp_path).close()
    finally:
        os.umask(before)

    assert readable_by_others(tmp_path) == []


@pytest.mark.anyio
async def test_opening_the_library_of_an_older_release_makes_its_files_private(
    sqlite_template: Path, tmp_path: Path
) -> None:
    shutil.copy(sqlite_template, tmp_path / FILE_NAME)
    for name in (FILE_NAME, "write.lock", f"{FILE_NAME}-wal", f"{FILE_NAME}-shm"):
        (tmp_path / name).touch()
        (tmp_path / name).chmod(0o644)

    database = SqliteDatabase(tmp_path)

    assert readable_by_others(tmp_path) == []
    await database.close()


def test_doctor_names_what_others_can_read_and_the_command_that_helps(library: Library) -> None:
    library.fill(1)
    old = library.folder / "before-migration-0003.db"
    old.touch(mode=0o644)
    old.chmod(0o644)

    ran = library.run("doctor")

    assert "! permissions: other users can read" in ran.text
    assert f"{library.folder} and before-migration-0003.db" in ran.text
    assert f"fix: run chmod -R go-rwx {library.folder}" in ran.text

    for path in (library.folder, old):
        path.chmod(path.stat().st_mode & 0o700)
    assert "✓ permissions: only this user can read the data folder" in library.run("doctor").text
