"""`python -m endurance.upgrade`: exits with 1 if the upgrade loses, doubles or damages a write."""

import argparse
import shutil
import sys
import tempfile
from contextlib import closing
from pathlib import Path
from typing import Final

from endurance.upgrade import findings, locks, releases, replay, report, scenario
from endurance.upgrade.findings import Reader
from endurance.upgrade.ledger import Expected
from endurance.upgrade.load import LARGE, SMALL
from endurance.upgrade.nodes import Node, installed
from endurance.upgrade.scenario import Run
from endurance.upgrade.verdict import of_answers, without
from tests.support.postgres import ThrowawayPostgres
from tests.support.waiting import wait_until

# Version 0.2.0, the oldest that can be upgraded.
DEFAULT: Final = "f6cb5475"
_SETTLED: Final = (
    "SELECT (SELECT count(*) FROM word_change)"
    " + (SELECT count(*) FROM bookmark WHERE word_form < 3)"
    " + (SELECT count(*) FROM job WHERE completed_at IS NULL AND kind = 'export')"
)
_SETTLE_S: Final = 900.0


def main() -> int:
    options = _options()
    folder = Path(tempfile.mkdtemp(prefix="upgrade-"))
    try:
        with ThrowawayPostgres() as postgres:
            return _run(options, folder, postgres)
    finally:
        if not options.keep:
            shutil.rmtree(folder, ignore_errors=True)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="endurance.upgrade")
    parser.add_argument("--from", dest="reference", default=DEFAULT, help="the earlier commit")
    parser.add_argument("--posts", type=int, default=50_000)
    parser.add_argument("--seconds", type=float, default=20.0, help="length of each phase")
    parser.add_argument("--keep", action="store_true", help="keep the logs of the nodes")
    return parser.parse_args()


def _run(options: argparse.Namespace, folder: Path, postgres: ThrowawayPostgres) -> int:
    old, new = releases.archived(options.reference, folder / "earlier"), releases.current()
    steps = releases.between(old, new)
    is_compatible = all(step.is_compatible for step in steps)
    names = ", ".join(step.name for step in steps)
    print(f"From {old.commit} to {new.commit}, steps {names}; logs in {folder}", flush=True)
    with postgres.fresh_database() as url, installed(url, folder) as installation:
        run = Run(installation, old, new, is_compatible, options.seconds)
        known = scenario.fill(run, options.posts)
        postgres.create_database("copy", template=_name(url))
        costs = locks.measure(postgres.url("copy"), steps)
        postgres.drop_database("copy")
        node = scenario.upgrade(run, known)
        _settle(postgres, url)
        _judge(run, node)
        _compare(run, postgres)
    file = report.save(run, costs, options.posts)
    print(file.read_text(encoding="utf-8"))
    return 0 if all(verdict.is_met for verdict in run.verdicts) else 1


def _name(url: str) -> str:
    return url.rpartition("/")[2].partition("?")[0]


def _settle(postgres: ThrowawayPostgres, url: str) -> None:
    """Until the jobs have added the counts, written the words again and made the exports."""
    wait_until(lambda: postgres.execute(_SETTLED, _name(url)) == "0", _SETTLE_S, 0.5)


def _judge(run: Run, node: Node) -> None:
    readers = {email: Reader(node.url, run.keys[email]) for email in (LARGE, SMALL)}
    small, writes = Expected(run.ledger.writes, SMALL), run.ledger.writes
    large = Expected(writes, LARGE)
    late = sum(write.is_by_an_old_node_on_the_new_schema for write in writes)
    run.verdicts += [
        *of_answers(run.ledger),
        without(
            "Every acknowledged write is there",
            findings.wrong_posts(readers[SMALL], small),
            f"{len(small.posts):,} posts; old nodes made {late:,} of {len(writes):,} writes "
            "on the new schema",
        ),
        without(
            "Posts are found once: by word, date, author, media, note, flag, and in counts",
            findings.not_found(readers[SMALL], small),
            f"{len(small.posts):,} posts",
        ),
        without(
            "Labels have their posts",
            [
                *findings.wrong_labels(readers[LARGE], large),
                *findings.wrong_labels(readers[SMALL], small),
            ],
            f"{len(large.labels) + len(small.labels)} labels",
        ),
        without(
            "Smart Views were created once",
            findings.wrong_views(readers[SMALL], small),
            f"{len(small.views)} views",
        ),
        without(
            "Exports are complete",
            findings.unfinished_exports(readers[SMALL], small),
            f"{len(small.exports)} exports",
        ),
        without(
            "A repeated key gets the stored answer",
            findings.repeated(readers, writes),
            "a sample of up to 400 writes",
        ),
    ]
    check = run.installation.run(run.new, "check", "--deep")
    is_clean = check.returncode == 0
    run.met("`bowerbird check --deep` finds nothing", is_met=is_clean, seen=check.stdout.strip())


def _compare(run: Run, postgres: ThrowawayPostgres) -> None:
    folder = scenario.folder_of(run) / "fresh"
    folder.mkdir()
    with postgres.fresh_database() as url, installed(url, folder) as fresh:
        fresh.command(run.new, "migrate")
        fresh.command(run.new, "account", "create", SMALL, "--plan", "pro")
        key = fresh.command(run.new, "key", "create", SMALL).splitlines()[-1]
        node = fresh.start(run.new, "fresh")
        node.wait_until_ready()
        with closing(Reader(node.url, key)) as reader:
            problems = replay.replay(reader, run.ledger.writes, SMALL)
        _settle(postgres, url)
        problems += replay.different_rows(run.installation.url, url, SMALL)
    run.verdicts.append(
        without(
            "The same writes on a new library give the same rows",
            problems,
            "every column, words, word counts, labels and counters",
        )
    )


if __name__ == "__main__":
    sys.exit(main())
