"""Every bar has a measurement, and every verdict is by the measure that the bar names."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from benchmarks import bars
from benchmarks.bars import Bar
from benchmarks.figures import Rates, Row, Times, bar_row, ratio_row

ROOT = Path(__file__).parents[2]
MEASUREMENTS = sorted((ROOT / "benchmarks/measurements").glob("*.py"))
RATE = Bar("posts", 8_000, "posts/s", "issue", is_floor=True)


def trees() -> Iterator[tuple[str, ast.Module]]:
    for path in MEASUREMENTS:
        yield path.stem, ast.parse(path.read_text(encoding="utf-8"))


def test_every_bar_is_named_by_a_measurement() -> None:
    named = {
        node.attr
        for _, tree in trees()
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id == "bars"
    }

    assert named == set(bars.MEASURED)


def test_every_measurement_is_run() -> None:
    main = (ROOT / "benchmarks/__main__.py").read_text(encoding="utf-8")
    run = set(re.findall(r"^    \"[a-z-]+\": (\w+)\.measure", main, re.MULTILINE))
    with_entry = {
        name
        for name, tree in trees()
        if any(isinstance(node, ast.FunctionDef) and node.name == "measure" for node in tree.body)
    }

    # Part of the measurement of imports.
    assert with_entry - {"token_texts"} <= run


def test_no_two_bars_have_the_same_name() -> None:
    names = [bar.name for bar in (*bars.MEASURED.values(), *bars.ELSEWHERE)]

    assert len(names) == len(set(names))


def test_what_is_measured_elsewhere_exists_there() -> None:
    places = [
        place for bar in bars.ELSEWHERE for place in re.findall(r"tests/[\w/.]+", bar.elsewhere)
    ]

    assert [place for place in places if not (ROOT / place).exists()] == []
    assert all(bar.elsewhere for bar in bars.ELSEWHERE)


def test_a_floor_is_reached_and_a_ceiling_is_not() -> None:
    ceiling = Bar("time", 20, "ms", "issue")
    inclusive = Bar("reads", 1, "reads", "issue", is_inclusive=True)

    assert (RATE.is_met(8_000), RATE.is_met(7_999)) == (True, False)
    assert (ceiling.is_met(19.9), ceiling.is_met(20)) == (True, False)
    assert (inclusive.is_met(1), inclusive.is_met(2)) == (True, False)


def test_the_clock_decides_where_a_bar_is_about_the_clock() -> None:
    row = bar_row(RATE, [1_800], cpu="100 µs per post", by_cpu=10_000)

    assert row.is_met is False
    assert row.verdict == "MISSED; by CPU met"
    assert row.measured == "1,800 posts/s"
    assert row.detail == "by CPU 10,000 posts/s"


def test_a_miss_by_both_measures_is_one_word() -> None:
    assert bar_row(RATE, [1_800], by_cpu=5_000).verdict == "MISSED"
    assert bar_row(RATE, [9_000], by_cpu=9_000).verdict == "met"
    assert Row("work", "1 ms").verdict == ""


def test_a_ratio_is_that_of_each_round() -> None:
    bar = Bar("warm / ceiling", 0.8, "times", "issue", is_floor=True)
    ours, other = Rates(), Rates()
    # In the second round the machine was ten times slower for both.
    for mine, theirs in ((900, 1_000), (90, 100), (850, 1_000)):
        ours.add(mine, 1, mine * 115e-6)
        other.add(theirs, 1, theirs * 76e-6)

    row = ratio_row(bar, ours, other)

    assert row.measured == "0.9 times"
    assert row.cpu == "115 against 76 µs per request"
    assert row.verdict == "met; by CPU missed"


def test_cpu_that_belongs_to_other_work_gives_no_verdict() -> None:
    bar = Bar("while / alone", 0.9, "times", "issue", is_floor=True)
    ours, other = Rates(), Rates()
    ours.add(100, 1, 1)
    other.add(100, 1, 0.1)

    row = ratio_row(bar, ours, other, shared="the embedding")

    assert row.is_met is True
    assert row.is_met_by_cpu is None
    assert row.detail.endswith("the CPU includes the embedding")


def test_a_p99_is_judged_by_the_clock_and_by_cpu() -> None:
    times = Times()
    for _ in range(98):
        times.add(0.002, 0.001)
    times.add(0.030, 0.002)
    times.add(0.040, 0.002)

    row = times.row("q", Bar("q", 25, "ms", "issue", statistic="p99"))

    assert row.measured == "p50 2.00 ms, p99 30.00 ms"
    assert row.cpu == "p50 1.00 ms, p99 2.00 ms"
    assert row.verdict == "MISSED; by CPU met"
