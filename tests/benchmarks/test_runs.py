"""A run in parts: what was measured is kept, and a bar without a row is shown."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmarks import bars, report, saved_rows, scales
from benchmarks.figures import Row, bar_row
from benchmarks.options import Options


@pytest.fixture
def options(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Options:
    monkeypatch.setattr(scales, "DATA", tmp_path)
    return Options(scale=scales.SMALL, rounds=1, seconds=1, log_level="info")


def measured(_: Options) -> Iterator[Row]:
    yield bar_row(bars.IDLE_MEMORY, [60])


def interrupted(_: Options) -> Iterator[Row]:
    yield bar_row(bars.IDLE_MEMORY, [60])
    raise RuntimeError("The server exited.")


def test_a_finished_part_is_not_measured_again(options: Options) -> None:
    part = saved_rows.measure("memory", measured, options, "abc1234")

    assert saved_rows.saved(["start", "memory"], options) == [part]
    assert saved_rows.finished(["start", "memory"], options, "abc1234") == {"memory"}


def test_another_commit_or_another_setting_is_measured_again(options: Options) -> None:
    saved_rows.measure("memory", measured, options, "abc1234")
    longer = Options(scale=options.scale, rounds=5, seconds=1, log_level="info")

    assert saved_rows.finished(["memory"], options, "def5678") == set()
    assert saved_rows.finished(["memory"], longer, "abc1234") == set()


def test_a_failure_is_a_row_after_those_before_it_and_is_tried_again(options: Options) -> None:
    part = saved_rows.measure("memory", interrupted, options, "abc1234")

    assert [row.measured for row in part.rows] == ["60 MB", "failed"]
    assert part.rows[1].detail == "The server exited."
    assert not part.is_met
    assert saved_rows.finished(["memory"], options, "abc1234") == set()


def test_a_bar_without_a_row_is_named(options: Options) -> None:
    part = saved_rows.measure("memory", measured, options, "abc1234")

    missing = report.without_row([part])

    assert bars.IDLE_MEMORY not in missing
    assert bars.START in missing


def test_the_saved_table_has_every_part_and_what_is_measured_elsewhere(
    options: Options, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(report, "_RESULTS", tmp_path / "results")
    part = saved_rows.measure("memory", measured, options, "abc1234")

    text = report.save([part], options).read_text(encoding="utf-8")

    assert "| idle memory | 60 MB |  | < 120 MB | met | architecture.md |  |" in text
    assert f"| memory | abc1234 | {part.started_at} |" in text
    assert "No row for the bar: start to first answer, empty folder." in text
    assert all(f"| {bar.name} | not measured here |" in text for bar in bars.ELSEWHERE)
