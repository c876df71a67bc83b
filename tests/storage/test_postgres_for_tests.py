"""The throw-away PostgreSQL server that other tests use."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.postgres import ThrowawayPostgres
from tests.support.postgres_binaries import (
    PostgresUnavailableError,
    fresh_folder,
    installed_binaries,
    ordinary_identity,
)
from tests.support.waiting import wait_until

ROOT = Path(__file__).parents[2]

# Prints the address of the server, then waits to be killed.
CHILD = """
from tests.support.postgres import ThrowawayPostgres
server = ThrowawayPostgres()
print(server.execute("SHOW data_directory"), flush=True)
input()
"""


def test_the_server_ends_with_a_killed_test_process() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", CHILD],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as child:
        assert child.stdout is not None
        data = Path(child.stdout.readline().strip())
        process = int((data / "postmaster.pid").read_text(encoding="ascii").split()[0])
        child.kill()
    wait_until(lambda: not data.parent.exists() and not is_running(process))


def is_running(process: int) -> bool:
    state = Path(f"/proc/{process}/stat")
    return state.exists() and state.read_text(encoding="ascii").split()[2] != "Z"


@pytest.mark.skipif(os.geteuid() != 0, reason="an ordinary user changes no user")
def test_root_starts_a_server_from_programs_that_only_root_can_read(tmp_path: Path) -> None:
    installation = installed_binaries().parent
    package = installation.parent
    libraries = package.with_name(f"{package.name}.libs")
    shutil.copytree(installation, tmp_path / package.name / installation.name)
    if libraries.is_dir():
        shutil.copytree(libraries, tmp_path / libraries.name)
    subprocess.run(["chmod", "-R", "go=", tmp_path], check=True)
    with ThrowawayPostgres(tmp_path / package.name / installation.name / "bin") as server:
        assert server.execute("SELECT 1") == "1"
    assert tmp_path.stat().st_mode & 0o777 == 0o700


def test_a_folder_too_long_for_a_socket_is_skipped(tmp_path: Path) -> None:
    long = tmp_path / ("x" * 100)
    long.mkdir()
    folder = fresh_folder({}, [str(long), str(tmp_path)])
    assert folder.parent == tmp_path
    assert list(long.iterdir()) == []


@pytest.mark.skipif(os.geteuid() != 0, reason="an ordinary user changes no user")
def test_a_folder_that_only_root_can_enter_is_refused(tmp_path: Path) -> None:
    tmp_path.chmod(0o700)
    with pytest.raises(PostgresUnavailableError, match="open to the server"):
        fresh_folder(ordinary_identity(), [str(tmp_path)])
    assert list(tmp_path.iterdir()) == []


def test_a_server_that_does_not_start_shows_its_log() -> None:
    with ThrowawayPostgres() as server:
        settings = Path(server.execute("SHOW config_file"))
        server.stop(keep=True)
        settings.write_text("no_such_setting = 1\n", encoding="ascii")
        with pytest.raises(PostgresUnavailableError, match="no_such_setting"):
            server.start()
