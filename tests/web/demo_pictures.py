"""Draws the pictures of the demo: `python -m tests.web.demo_pictures` writes them to static/.

By arithmetic with fixed seeds, so nothing in them comes from anywhere else.
"""

import json
import math
import random
from collections.abc import Callable, Sequence
from functools import partial
from importlib import resources
from pathlib import Path
from typing import Final

FOLDER: Final = Path(__file__).parents[2] / "src" / "bowerbird" / "images" / "demo"
WIDE, SQUARE, TALL = (720, 480), (600, 600), (540, 720)
Size = tuple[int, int]


def _seeded(seed: int) -> random.Random:
    return random.Random(seed)  # noqa: S311 - the same drawing each time


def _rect(  # noqa: PLR0917 - as in SVG
    x: float, y: float, w: float, h: float, fill: str, more: str = ""
) -> str:
    return f'<rect x="{x:.0f}" y="{y:.0f}" width="{w:.0f}" height="{h:.0f}" fill="{fill}"{more}/>'


def _circle(x: float, y: float, r: float, fill: str, more: str = "") -> str:
    return f'<circle cx="{x:.0f}" cy="{y:.0f}" r="{r:.3g}" fill="{fill}"{more}/>'


def _line(path: str, stroke: str, width: float) -> str:
    return (
        f'<path fill="none" stroke="{stroke}" stroke-width="{width:.2g}" stroke-linecap="round" '
        f'stroke-linejoin="round" d="{path}"/>'
    )


def _shape(path: str, fill: str) -> str:
    return f'<path fill="{fill}" d="{path}"/>'


def _ground(size: Size, top: str, bottom: str) -> str:
    return (
        '<linearGradient id="g" x2="0" y2="1">'
        f'<stop stop-color="{top}"/><stop offset="1" stop-color="{bottom}"/></linearGradient>'
        + _rect(0, 0, *size, "url(#g)")
    )


def _ridge(size: Size, y: float, height: float, draw: random.Random) -> str:
    width, bottom = size
    waves = [(draw.uniform(0.4, 1.8), draw.uniform(0, 6.3)) for _ in range(3)]
    points = [
        (x, y + height * sum(math.sin(x / width * 6.3 * f + p) for f, p in waves) / 2)
        for x in range(0, width + 31, 30)
    ]
    return f"M0 {bottom}L" + "L".join(f"{x} {v:.0f}" for x, v in points) + f"V{bottom}Z"


def hills(seed: int, sky: tuple[str, str], tones: Sequence[str], sun: str, stars: int = 0) -> str:
    size, draw = WIDE, _seeded(seed)
    lights = "".join(
        _circle(draw.uniform(0, 720), draw.uniform(0, 240), draw.choice((1, 1.5, 2)), "#fff")
        for _ in range(stars)
    )
    layers = "".join(
        _shape(_ridge(size, 250 + 55 * n, 40, draw), tone) for n, tone in enumerate(tones)
    )
    return _ground(size, *sky) + lights + sun + layers


def strokes(  # noqa: PLR0917 - as drawn
    seed: int, size: Size, back: str, tones: Sequence[str], count: int, long: int
) -> str:
    """Twigs, grass, moss or rain, by their colours and length."""
    draw, drawn = _seeded(seed), [_rect(0, 0, *size, back)]
    for tone in tones:
        path = ""
        for _ in range(count):
            angle = draw.uniform(0, 6.3)
            x, y, far = draw.uniform(0, size[0]), draw.uniform(0, size[1]), draw.uniform(0.3, 1)
            path += f"M{x:.0f} {y:.0f}l{far * long * math.cos(angle):.0f} "
            path += f"{far * long * math.sin(angle):.0f}"
        drawn.append(_line(path, tone, 4))
    return "".join(drawn)


def bower() -> str:
    draw = _seeded(3)
    back = strokes(4, WIDE, "#a98f5c", ("#8a7145", "#c4ab74"), 60, 60)
    walls = ""
    for side in (-1, 1):
        for tone in ("#3d2f1b", "#cdb680"):
            path = ""
            for _ in range(30):
                x = 360 + side * draw.uniform(60, 150)
                lean = side * draw.uniform(0, 40)
                path += f"M{x:.0f} {draw.uniform(300, 370):.0f}l{lean:.0f} "
                path += f"-{draw.uniform(140, 240):.0f}"
            walls += _line(path, tone, 4)
    caps = "".join(
        _circle(draw.gauss(360, 90), draw.uniform(390, 460), draw.uniform(7, 14), tone)
        for tone in ("#1c5fa8", "#2f7fd0", "#123f7a", "#6fb0ea") * 5
    )
    return back + walls + caps


