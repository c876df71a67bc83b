"""What happens to the cluster while clients work: a node is killed, shards move."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from tests.support.engines.citus_cluster import DATABASE, Cluster

_DOWN_S: Final = 5.0
_TICK_S: Final = 0.2


@dataclass
class Events:
    cluster: Cluster
    # The account whose shard is moved.
    account_id: int
    happened: list[tuple[str, str]] = field(default_factory=list)

    def run(self, seconds: float, check: Callable[[], None]) -> None:
        """Each event in its part of the time."""
        started = time.monotonic()
        parts = (self._kill, self._move, self._rebalance)
        for place, event in enumerate(parts):
            _wait(started + seconds * (place + 0.4) / len(parts), check)
            event()
        _wait(started + seconds, check)

    def _kill(self) -> None:
        node = self.cluster.nodes[0]
        started = time.monotonic()
        node.crash()
        time.sleep(_DOWN_S)
        node.start()
        self._note("A node was killed with SIGQUIT and came back", started)

    def _move(self) -> None:
        shard_of = f"get_shard_id_for_distribution_column('library', {self.account_id})"
        placed = self.cluster.rows("SELECT shardid, nodename FROM citus_shards")
        [[shard]] = self.cluster.rows(f"SELECT {shard_of}")
        host = dict(placed)[shard]
        other = next(str(n.folder) for n in self.cluster.nodes if str(n.folder) != host)
        started = time.monotonic()
        self._sql(
            f"SELECT citus_move_shard_placement({shard}, '{host}', 5432, '{other}', 5432,"
            " shard_transfer_mode := 'force_logical')"
        )
        self._note("The shard of an account was moved to the other node", started)

    def _rebalance(self) -> None:
        before = self._placements()
        started = time.monotonic()
        self._sql(
            "SELECT citus_rebalance_start('by_shard_count', shard_transfer_mode := 'force_logical')"
        )
        self._sql("SELECT citus_rebalance_wait()")
        after = self._placements()
        self._note(f"Shards were rebalanced, from {before} to {after} per node", started)

    def _placements(self) -> str:
        counted = self.cluster.rows(
            "SELECT count(*) FROM citus_shards WHERE table_name = 'library'::regclass"
            " GROUP BY nodename ORDER BY 1"
        )
        return " and ".join(row[0] for row in counted)

    def _sql(self, statement: str) -> None:
        self.cluster.coordinator.execute(statement, DATABASE)

    def _note(self, what: str, started: float) -> None:
        seconds = time.monotonic() - started
        print(f"{time.strftime('%H:%M:%S')} {what} ({seconds:.1f} s)", flush=True)
        self.happened.append((what, f"{seconds:.1f} s"))


def _wait(until: float, check: Callable[[], None]) -> None:
    while time.monotonic() < until:
        check()
        time.sleep(_TICK_S)
