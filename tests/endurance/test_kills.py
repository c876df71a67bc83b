"""`make crash`: what it counts, how it continues, and what it says about a failed trial."""

import subprocess
import sys
import time
from pathlib import Path

import pytest

from endurance.kills.__main__ import main
from endurance.kills.ledger import Done, Ledger
from endurance.kills.trials import SQLITE, Kind, Trial
from tests.crash.killing import Moment
from tests.support.engines.postgres_binaries import installed_binaries, version

ROOT = Path(__file__).parents[2]


def kill_one_and_finish_one(trial: Trial) -> None:
    assert not trial.life(lambda _: time.sleep(60), Moment(0, 0, 0.01))
    # Killed only after it has ended, so it is not counted.
    assert trial.life(lambda _: None, Moment(1, 1, 0.2))


def differ(trial: Trial) -> None:
    (trial.library.folder / "trace").write_text("what is left")
    stored, expected = 41, 42
    assert stored == expected


GOOD = {"good": Kind(kill_one_and_finish_one, databases=(SQLITE,), is_library=False)}
BAD = {"bad": Kind(differ, databases=(SQLITE,), is_library=False)}


def recorded(folder: Path) -> list[Done]:
    return Ledger(folder / "data" / "kills.jsonl").trials


def test_only_kills_of_living_processes_are_counted_until_there_are_enough(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["--kills", "3", "--processes", "1"], GOOD, tmp_path) == 0

    assert [(one.seed, one.kills) for one in recorded(tmp_path)] == [(1, 1), (2, 1), (3, 1)]
    (result,) = (tmp_path / "results").iterdir()
    assert f"PostgreSQL {version(installed_binaries())}\n" in result.read_text()
    assert "3 of 3 wanted `kill -9` in 3 trials; none failed." in result.read_text()
    assert "| good | sqlite | 3 | 3 | 0 |" in result.read_text()
    assert "| good | postgres | not applicable | | |" in result.read_text()
    assert "3 of 3 kills" in capsys.readouterr().out


def test_a_failed_trial_stops_the_run_and_can_be_repeated(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["--kills", "9", "--processes", "1"], BAD, tmp_path) == 1

    printed = capsys.readouterr().out
    assert "python -m endurance.kills --only bad --database sqlite --seed 1" in printed
    assert "stored = 41" in printed
    kept = tmp_path / "data" / "failed" / "bad-sqlite-1"
    assert (kept / "trace").read_text() == "what is left"
    assert "stored = 41" in (kept / "problem").read_text()
    assert [(one.seed, one.is_failed) for one in recorded(tmp_path)] == [(1, True)]
    assert not (tmp_path / "results").exists()

    again = ["--only", "bad", "--database", "sqlite", "--seed", "1"]
    assert main(again, BAD, tmp_path) == 1
    assert len(recorded(tmp_path)) == 1


@pytest.mark.parametrize("kind", ["deletion", "restore"])
def test_a_real_trial_kills_and_passes(kind: str) -> None:
    # In a process of its own, because it forks, and this one has threads.
    trial = ["--only", kind, "--database", "sqlite", "--seed", "1"]
    ran = subprocess.run(
        [sys.executable, "-m", "endurance.kills", *trial],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )

    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert int(ran.stdout.removeprefix(f"{kind} on sqlite: ").split()[0]) > 0