def paint() -> str:
    draw, drawn = _seeded(6), _rect(0, 0, *TALL, "#b69a63")
    for left in range(10, 540, 22):
        drawn += _line(f"M{left} 0l{draw.uniform(-30, 30):.0f} 720", "#7a6238", 9)
    for _ in range(14):
        x, y = draw.uniform(40, 500), draw.uniform(40, 500)
        drawn += _line(f"M{x:.0f} {y:.0f}q{draw.uniform(-30, 30):.0f} 60 0 150", "#2a2320", 13)
    return drawn


def moon() -> str:
    crescent = _circle(470, 150, 40, "#f7f2dd") + _circle(484, 142, 38, "#12233b")
    return hills(
        12,
        ("#0d1b30", "#35506f"),
        ("#22374f", "#182a40", "#0d1a29"),
        crescent + _circle(470, 62, 5, "#cfe4ff"),
    )


def page() -> str:
    draw, drawn = _seeded(2), _rect(0, 0, *TALL, "#efe7d4")
    for row in range(13):
        right = 230.0 if row == 12 else draw.uniform(375, 400)
        drawn += _line(f"M60 {80 + row * 34}H{right:.0f}", "#7d756a", 7)
    no = "M440 470v-42l26 42v-42M482 449a12 16 0 1 0 24 0a12 16 0 1 0 -24 0"
    return drawn + _line(no, "#9a948b", 4)


def stew() -> str:
    draw = _seeded(5)
    drawn = _rect(0, 0, *WIDE, "#caa77c") + _circle(360, 250, 205, "#2c2622")
    drawn += _circle(360, 250, 180, "#a9622f")
    for tone, count, r in (("#f3ead2", 9, 24), ("#4f7a3f", 14, 12), ("#c7402d", 9, 8)):
        for _ in range(count):
            angle, far = draw.uniform(0, 6.3), draw.uniform(0, 140)
            x, y = 360 + far * math.cos(angle), 250 + far * math.sin(angle)
            drawn += _circle(x, y, draw.uniform(r * 0.6, r), tone)
    return drawn + _line("M300 40q20-16 0-32M360 34q20-16 0-32M420 40q20-16 0-32", "#fff8ec", 6)


def levels() -> str:
    drawn = _rect(0, 0, *WIDE, "#f4f1e9")
    for row, count in enumerate((1, 5, 17)):
        gap = 660 / count
        for n in range(count):
            x, y = 30 + gap * n + gap * 0.1, 70 + row * 130
            drawn += _rect(x, y, min(gap * 0.8, 110), 56, ("#1d5fae", "#5b8cc4", "#a9c3de")[row])
    return drawn


def jars(lids: str, filling: str, back: tuple[str, str], count: int = 6) -> str:
    drawn = _ground(WIDE, *back) + _rect(0, 380, 720, 100, "#8d7355")
    wide = 600 / count
    for n in range(count):
        x = 60 + n * wide
        drawn += _rect(x + 8, 210, wide - 16, 172, "#e9eef0", ' rx="14"')
        drawn += _rect(x + 16, 246, wide - 32, 128, filling, ' rx="9"')
        drawn += _rect(x + 14, 188, wide - 28, 26, lids, ' rx="5"')
    return drawn


def gerald() -> str:
    draw = _seeded(1)
    drawn = _ground(TALL, "#e8dfd0", "#cbb998") + _rect(140, 150, 260, 440, "#eef2f1", ' rx="30"')
    drawn += _rect(156, 290, 228, 284, "#e2d2ad", ' rx="22"') + _rect(150, 110, 240, 50, "#6d7f88")
    for _ in range(34):
        drawn += _circle(
            draw.uniform(175, 365), draw.uniform(300, 560), draw.uniform(3, 11), "#f3e8cc"
        )
    tape = _rect(170, 390, 200, 54, "#f7f4ea")
    name = '<text x="215" y="428" font-size="34" font-family="serif">Gerald</text>'
    return drawn + tape + name


