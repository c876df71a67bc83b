"""Runs the load on a cluster and saves the result: `python -m endurance.citus FOLDER`.

FOLDER has the programs of a PostgreSQL into which Citus was installed.
"""

import argparse
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Final

from benchmarks import result_files
from benchmarks.result_files import table
from bowerbird.settings import Settings
from endurance.citus.clients import BulkChanger, DigestMaker, MeaningReader
from endurance.citus.cluster_events import Events
from endurance.soak import cast, report
from endurance.soak.clients.client import Statistics
from endurance.soak.clients.free_plan import FreeUser
from endurance.soak.clients.load import Role, Setting, running
from endurance.soak.clients.readers import Reader
from endurance.soak.clients.transfers import MOST_EXPORTS, Exporter
from endurance.soak.clients.writers import Writer
from endurance.soak.findings import Findings
from endurance.soak.inspection import Inspection
from endurance.soak.ledger import Ledger
from endurance.soak.rehearsal import measured_steps
from endurance.soak.service import nodes
from endurance.soak.service.balancer import Balancer
from endurance.soak.service.nodes import Nodes
from tests.support import serving
from tests.support.engines.citus_cluster import Cluster, cluster
from tests.support.hosts.embedding_service import embedding_service

SHARDS: Final = 32
_MOVED: Final = cast.CHANGING[0]


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m endurance.citus", description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--minutes", type=float, default=5.0)
    parser.add_argument("--shards", type=int, default=SHARDS)
    parser.add_argument("--no-save", action="store_true", help="print the result only")
    options = parser.parse_args()
    commit, started = result_files.commit(), report.now()
    findings = Findings()
    with (
        tempfile.TemporaryDirectory(prefix="citus-") as place,
        # A node that is killed must still have what it acknowledged.
        cluster(options.folder.resolve(), options.shards, "synchronous_commit=on") as servers,
        embedding_service() as embedding,
    ):
        port = serving.free_port()
        settings: dict[str, Any] = {
            "data_dir": Path(place) / "data",
            "database_url": servers.url,
            "base_url": f"http://127.0.0.1:{port}",
            "embedding_url": embedding.url,
            "embedding_key": embedding.key,
            "log_level": "warning",
        }
        members = cast.created(Settings(**settings))
        every = nodes.prepared(Path(place), settings)
        every = Nodes(every.servers[:2], every.workers[:2])
        try:
            every.start()
            every.wait_until_ready()
            with Balancer(every.servers, port) as balancer:
                keys = {name: member.key for name, member in members.items()}
                ledger = Ledger(Path(place) / "ledger.jsonl")
                setting = Setting(balancer, keys, Statistics(), findings, ledger, 1)
                environment = serving.environment_of(**settings)
                looking = Inspection(setting, members, servers, environment, {})
                seen = _run(options.minutes * 60, every, servers, looking)
        finally:
            every.stop(findings)
        result = "FAILED" if findings.total else "passed"
        version = servers.rows("SELECT citus_version()")[0][0].partition(" on ")[0]
        about = (
            f"{options.minutes:g} minutes of mixed load on two servers and two workers; "
            f"{version}, a coordinator and two nodes, {options.shards} shards. "
            f"Machine: {result_files.machine()}. Other programs shared the machine."
        )
        lines = [
            f"# {started.date()}, commit {commit}: Citus {result}",
            "",
            about,
            "",
            *report.findings_of(findings),
            *table(("What happened", ""), seen),
            "",
            *table(("Logged by servers and workers", "Number"), _logged(every)),
            "",
            *report.requests_of(setting.statistics),
        ]
    print("\n".join(lines))
    if not options.no_save:
        result_files.save(report.RESULTS, started.date(), f"{commit}-citus", lines)
    return 1 if findings.total else 0


def _run(
    seconds: float, every: Nodes, servers: Cluster, looking: Inspection
) -> list[tuple[str, str]]:
    setting = looking.setting
    inspection = replace(looking, steps=measured_steps(setting, looking))
    versions = inspection.versions()
    pages = {holder.name: inspection.bookmarks(holder) for holder in cast.STILL}
    still = cast.STILL
    bulk, free = BulkChanger(setting, cast.IMPORTING), FreeUser(setting, cast.FREE)
    bulk.fill()
    meaning = MeaningReader(setting, still[0])
    meaning.wait_for_vectors()
    digests = DigestMaker(setting, cast.IMPORTING, looking.environment)
    roles = [
        *(Role(f"reads of {one.name}", Reader(setting, one, _MOVED), 0.3) for one in still[:2]),
        *_writers(setting),
        Role("exports", Exporter(setting, still, pages), seconds / (len(still) * MOST_EXPORTS)),
        Role("changes of many posts", bulk, 2.0),
        Role("search by meaning", meaning, 0.5),
        Role("digests", digests, 5.0),
        Role("free plan", free, 3.0),
    ]
    events = Events(servers, looking.members[_MOVED.name].account_id)
    with running(roles, setting):
        events.run(seconds, partial(_check, every, setting.findings))
    every.wait_until_ready()
    found = digests.check()
    inspection.run(versions, free)
    return [
        *events.happened,
        ("Acknowledged writes", f"{setting.ledger.total:,}"),
        ("Changes of all posts of an account", f"{bulk.changes:,}"),
        ("Digests", f"{found:,}"),
        ("Posts found by meaning", f"{meaning.found:,}"),
        (
            "Commands that create a digest and were refused for a moment",
            f"{len(digests.refused):,}",
        ),
    ]


def _check(every: Nodes, findings: Findings) -> None:
    for node in every.all:
        node.check(findings)


def _writers(setting: Setting) -> Iterator[Role]:
    for holder in cast.CHANGING:
        for number in range(cast.WRITERS_PER_ACCOUNT):
            own = [*cast.before(holder).items()][number :: cast.WRITERS_PER_ACCOUNT]
            writer = Writer(setting, holder, number, dict(own))
            yield Role(f"writes of {writer.name}", writer, 0.3)


def _logged(every: Nodes) -> Iterator[tuple[str, str]]:
    for event, count in every.logged().most_common(20):
        yield event, f"{count:,}"


if __name__ == "__main__":
    sys.exit(main())
