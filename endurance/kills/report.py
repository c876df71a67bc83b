"""The committed result: which kinds of work were killed how often, where and on what."""

from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import apsw

from benchmarks import result_files
from endurance.kills.ledger import Done, Pair
from endurance.kills.trials import DATABASES, Kinds
from tests.support.engines.postgres_binaries import installed_binaries, version


def save(trials: Sequence[Done], kinds: Kinds, wanted: int, folder: Path) -> Path:
    today, name = datetime.now(UTC).date(), f"{result_files.commit()}-kills"
    return result_files.save(folder, today, name, _document(trials, kinds, wanted))


def _document(trials: Sequence[Done], kinds: Kinds, wanted: int) -> list[str]:
    kills = sum(trial.kills for trial in trials)
    failures = sum(trial.is_failed for trial in trials)
    by_commit = Counter[str]()
    for trial in trials:
        by_commit[trial.commit] += trial.kills
    commits = ", ".join(f"`{name}` ({count:,} kills)" for name, count in by_commit.items())
    return [
        f"# {kills:,} kills",
        "",
        f"{kills:,} of {wanted:,} wanted `kill -9` in {len(trials):,} trials; {_failed(failures)}.",
        "Only kills that hit a living process are counted. `endurance/kills/README.md` says what",
        "a trial of each kind does and checks.",
        "",
        f"- Commit: {commits}",
        f"- Machine: {result_files.machine()}",
        f"- SQLite {apsw.sqlite_lib_version()}, PostgreSQL {version(installed_binaries())}",
        f"- Time of all trials: {sum(trial.seconds for trial in trials) / 60:.0f} minutes",
        "",
        "| Kind | Database | Trials | Kills | Failures |",
        "| --- | --- | --: | --: | --: |",
        *(_row(trials, (name, database), kinds) for name in kinds for database in DATABASES),
        f"| Total | | {len(trials):,} | {kills:,} | {failures} |",
    ]


def _row(trials: Sequence[Done], pair: Pair, kinds: Kinds) -> str:
    name, database = pair
    if database not in kinds[name].databases:
        return f"| {name} | {database} | not applicable | | |"
    own = [trial for trial in trials if trial.pair == pair]
    kills = sum(trial.kills for trial in own)
    failures = sum(trial.is_failed for trial in own)
    return f"| {name} | {database} | {len(own):,} | {kills:,} | {failures} |"


def _failed(count: int) -> str:
    return f"{count} failed" if count else "none failed"