def water(seed: int, tones: tuple[str, str], wave: str, over: str) -> str:
    draw, drawn = _seeded(seed), _ground(WIDE, *tones)
    for y in range(230, 480, 22):
        x = draw.uniform(-40, 40)
        drawn += _line(f"M{x:.0f} {y}" + "q30-12 60 0t60 0" * 6, wave, 2)
    return drawn + over


def boat(x: int, y: int, hull: str) -> str:
    return _shape(f"M{x} {y}h190l-32 46h-126z", hull) + _line(f"M{x + 95} {y}v-120", "#4b3b2c", 6)


def bird(body: str, wing: str, back: tuple[str, str], branch: str, *, turned: bool = False) -> str:
    drawn = _shape(
        "M250 250q40-110 150-90q60-60 110-20l40 16-46 8q0 120-130 140q-60 10-150 70z", body
    )
    drawn += _shape("M300 250q80-60 170-20q-40 90-170 20z", wing) + _circle(478, 158, 7, "#16181c")
    inner = f'<g transform="rotate(180 390 240)">{drawn}</g>' if turned else drawn
    return _ground(WIDE, *back) + _line("M0 360Q360 300 720 330M460 318l60-90", branch, 14) + inner


def blossoms(seed: int) -> str:
    draw = _seeded(seed)
    return "".join(
        _circle(draw.uniform(20, 700), draw.gauss(330, 40), draw.uniform(8, 15), tone)
        for tone in ("#f4d3dc", "#eeb3c4", "#fbeef1") * 6
    )


def knot(rope: str, shade: str, back: str, turn: int) -> str:
    path = "M40 420q160-10 220-120t120-60t10 150t-150-20t60-170t250-70"
    drawn = _line(path, shade, 46) + _line(path, rope, 34)
    return _rect(0, 0, *SQUARE, back) + f'<g transform="rotate({turn} 300 300)">{drawn}</g>'


def snails() -> str:
    drawn = _ground(SQUARE, "#cfd8c4", "#8fa380")
    for x, y, r, tone in ((330, 300, 190, "#efe6d2"), (205, 455, 62, "#8a5a3a")):
        drawn += _circle(x, y, r, tone)
        turns = "".join(
            f"L{x + r * t / 40 * math.cos(t / 4):.0f} {y + r * t / 40 * math.sin(t / 4):.0f}"
            for t in range(40)
        )
        drawn += _line(f"M{x} {y}{turns}", "#6d5a45", 5)
    return drawn + _line("M120 520q90-30 190 0M120 520l-20-46M136 514l-4-46", "#6b4a30", 12)


