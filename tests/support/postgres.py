"""A PostgreSQL server that runs as long as one test process and leaves no files behind.

Every call blocks and needs no event loop, so fixtures and tests of either kind may call it.
Each process starts its own server, so parallel workers share no locks and no names.
"""

import atexit
import itertools
import os
import shutil
import signal
import subprocess
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final, Self
from urllib.parse import quote

from tests.support.engines.postgres_binaries import (
    PostgresUnavailableError,
    fresh_folder,
    installed_binaries,
    ordinary_identity,
    reachable_binaries,
    temporary_parents,
)
from tests.support.engines.psql import Psql
from tests.support.waiting import wait_until

START_SECONDS: Final = 120
STOP_SECONDS: Final = 120
LOG_TAIL_CHARACTERS: Final = 2000

# No durability, which saves time: the data is deleted after the tests.
SERVER_OPTIONS: Final = (
    "listen_addresses=",
    "fsync=off",
    "synchronous_commit=off",
    "full_page_writes=off",
    "shared_buffers=64MB",
    "max_connections=100",
    "min_wal_size=32MB",
    "max_wal_size=128MB",
    "wal_level=minimal",
    "max_wal_senders=0",
)

# A killed test process cannot clean up, but its end of the pipe closes and `cat` returns.
# The server gets a second to exit. The limit is needed because a process that is not reaped
# never disappears.
GUARD: Final = """
cat >/dev/null; kill -QUIT "$1"; kill -CONT "$1"
for _ in 1 2 3 4 5 6 7 8 9 10; do kill -0 "$1" 2>/dev/null || break; sleep 0.1; done
rm -rf "$2"
"""


