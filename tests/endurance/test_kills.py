"""`make crash`: what it counts, how it continues, and what it says about a failed trial."""

import subprocess
import sys
import time
from pathlib import Path

import pytest

from endurance.kills.__main__ import main
from endurance.kills.ledger import Done, Ledger, next_order
from endurance.kills.trials import SQLITE, Kind, Order, Trial
from tests.crash.killing import Moment
from tests.support.postgres_binaries import installed_binaries, version

ROOT = Path(__file__).parents[2]
PAIRS = [("slow", "sqlite"), ("fast", "sqlite"), ("fast", "postgres")]


def done(kind: str, database: str, seed: int, kills: int, seconds: float = 1.0) -> Done:
    return Done(kind=kind, database=database, seed=seed, kills=kills, seconds=seconds, commit="abc")


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


def test_a_second_run_continues_with_new_seeds(tmp_path: Path) -> None:
    assert main(["--kills", "1", "--processes", "1"], GOOD, tmp_path) == 0
    # The program was killed while it wrote a line.
    with (tmp_path / "data" / "kills.jsonl").open("a") as file:
        file.write('{"kind": "good", "data')

    assert main(["--kills", "2", "--processes", "1"], GOOD, tmp_path) == 0

    assert [(one.seed, one.kills) for one in recorded(tmp_path)] == [(1, 1), (2, 1)]


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


def test_a_run_that_continues_after_a_failure_fails_as_its_result_says(tmp_path: Path) -> None:
    both = {**GOOD, **BAD}
    assert main(["--only", "bad", "--processes", "1"], both, tmp_path) == 1

    assert main(["--kills", "1", "--only", "good", "--processes", "1"], both, tmp_path) == 1

    (result,) = (tmp_path / "results").iterdir()
    assert "1 of 1 wanted `kill -9` in 2 trials; 1 failed." in result.read_text()


def test_the_pair_with_the_fewest_kills_is_next_until_each_has_its_share() -> None:
    trials = [done(*PAIRS[0], 1, 9), done(*PAIRS[1], 1, 3), done(*PAIRS[2], 4, 8)]

    assert next_order(PAIRS, trials, [], 60) == Order("fast", "sqlite", 2)
    running = [Order("fast", "sqlite", 2)]
    assert next_order(PAIRS, trials, running, 60) == Order("fast", "postgres", 5)


def test_the_pair_that_took_the_least_time_is_next_after_that() -> None:
    trials = [
        done(*PAIRS[0], 1, 10, seconds=30),
        done(*PAIRS[1], 1, 90, seconds=8),
        done(*PAIRS[2], 1, 20, seconds=9),
    ]

    assert next_order(PAIRS, trials, [], 60) == Order("fast", "sqlite", 2)


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
