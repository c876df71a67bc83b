"""Charts as SVG."""

import pytest
from markupsafe import Markup

from bowerbird.web import statistics


@pytest.mark.parametrize(
    ("most", "top"), [(0, 3), (3, 3), (4, 6), (7, 15), (16, 30), (31, 60), (200, 300), (999, 1500)]
)
def test_the_scale_of_a_chart_ends_at_a_round_number(most: int, top: int) -> None:
    assert statistics._top(most) == top  # noqa: SLF001


def test_a_chart_without_bars_or_with_many_can_be_drawn() -> None:
    empty = statistics.bars([], "nothing", Markup(""))
    many = statistics.bars(
        [statistics.Bar(str(n), "t", n % 2, n % 2, "") for n in range(60)], "many", Markup("")
    )
    assert "<svg" in empty
    assert many.count("<g>") == 60
