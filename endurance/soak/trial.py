"""One soak from the empty database to its outcome."""

import signal
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from bowerbird.settings import Settings
from endurance.soak import cast, report
from endurance.soak.clients.client import Statistics
from endurance.soak.clients.free_plan import FreeUser
from endurance.soak.clients.load import Role, Setting, running
from endurance.soak.clients.readers import ChangingCrawl, Reader
from endurance.soak.clients.transfers import MOST_EXPORTS, Exporter, Importer
from endurance.soak.clients.writers import Writer
from endurance.soak.findings import Findings
from endurance.soak.inspection import Inspection
from endurance.soak.ledger import Ledger
from endurance.soak.rehearsal import measured_steps
from endurance.soak.service import nodes
from endurance.soak.service.balancer import Balancer
from endurance.soak.service.chaos import Chaos
from endurance.soak.service.nodes import Nodes
from endurance.soak.service.postgres import DurablePostgres
from tests.support import serving

_PROGRESS_S: Final = 10.0
# An account stores 10,000 answers per day.
_MOST_WRITES: Final = 4_500


@dataclass(frozen=True)
class Plan:
    seconds: float
    kill_every_s: float
    seed: int


def run(plan: Plan) -> report.Outcome:
    started = report.now()
    findings, statistics = Findings(), Statistics()
    with tempfile.TemporaryDirectory(prefix="soak-") as place, DurablePostgres() as postgres:
        folder = Path(place)
        port = serving.free_port()
        settings = _settings(folder, postgres, port)
        members = cast.created(Settings(**settings))
        every = nodes.prepared(folder, settings)
        with _started(every, findings), Balancer(every.servers, port) as balancer:
            keys = {name: member.key for name, member in members.items()}
            ledger = Ledger(folder / "ledger.jsonl")
            setting = Setting(balancer, keys, statistics, findings, ledger, plan.seed)
            trial = _Trial(plan, setting, every, postgres)
            environment = serving.environment_of(**settings)
            return trial.run(members, environment, started)


class _Trial:
    def __init__(
        self, plan: Plan, setting: Setting, every: Nodes, postgres: DurablePostgres
    ) -> None:
        self._plan, self._setting = plan, setting
        self._nodes, self._postgres = every, postgres
        self._chaos = Chaos(every, postgres, setting.findings, plan.seed, plan.kill_every_s)
        self._next_line = 0.0

    def run(
        self, members: dict[str, cast.Member], environment: dict[str, str], started: datetime
    ) -> report.Outcome:
        setting = self._setting
        looking = Inspection(setting, members, self._postgres, environment, {})
        steps = measured_steps(setting, looking)
        inspection = Inspection(setting, members, self._postgres, environment, steps)
        versions = inspection.versions()
        pages = {holder.name: inspection.bookmarks(holder) for holder in cast.STILL}
        free, importer = FreeUser(setting, cast.FREE), Importer(setting, cast.IMPORTING)
        with running([*self._roles(pages), _role(free, 3.0), _role(importer, 4.0)], setting):
            self._chaos.run(self._plan.seconds, self._progress)
        _say(f"The load has ended. Checking {setting.ledger.total:,} acknowledged writes.")
        self._nodes.wait_until_ready()
        inspection.run(versions, free)
        return report.Outcome(
            started=started,
            minutes=self._plan.seconds / 60,
            seed=self._plan.seed,
            kill_every_s=self._plan.kill_every_s,
            database=self._postgres.describe(),
            statistics=setting.statistics,
            findings=setting.findings,
            outages=self._chaos.outages,
            events=self._events(importer),
            logged=self._nodes.logged(),
        )

    def _roles(self, pages: dict[str, Any]) -> Iterator[Role]:
        setting = self._setting
        for place, holder in enumerate(cast.STILL):
            stranger = cast.CHANGING[place % len(cast.CHANGING)]
            reader = Reader(setting, holder, stranger)
            yield Role(f"reads of {holder.name}", reader, 0.1)
            crawler = Reader(setting, holder, stranger)
            yield Role(f"crawls of {holder.name}", crawler.crawl, 3.0)
            if holder is cast.STILL[0]:
                yield Role("tool calls", crawler.call_tool, 1.0)
        pause_s = max(0.12, self._plan.seconds / _MOST_WRITES)
        for holder in cast.CHANGING:
            yield Role(f"crawls of {holder.name}", ChangingCrawl(setting, holder), 6.0)
            for number in range(cast.WRITERS_PER_ACCOUNT):
                own = [*cast.before(holder).items()][number :: cast.WRITERS_PER_ACCOUNT]
                writer = Writer(setting, holder, number, dict(own))
                yield Role(f"writes of {writer.name}", writer, pause_s)
        for part in (cast.STILL[::2], cast.STILL[1::2]):
            pause_s = self._plan.seconds / (len(part) * MOST_EXPORTS)
            yield Role(f"exports of {part[0].name}", Exporter(setting, part, pages), pause_s)

    def _progress(self, elapsed_s: float) -> None:
        if elapsed_s < self._next_line:
            return
        self._next_line = elapsed_s + _PROGRESS_S
        ends = sum(len(node.lives) - 1 for node in self._nodes.all)
        _say(
            f"{elapsed_s / 60:4.1f} min: {self._setting.statistics.total:,} requests, "
            f"{self._setting.ledger.total:,} writes, {ends} restarts, "
            f"{self._setting.findings.total} findings"
        )

    def _events(self, importer: Importer) -> dict[str, int]:
        servers, workers = self._nodes.servers, self._nodes.workers
        killed, stopped = signal.SIGKILL, signal.SIGTERM
        return {
            "Servers killed with SIGKILL": self._nodes.ends(servers, killed),
            "Servers stopped with SIGTERM": self._nodes.ends(servers, stopped),
            "Workers killed with SIGKILL": self._nodes.ends(workers, killed),
            "Workers stopped with SIGTERM": self._nodes.ends(workers, stopped),
            "Restarts of PostgreSQL": len(self._chaos.outages),
            "Acknowledged writes": self._setting.ledger.total,
            "Requests that found no server": self._setting.balancer.unreachable,
            "Files sent again because their server had stopped": importer.resent,
        }


def _role(step: FreeUser | Importer, pause_s: float) -> Role:
    return Role(type(step).__name__, step, pause_s)


def _settings(folder: Path, postgres: DurablePostgres, port: int) -> dict[str, Any]:
    return {
        "data_dir": folder / "data",
        "database_url": postgres.url(),
        "base_url": f"http://127.0.0.1:{port}",
        # Search by meaning is not part of the load.
        "model_dir": Path("/dev/null"),
        "log_level": "warning",
    }


@contextmanager
def _started(every: Nodes, findings: Findings) -> Iterator[None]:
    try:
        every.start()
        every.wait_until_ready()
        _say("Four servers and two workers run.")
        yield
    finally:
        every.stop(findings)


def _say(sentence: str) -> None:
    print(f"{time.strftime('%H:%M:%S')} {sentence}", flush=True)
