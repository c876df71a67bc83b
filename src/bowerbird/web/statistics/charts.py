"""Charts as SVG. Sizes are attributes and colours are classes, as the policy of pages demands."""

from collections.abc import Sequence
from typing import Final

from markupsafe import Markup
from msgspec import Struct

_WIDTH, _HEIGHT = 900, 190
_LEFT, _BOTTOM, _TOP = 34, 22, 12
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
    height = _HEIGHT - _BOTTOM - _TOP
    step = (_WIDTH - _LEFT) / max(len(shown), 1)
    width = min(_BAR_MAX, step * 0.75)
    base = _HEIGHT - _BOTTOM
    pieces = []
    for line in range(_LINES + 1):
        value = top * line // _LINES
        y = base - value / top * height
        pieces.append(
            Markup('<line class="ax" x1="{}" x2="{}" y1="{:.1f}" y2="{:.1f}"/>').format(
                _LEFT, _WIDTH, y, y
            )
            + Markup('<text x="{}" y="{:.1f}" text-anchor="end">{:,}</text>').format(
                _LEFT - 8, y + 4, value
            )
        )
    every = -(-len(shown) // _NAMES_MAX)
    for position, bar in enumerate(shown):
        x = _LEFT + position * step + (step - width) / 2
        pieces.append(_bar(bar, x, width, height / top, lang))
        if position % every == 0:
            pieces.append(
                Markup('<text x="{:.1f}" y="{}" text-anchor="middle"{}>{}</text>').format(
                    x + width / 2, _HEIGHT - 5, lang, bar.name
                )
            )
    return _chart(_WIDTH, _HEIGHT, label, pieces)


def _bar(bar: Bar, x: float, width: float, scale: float, lang: Markup) -> Markup:
    base = _HEIGHT - _BOTTOM
    whole, part = bar.whole * scale, bar.part * scale
    rounding = min(_ROUND, whole, width / 2)
    drawn = Markup("<title{}>{}</title>").format(lang, bar.title)
    # As high as the chart, so that a small bar can be pointed at too.
    drawn += Markup('<rect class="area" x="{:.1f}" y="0" width="{:.1f}" height="{}"/>').format(
        x, width, base
    )
    if bar.whole:
        drawn += Markup(
            '<path class="b0" d="M{:.1f} {}v{:.1f}q0-{r:.1f} {r:.1f}-{r:.1f}h{:.1f}'
            'q{r:.1f} 0 {r:.1f} {r:.1f}V{}z"/>'
        ).format(x, base, rounding - whole, width - 2 * rounding, base, r=rounding)
    if bar.part:
        drawn += Markup(
            '<rect class="b" x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}"/>'
        ).format(x, base - part, width, part)
    if bar.url:
        # The table has the same links for the keyboard.
        return Markup('<a href="{}" tabindex="-1">{}</a>').format(bar.url, drawn)
    return Markup("<g>{}</g>").format(drawn)


def week(hours: Sequence[int], weekdays: Sequence[str], label: str, lang: Markup) -> Markup:
    """One cell per hour of the week, darker for more."""
    most = max(hours, default=0)
    row_height = _CELL_HEIGHT + _GAP
    pieces = []
    for day, name in enumerate(weekdays):
        pieces.append(
            Markup('<text x="{}" y="{}" text-anchor="end"{}>{}</text>').format(
                _CELLS_LEFT - 8, day * row_height + 18, lang, name
            )
        )
        for hour in range(_HOURS):
            count = hours[day * _HOURS + hour]
            pieces.append(
                Markup(
                    '<rect class="h{}" x="{}" y="{}" width="{}" height="{}" rx="3">'
                    "<title{}>{} {:02}:00, {:,}</title></rect>"
                ).format(
                    _shade(count, most),
                    _CELLS_LEFT + hour * (_CELL_WIDTH + _GAP),
                    day * row_height,
                    _CELL_WIDTH,
                    _CELL_HEIGHT,
                    lang,
                    name,
                    hour,
                    count,
                )
            )
    for hour in range(0, _HOURS, 3):
        x = _CELLS_LEFT + hour * (_CELL_WIDTH + _GAP) + _CELL_WIDTH // 2
        pieces.append(
            Markup('<text x="{}" y="{}" text-anchor="middle">{:02}</text>').format(
                x, 7 * row_height + 14, hour
            )
        )
    return _chart(_CELLS_LEFT + _HOURS * (_CELL_WIDTH + _GAP), 7 * row_height + 20, label, pieces)


def share(part: int, whole: int) -> Markup:
    """A thin bar under a name."""
    width = 100 * part / whole if whole else 0
    return Markup(
        '<svg viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true">'
        '<rect class="bg" width="100" height="4"/>'
        '<rect class="b" width="{:.1f}" height="4"/></svg>'
    ).format(width)


def _chart(width: int, height: int, label: str, pieces: Sequence[Markup]) -> Markup:
    return Markup(
        '<svg class="chart" viewBox="0 0 {} {}" role="group" aria-label="{}">{}</svg>'
    ).format(width, height, label, Markup("").join(pieces))


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
