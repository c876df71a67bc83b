"""Charts as SVG. Sizes are attributes and colours are classes, as the policy of pages demands."""

from collections.abc import Sequence
from typing import Final

from markupsafe import Markup, escape
from msgspec import Struct

_WIDTH, _HEIGHT = 900, 190
_LEFT, _BOTTOM, _TOP = 34, 22, 12
_BASE: Final = _HEIGHT - _BOTTOM
_BAR_MAX: Final = 18
_ROUND: Final = 3
_LINES: Final = 3
# At most so many names of bars fit below them.
_NAMES_MAX: Final = 8
_CELL_WIDTH, _CELL_HEIGHT, _GAP, _CELLS_LEFT = 34, 26, 3, 62
_SHADES: Final = 4
_HOURS: Final = 24
_STEPS: Final = (1, 2, 5)


class Bar(Struct, frozen=True):
    """`part` of `whole` is filled. `url` is '' if there is no list of what is counted."""

    name: str
    title: str
    whole: int
    part: int
    url: str


def bars(shown: Sequence[Bar], label: str, lang: Markup) -> Markup:
    top = _top(max((bar.whole for bar in shown), default=0))
    scale = (_BASE - _TOP) / top
    step = (_WIDTH - _LEFT) / max(len(shown), 1)
    width = min(_BAR_MAX, step * 0.75)
    pieces: list[str] = []
    for line in range(_LINES + 1):
        value = top * line // _LINES
        y = _BASE - value * scale
        pieces += (
            f'<line class="ax" x1="{_LEFT}" x2="{_WIDTH}" y1="{y:.1f}" y2="{y:.1f}"/>',
            f'<text x="{_LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{value:,}</text>',
        )
    every = -(-len(shown) // _NAMES_MAX)
    for position, bar in enumerate(shown):
        x = _LEFT + position * step + (step - width) / 2
        pieces.append(_bar(bar, x, width, scale, lang))
        if position % every == 0:
            place = f'x="{x + width / 2:.1f}" y="{_HEIGHT - 5}" text-anchor="middle"'
            pieces.append(f"<text {place}{lang}>{escape(bar.name)}</text>")
    return _chart(_WIDTH, _HEIGHT, label, pieces)


def _bar(bar: Bar, x: float, width: float, scale: float, lang: Markup) -> str:
    whole, part = bar.whole * scale, bar.part * scale
    r = min(_ROUND, whole, width / 2)
    drawn = f"<title{lang}>{escape(bar.title)}</title>"
    # As high as the chart, so that a small bar can be pointed at too.
    drawn += f'<rect class="area" x="{x:.1f}" y="0" width="{width:.1f}" height="{_BASE}"/>'
    if bar.whole:
        drawn += (
            f'<path class="b0" d="M{x:.1f} {_BASE}v{r - whole:.1f}q0-{r:.1f} {r:.1f}-{r:.1f}'
            f'h{width - 2 * r:.1f}q{r:.1f} 0 {r:.1f} {r:.1f}V{_BASE}z"/>'
        )
    if bar.part:
        size = f'width="{width:.1f}" height="{part:.1f}"'
        drawn += f'<rect class="b" x="{x:.1f}" y="{_BASE - part:.1f}" {size}/>'
    if bar.url:
        # The table has the same links for the keyboard.
        return f'<a href="{escape(bar.url)}" tabindex="-1">{drawn}</a>'
    return f"<g>{drawn}</g>"


def week(hours: Sequence[int], weekdays: Sequence[str], label: str, lang: Markup) -> Markup:
    """One cell per hour of the week, darker for more."""
    most = max(hours, default=0)
    row_height = _CELL_HEIGHT + _GAP
    size = f'width="{_CELL_WIDTH}" height="{_CELL_HEIGHT}" rx="3"'
    pieces = []
    for day, weekday in enumerate(weekdays):
        y, name = day * row_height, escape(weekday)
        place = f'x="{_CELLS_LEFT - 8}" y="{y + 18}" text-anchor="end"'
        pieces.append(f"<text {place}{lang}>{name}</text>")
        for hour in range(_HOURS):
            count = hours[day * _HOURS + hour]
            x = _CELLS_LEFT + hour * (_CELL_WIDTH + _GAP)
            pieces.append(
                f'<rect class="h{_shade(count, most)}" x="{x}" y="{y}" {size}>'
                f"<title{lang}>{name} {hour:02}:00, {count:,}</title></rect>"
            )
    for hour in range(0, _HOURS, 3):
        x = _CELLS_LEFT + hour * (_CELL_WIDTH + _GAP) + _CELL_WIDTH // 2
        place = f'x="{x}" y="{7 * row_height + 14}" text-anchor="middle"'
        pieces.append(f"<text {place}>{hour:02}</text>")
    width = _CELLS_LEFT + _HOURS * (_CELL_WIDTH + _GAP)
    return _chart(width, 7 * row_height + 20, label, pieces)


def share(part: int, whole: int) -> Markup:
    """A thin bar under a name."""
    width = 100 * part / whole if whole else 0
    return Markup(
        '<svg viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true">'
        '<rect class="bg" width="100" height="4"/>'
        '<rect class="b" width="{:.1f}" height="4"/></svg>'
    ).format(width)


def _chart(width: int, height: int, label: str, pieces: Sequence[str]) -> Markup:
    """`pieces` is markup: every text in it is escaped."""
    about = f'viewBox="0 0 {width} {height}" role="group" aria-label="{escape(label)}"'
    return Markup(f'<svg class="chart" {about}>{"".join(pieces)}</svg>')  # noqa: S704 - see above


def _shade(count: int, most: int) -> int:
    """0 for none, up to 4 for the most."""
    return -(-count * _SHADES // most) if count else 0


def _top(most: int) -> int:
    """A round number that is at least the highest bar, and can be divided by three."""
    unit = 1
    while True:
        for step in _STEPS:
            if (top := _LINES * step * unit) >= most:
                return top
        unit *= 10