def shelf(back: str, plank: str, tones: Sequence[str], seed: int, size: Size = WIDE) -> str:
    draw, drawn, (width, height) = _seeded(seed), _rect(0, 0, *size, back), size
    for bottom in range(height // 3, height, height // 3 - 8):
        x = 20.0
        while x < width - 60:
            thick, tall = draw.uniform(16, 38), draw.uniform(80, height / 3 - 30)
            drawn += _rect(x, bottom - tall, thick, tall, draw.choice(tones))
            x += thick + draw.choice((1, 1, 2, 14))
        drawn += _rect(0, bottom, width, 14, plank)
    return drawn


def candle() -> str:
    books = shelf("#241a14", "#4a3221", ("#5c3a2a", "#3f4a3c", "#6d5233", "#33363f"), 7, TALL)
    glow = "".join(_circle(270, 520, r, "#ffc766", ' opacity=".16"') for r in (230, 160, 100, 60))
    flame = _shape("M270 470q26 36 0 62q-26-26 0-62z", "#fff0c2")
    return books + glow + _rect(252, 530, 36, 130, "#efe3c8") + flame


def type_case() -> str:
    draw, drawn = _seeded(9), _rect(0, 0, *WIDE, "#6b4a2d")
    for x in range(20, 700, 98):
        for y in range(20, 460, 90):
            drawn += _rect(x, y, 88, 80, "#4a3220")
            for n in range(3):
                drawn += _rect(x + 8 + n * 26, y + draw.uniform(10, 30), 20, 40, "#b98d58")
    return drawn


def ruler() -> str:
    draw, drawn = _seeded(4), _rect(0, 0, *WIDE, "#3e474c")
    for _ in range(46):
        r = draw.uniform(26, 70)
        x, y, tone = draw.uniform(0, 720), draw.uniform(0, 480), draw.choice(("#59656b", "#76838a"))
        at = f'cx="{x:.0f}" cy="{y:.0f}" rx="{r:.0f}" ry="{r * 0.7:.0f}"'
        drawn += f'<ellipse {at} fill="{tone}"/>'
    marks = "".join(f"M{120 + n * 16} 232v{26 if n % 5 else 42}" for n in range(30))
    return drawn + _rect(100, 226, 500, 64, "#e5c66a") + _line(marks, "#4b3d17", 2)


def map_of(back: str, line: str, dot: str, seed: int) -> str:
    """A map, for links to one."""
    draw, drawn = _seeded(seed), _rect(0, 0, *WIDE, back)
    for n in range(9):
        drawn += _line("M" + _ridge(WIDE, 60 + n * 48, 60, draw).partition("V")[0][7:], line, 2)
    for _ in range(17):
        drawn += _circle(draw.uniform(30, 690), draw.uniform(30, 450), 8, dot)
    return drawn


def bars() -> str:
    drawn = _rect(0, 0, *WIDE, "#f6f3ec")
    for n in range(34):
        drawn += _rect(40 + n * 19, 430 - 380 / (1 + n * 0.55), 13, 380 / (1 + n * 0.55), "#2f6fb5")
    return drawn


def code() -> str:
    draw, drawn = _seeded(11), _rect(0, 0, *WIDE, "#14202e")
    for row in range(11):
        x = 50.0 + 36 * draw.choice((0, 1, 1, 2))
        for tone in ("#8fb7e3", "#e7d39a", "#a7c8a0")[: draw.choice((1, 2, 3))]:
            wide = draw.uniform(40, 150)
            drawn += _rect(x, 44 + row * 37, wide, 13, tone, ' rx="6"')
            x += wide + 14
    return drawn


PICTURES: dict[str, tuple[Size, Callable[[], str]]] = {
    "bower-avenue": (WIDE, bower),
    "bower-paint": (TALL, paint),
    "moon-spica": (WIDE, moon),
    "pencilled-no": (TALL, page),
    "doenjang": (WIDE, stew),
    "btree-levels": (WIDE, levels),
    "onze-bocaux": (WIDE, lambda: jars("#d8b24a", "#b8321f", ("#cfe0ea", "#f2ead8"))),
    "benches": (WIDE, lambda: map_of("#e9e4d4", "#c3b892", "#a2572f", 5)),
    "harbour-seals": (
        WIDE,
        lambda: water(
            3,
            ("#f3d9b8", "#4f7186"),
            "#cfe0e6",
            boat(60, 220, "#8c3d2b")
            + boat(450, 200, "#2f4e68")
            + _circle(300, 330, 24, "#2c3136")
            + _circle(400, 372, 28, "#2c3136"),
        ),
    ),
    "boat-noodles": (
        WIDE,
        lambda: (
            water(8, ("#7f8c8f", "#3f5149"), "#9fb0a9", boat(260, 230, "#7a4a28"))
            + _line(
                "".join(f"M{x} {(x * 37) % 300}l-8 46" for x in range(10, 720, 23)), "#dfe6e6", 2
            )
        ),
    ),
    "eleven-parsers": (WIDE, code),
    "bowline": (SQUARE, lambda: knot("#e5b93c", "#a57f1d", "#33414a", 0)),
    "lyrebird-medley": (
        WIDE,
        lambda: (
            bird("#6b4f3a", "#8f6f52", ("#4d6247", "#23331f"), "#3a2a1d")
            + _line(
                "M270 260Q120 120 250 40M262 262Q90 190 150 60M280 250Q190 90 330 20", "#c9b79a", 7
            )
        ),
    ),
    "sphagnum": (
        SQUARE,
        lambda: strokes(7, SQUARE, "#2e3f22", ("#5f7f35", "#8da653", "#a8452f", "#c9d489"), 70, 40),
    ),
    "tails": (WIDE, bars),
    "letterpress": (WIDE, type_case),
    "winter-sky": (
        WIDE,
        lambda: hills(21, ("#0a1424", "#2b3f5c"), ("#101d2f", "#0a1422"), "", stars=90),
    ),
    "bedside-tower": (
        WIDE,
        lambda: shelf("#d8cfc0", "#8a6b4b", ("#7b3b34", "#35506b", "#b58a3d", "#4f6b4a"), 13),
    ),
    "gimjang": (
        TALL,
        lambda: strokes(17, TALL, "#8f2a1c", ("#e9efc9", "#b9cf86", "#d9482f"), 60, 110),
    ),
    "two-snails": (SQUARE, snails),
    "gerald": (TALL, gerald),
    "ruler-on-rocks": (WIDE, ruler),
    "mejiro-1": (
        WIDE,
        lambda: bird("#9db04a", "#7c8f38", ("#dfe8ee", "#f6eef0"), "#5a4334") + blossoms(1),
    ),
    "mejiro-2": (
        WIDE,
        lambda: (
            bird("#9db04a", "#7c8f38", ("#e6edf0", "#f9f2ee"), "#5a4334", turned=True) + blossoms(2)
        ),
    ),
    "shoelace": (SQUARE, lambda: knot("#f0ece2", "#b9b2a2", "#7b3f33", 90)),
    "quay-low-water": (
        WIDE,
        lambda: water(14, ("#d9e2e4", "#7d8f92"), "#b9c8ca", _rect(0, 150, 270, 330, "#6b6257")),
    ),
    "phosphorescence": (
        WIDE,
        lambda: (
            water(6, ("#050b14", "#0b1d33"), "#1d4e7d", _line("M120 60L430 330", "#5b4632", 18))
            + strokes(6, (220, 110), "none", ("#67c7ff", "#b9ecff"), 26, 24).replace(
                "<path", '<path transform="translate(340 290)"'
            )
        ),
    ),
    "hill-name": (
        WIDE,
        lambda: hills(
            4,
            ("#b9d0dc", "#f2e5cf"),
            ("#b8c7a8", "#88a079", "#5d7a58"),
            _circle(540, 120, 44, "#fff4dc"),
        ),
    ),
    "kingfisher": (
        WIDE,
        lambda: (
            bird("#2f86b8", "#16547f", ("#cfe0cf", "#6f8f7c"), "#6b5138")
            + _circle(440, 215, 26, "#d9813a")
        ),
    ),
    "moss-guide": (
        WIDE,
        lambda: strokes(5, WIDE, "#d9d4c2", ("#6f8d4f", "#94ab6b", "#4c6a3c"), 50, 46),
    ),
    "candle-bookshop": (TALL, candle),
}


# Ground, feathers and beak.
_PLUMAGE: Final = (
    ("#dfe9e3", "#2f6f8f", "#d9813a"),
    ("#f0e3cf", "#8a3b2e", "#3a3a3a"),
    ("#e3e0ef", "#54478c", "#e0a93f"),
    ("#dcead2", "#4c6a3c", "#c2542d"),
    ("#f3dcd8", "#b3476b", "#5a3a22"),
    ("#d8e6f0", "#1f3f66", "#e6c04f"),
    ("#efe9d0", "#a67c1f", "#4a4a4a"),
)


def face(author: str) -> str:
    """The picture of an author: the head of a bird, another one for each name."""
    draw = _seeded(sum(place * ord(letter) for place, letter in enumerate(author, 1)))
    ground, feathers, beak = draw.choice(_PLUMAGE)
    side, high, tuft = draw.choice((-1, 1)), draw.randrange(26, 34), draw.randrange(4, 15)
    x, eye = 48 + side * 22, 48 + side * 9
    return (
        _rect(0, 0, 96, 96, ground)
        + _shape("M20 96q4-48 28-48t28 48z", feathers)
        + _circle(48, 16 + high, 26, feathers)
        + _line(f"M48 {high - 8}q{-side * 4} {-tuft} {-side * tuft} {-tuft}", feathers, 5)
        + _shape(f"M{x} {high + 6}l{side * 24} 10{-side * 24:+d} 10z", beak)
        + _circle(eye, high + 10, 6, "#fbfaf6")
        + _circle(eye + side, high + 10, 3, "#16181c")
    )


def authors() -> list[str]:
    posts = resources.files("bowerbird.fixtures").joinpath("posts.json").read_text("utf-8")
    return sorted({post["author_username"] for post in json.loads(posts)})


PICTURES |= {f"people-{name}": ((96, 96), partial(face, name)) for name in authors()}


def drawn(name: str) -> str:
    (width, height), draw = PICTURES[name]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        f'width="{width}" height="{height}">{draw()}</svg>\n'
    )


if __name__ == "__main__":
    for each in PICTURES:
        (FOLDER / f"demo-{each}.svg").write_text(drawn(each), encoding="utf-8")