class ThrowawayPostgres:
    """One server in a fresh temporary folder, reachable by its Unix socket only."""

    def __init__(
        self,
        binaries: Path | None = None,
        *,
        options: Sequence[str] = SERVER_OPTIONS,
        parents: Iterable[str] | None = None,
    ) -> None:
        """`parents` are the folders to try for the new one."""
        self._environment = client_environment()
        self._identity = ordinary_identity()
        self._client_binaries = binaries or installed_binaries()
        self._options = options
        self.folder = fresh_folder(self._identity, parents or temporary_parents())
        self._server: subprocess.Popen[bytes] | None = None
        self._guard: subprocess.Popen[bytes] | None = None
        self._psql: Psql | None = None
        self._frozen: list[int] = []
        self._numbers = itertools.count(1)
        atexit.register(self.stop)
        try:
            self._binaries = reachable_binaries(self._client_binaries, self.folder, self._identity)
            self._create_cluster()
            self.start()
        except BaseException:
            self.stop()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def url(self, database: str = "postgres") -> str:
        host = quote(str(self.folder), safe="")
        return f"postgresql://postgres@/{quote(database, safe='')}?host={host}&port=5432"

    def execute(self, statement: str, database: str = "postgres") -> str:
        """Run one statement outside any transaction and return its rows as plain text."""
        if database == "postgres":
            return self._operator().execute(statement)
        ran = self._ask(statement, database)
        if ran.returncode != 0:
            raise RuntimeError(ran.stderr.strip())
        return ran.stdout.strip()

    def create_database(self, name: str, *, template: str = "template1") -> None:
        # Without fsync, copying files takes 15 ms; the default, through the log, takes 27 ms.
        self.execute(
            f"CREATE DATABASE {_quoted(name)} TEMPLATE {_quoted(template)} STRATEGY FILE_COPY"
        )

    def drop_database(self, name: str) -> None:
        self.execute(f"DROP DATABASE IF EXISTS {_quoted(name)} WITH (FORCE)")

    def create_template(
        self, name: str, build: Callable[[str], object], *, template: str = "template1"
    ) -> None:
        """Create a database that `build` fills, given its URL, for `fresh_database` to copy."""
        self.create_database(name, template=template)
        build(self.url(name))

    @contextmanager
    def fresh_database(self, template: str = "template1") -> Iterator[str]:
        """The URL of a new copy of the template, dropped afterwards even while in use."""
        name = f"test_{next(self._numbers)}"
        self.create_database(name, template=template)
        try:
            yield self.url(name)
        finally:
            self.resume()
            if self._server is not None:
                self.drop_database(name)

    def start(self) -> None:
        """Start the server, also after `stop(keep=True)`, and wait until it answers."""
        if self._server is not None:
            raise RuntimeError("the server is running")
        self._server = self._start_server()
        self._guard = subprocess.Popen(
            ["/bin/sh", "-c", GUARD, "guard", str(self._server.pid), str(self.folder)],
            stdin=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        self._wait_until_ready(self._server)

    def stop(self, *, keep: bool = False) -> None:
        """Stop the server; `keep=True` keeps its data for the next `start`."""
        self._end(signal.SIGINT if keep else signal.SIGQUIT)
        if not keep:
            atexit.unregister(self.stop)
            shutil.rmtree(self.folder, ignore_errors=True)

    def crash(self) -> None:
        """Stop without a checkpoint; the next `start` recovers from the write-ahead log."""
        self._end(signal.SIGQUIT)

    def kill_backends(self) -> int:
        """Close every client connection on the server side and return their number."""
        cut = self.execute(
            "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity"
            " WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()"
        )
        # The server warns about a connection that ended by itself meanwhile.
        return int(cut.splitlines()[-1])

    def pause(self) -> None:
        """Freeze the server: connections stay open and nothing answers. Linux only."""
        if self._server is None or self._frozen:
            raise RuntimeError("only a running server can be paused")
        parent = self._server.pid
        # The parent first, so that it cannot start a child that the list would miss.
        self._freeze(parent)
        children = Path(f"/proc/{parent}/task/{parent}/children").read_text(encoding="ascii")
        for child in children.split():
            self._freeze(int(child))

    def resume(self) -> None:
        while self._frozen:
            os.kill(self._frozen.pop(), signal.SIGCONT)

    def _end(self, how: signal.Signals) -> None:
        self.resume()
        self._dismiss_guard()
        if self._psql is not None:
            self._psql.close()
            self._psql = None
        if self._server is not None:
            self._server.send_signal(how)
            self._server.wait(timeout=STOP_SECONDS)
            self._server = None

    def _freeze(self, process: int) -> None:
        os.kill(process, signal.SIGSTOP)
        self._frozen.append(process)

    def _create_cluster(self) -> None:
        ran = subprocess.run(
            [
                *(self._binaries / "initdb", "--pgdata", self.folder / "data", "--no-sync"),
                *("--username=postgres", "--auth=trust", "--encoding=UTF8", "--locale=C.UTF-8"),
            ],
            cwd=self.folder,
            env=self._environment,
            capture_output=True,
            text=True,
            check=False,
            **self._identity,
        )
        if ran.returncode != 0:
            raise PostgresUnavailableError(f"initdb failed: {ran.stderr[-LOG_TAIL_CHARACTERS:]}")

    def _start_server(self) -> subprocess.Popen[bytes]:
        options = [*self._options, f"unix_socket_directories={self.folder}"]
        with self._log.open("ab") as log:
            return subprocess.Popen(
                [self._binaries / "postgres", "-D", self.folder / "data", *_flags(options)],
                cwd=self.folder,
                env=self._environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                # Ctrl-C must reach only the tests, which still need the server.
                start_new_session=True,
                **self._identity,
            )

    def _wait_until_ready(self, server: subprocess.Popen[bytes]) -> None:
        def is_ready_or_gone() -> bool:
            is_ready = self._ask("SELECT 1", "postgres").returncode == 0
            return is_ready or server.poll() is not None

        with suppress(AssertionError):
            wait_until(is_ready_or_gone, START_SECONDS)
            if server.poll() is None:
                return
        tail = self._log.read_text(errors="replace")[-LOG_TAIL_CHARACTERS:]
        self.stop(keep=True)
        raise PostgresUnavailableError(f"PostgreSQL did not start:\n{tail}")

    def _operator(self) -> Psql:
        if self._psql is None:
            program = self._client_binaries / "psql"
            self._psql = Psql(program, self.url("postgres"), self._environment)
        return self._psql

    def _ask(self, statement: str, database: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [self._client_binaries / "psql", "-XAtqc", statement, self.url(database)],
            env=self._environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=START_SECONDS,
        )

    def _dismiss_guard(self) -> None:
        """End the guard before the server is reaped and its process id can be reused."""
        if self._guard is not None:
            self._guard.kill()
            self._guard.communicate()
            self._guard = None

    @property
    def _log(self) -> Path:
        return self.folder / "log"


def client_environment() -> dict[str, str]:
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("PG")}
    return inherited | {"LC_ALL": "C.UTF-8", "TZ": "UTC"}


def _flags(options: list[str]) -> Iterator[str]:
    for option in options:
        yield from ("-c", option)


def _quoted(name: str) -> str:
    escaped = name.replace('"', '""')
    return f'"{escaped}"'
