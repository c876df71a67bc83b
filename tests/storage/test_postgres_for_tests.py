"""The throw-away PostgreSQL server that other tests use."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import asyncpg
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

pytestmark = pytest.mark.anyio


@pytest.fixture(scope="module")
def server() -> Iterator[ThrowawayPostgres]:
    with ThrowawayPostgres() as server:
        server.create_template("labels", lambda _: fill(server))
        yield server


def fill(server: ThrowawayPostgres) -> None:
    server.execute("CREATE TABLE label (name text)", "labels")
    server.execute("INSERT INTO label VALUES ('kept')", "labels")


async def names(url: str, timeout_s: float = 30) -> list[str]:
    connection = await asyncpg.connect(url, timeout=timeout_s)
    try:
        return [row["name"] for row in await connection.fetch("SELECT name FROM label")]
    finally:
        await connection.close()


async def test_a_fresh_database_is_an_independent_copy(
    server: ThrowawayPostgres,
) -> None:
    with server.fresh_database("labels") as first, server.fresh_database("labels") as second:
        connection = await asyncpg.connect(first)
        await connection.execute("DELETE FROM label")
        await connection.close()
        assert await names(first) == []
        assert await names(second) == ["kept"]


async def test_a_fresh_database_is_dropped_while_a_connection_is_open(
    server: ThrowawayPostgres,
) -> None:
    with server.fresh_database("labels") as url:
        connection = await asyncpg.connect(url)
    with pytest.raises(asyncpg.PostgresError):
        await connection.execute("SELECT 1")
    with pytest.raises(asyncpg.InvalidCatalogNameError):
        await names(url)


async def test_data_survives_a_restart(server: ThrowawayPostgres) -> None:
    with server.fresh_database("labels") as url:
        server.stop(keep=True)
        with pytest.raises(OSError, match="No such file"):
            await names(url)
        server.start()
        assert await names(url) == ["kept"]


async def test_connections_are_closed_by_the_server(server: ThrowawayPostgres) -> None:
    with server.fresh_database("labels") as url:
        connection = await asyncpg.connect(url)
        assert server.kill_backends() == 1
        with pytest.raises(asyncpg.PostgresError):
            await connection.execute("SELECT 1")


async def test_a_paused_server_answers_again_when_resumed(server: ThrowawayPostgres) -> None:
    with server.fresh_database("labels") as url:
        connection = await asyncpg.connect(url)
        server.pause()
        with pytest.raises(TimeoutError):
            await names(url, timeout_s=1)
        server.resume()
        assert await connection.fetchval("SELECT 1") == 1
        await connection.close()


def test_the_gin_extension_for_plain_columns_is_installed(server: ThrowawayPostgres) -> None:
    with server.fresh_database() as url:
        database = url.partition("?")[0].rpartition("/")[2]
        server.execute("CREATE EXTENSION btree_gin", database)
        server.execute("CREATE TABLE word (account_id bigint, tsv tsvector)", database)
        server.execute("CREATE INDEX ON word USING gin (account_id, tsv)", database)
        assert "gin" in server.execute(
            "SELECT indexdef FROM pg_indexes WHERE tablename = 'word'", database
        )


def test_database_names_are_quoted(server: ThrowawayPostgres) -> None:
    server.create_database('it\'s "a" name')
    assert server.execute("SELECT current_database()", 'it\'s "a" name') == 'it\'s "a" name'
    server.drop_database('it\'s "a" name')


def test_a_failed_statement_raises_the_message_of_the_server(server: ThrowawayPostgres) -> None:
    with pytest.raises(RuntimeError, match='relation "nowhere" does not exist'):
        server.execute("SELECT FROM nowhere")


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


def test_a_stopped_server_leaves_nothing_behind() -> None:
    with ThrowawayPostgres() as server:
        folder = Path(server.execute("SHOW data_directory")).parent
        assert folder.is_dir()
    assert not folder.exists()
