"""A replica of a throwaway PostgreSQL server, fed by streaming replication."""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from tests.support.postgres import SERVER_OPTIONS, ThrowawayPostgres, client_environment
from tests.support.waiting import wait_until

_WITHOUT: Final = ("wal_level=minimal", "max_wal_senders=0")
# The primary keeps its log while the replica is stopped.
PRIMARY_OPTIONS: Final = (
    *(option for option in SERVER_OPTIONS if option not in _WITHOUT),
    "wal_level=replica",
    "max_wal_senders=4",
    "wal_keep_size=256MB",
)


class Standby(ThrowawayPostgres):
    def __init__(self, primary: ThrowawayPostgres) -> None:
        self._primary = primary
        # The same options, because a replica may not allow fewer connections than its primary.
        super().__init__(options=PRIMARY_OPTIONS)

    def hold(self) -> None:
        """From now on changes arrive, but are not repeated."""
        self.execute("SELECT pg_wal_replay_pause()")
        wait_until(lambda: self.execute("SELECT pg_get_wal_replay_pause_state()") == "paused")

    def let_go(self) -> None:
        self.execute("SELECT pg_wal_replay_resume()")

    def catch_up(self) -> None:
        """Waits until the replica has repeated everything that the primary has written by now."""
        written = self._primary.execute("SELECT pg_current_wal_insert_lsn()")
        wait_until(
            lambda: self.execute(f"SELECT pg_last_wal_replay_lsn() >= '{written}'::pg_lsn") == "t"
        )

    def _create_cluster(self) -> None:
        copied = self.folder / "data"
        subprocess.run(
            [
                *(self._binaries / "pg_basebackup", "--pgdata", copied, "--write-recovery-conf"),
                *("--checkpoint=fast", "--no-sync", "--dbname", self._primary.url()),
            ],
            cwd=self.folder,
            env=client_environment(),
            capture_output=True,
            check=True,
            **self._identity,
        )


@contextmanager
def replicated() -> Iterator[tuple[ThrowawayPostgres, Standby]]:
    with ThrowawayPostgres(options=PRIMARY_OPTIONS) as primary, Standby(primary) as standby:
        yield primary, standby
