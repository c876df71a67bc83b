"""A PostgreSQL server with all durability on, on disk, that can crash and recover.

The one of the tests runs in memory without fsync, so it could not show a lost commit.
"""

import tempfile
from typing import Final

from tests.support.engines.postgres_binaries import installed_binaries, version
from tests.support.postgres import ThrowawayPostgres

# Everything that concerns durability has its default, which is on.
_OPTIONS: Final = ("listen_addresses=", "max_connections=120", "shared_buffers=128MB")
_SHOWN: Final = ("fsync", "synchronous_commit", "full_page_writes")


class DurablePostgres(ThrowawayPostgres):
    def __init__(self) -> None:
        # Not in memory, unlike in the tests. The path of a socket has to be short.
        parents = (tempfile.gettempdir(), "/tmp")  # noqa: S108 - mkdtemp makes the name
        super().__init__(options=_OPTIONS, parents=parents)

    def has_recovered(self) -> bool:
        """Whether the log says that a start repaired an interrupted run."""
        return "automatic recovery in progress" in self._log.read_text(errors="replace")

    def describe(self) -> str:
        shown = [f"{name}={self.execute(f'SHOW {name}')}" for name in _SHOWN]
        return f"PostgreSQL {version(installed_binaries())} ({', '.join(shown)})"

    def rows(self, statement: str) -> list[list[str]]:
        return [line.split("|") for line in self.execute(statement).splitlines()]
