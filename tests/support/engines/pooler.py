"""PgBouncer before a PostgreSQL server, both on Unix sockets, for as long as the tests on them.

    python -m tests.support.engines.pooler session|transaction ARGUMENT OF PYTEST…

Debian's package has its program.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final
from urllib.parse import quote

from tests.support.engines.external_postgres import VARIABLE
from tests.support.engines.postgres_binaries import (
    fresh_folder,
    ordinary_identity,
    temporary_parents,
)
from tests.support.postgres import ThrowawayPostgres, client_environment
from tests.support.waiting import wait_until

PROGRAM: Final = Path("/usr/sbin/pgbouncer")
DATABASE: Final = "bowerbird_test"
# As docs/scaling.md says. Few connections, so that clients take turns with each.
_CONFIGURATION: Final = """
[databases]
* = host={server} port=5432 user=postgres
[pgbouncer]
listen_port = 5432
unix_socket_dir = {folder}
auth_type = any
pool_mode = {mode}
default_pool_size = {size}
ignore_startup_parameters = {ignored}
logfile = {folder}/log
"""
# Those that the service sets when it connects (docs/scaling.md).
_IGNORED: Final = (
    "jit, max_parallel_workers_per_gather, enable_memoize, lock_timeout, statement_timeout"
)
_SIZES: Final = {"session": 90, "transaction": 3}
_STOP_S: Final = 30


@contextmanager
def pooler(server: ThrowawayPostgres, mode: str) -> Iterator[str]:
    """The URL of the database DATABASE of the server, through PgBouncer."""
    identity = ordinary_identity()
    folder = fresh_folder(identity, temporary_parents())
    file = folder / "pgbouncer.ini"
    file.write_text(
        _CONFIGURATION.format(
            server=server.folder, folder=folder, mode=mode, size=_SIZES[mode], ignored=_IGNORED
        )
    )
    # `identity` cannot read a file of root.
    file.chmod(0o644)
    process = subprocess.Popen(
        [PROGRAM, "--quiet", file], env=client_environment(), start_new_session=True, **identity
    )
    try:
        wait_until(lambda: (folder / ".s.PGSQL.5432").exists() or process.poll() is not None)
        yield f"postgresql://postgres@/{DATABASE}?host={quote(str(folder), safe='')}&port=5432"
    finally:
        process.terminate()
        process.wait(_STOP_S)
        shutil.rmtree(folder)


def main() -> int:
    mode, *arguments = sys.argv[1:]
    named = {"session": "on", "transaction": "off"}[mode]
    with ThrowawayPostgres() as server:
        server.create_database(DATABASE)
        with pooler(server, mode) as url:
            settings = {VARIABLE: url, "BOWERBIRD_POSTGRES_NAMED_STATEMENTS": named}
            return subprocess.run(
                [sys.executable, "-m", "pytest", "-p", "no:xdist", "-k", "postgres", *arguments],
                env={**os.environ, **settings},
                check=False,
            ).returncode


if __name__ == "__main__":
    sys.exit(main())
