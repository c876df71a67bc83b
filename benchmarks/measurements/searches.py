"""Measures keyword search in the largest account: default filters, exact total, cache off.

The service remembers the total of a search while the library does not change. So each word is
searched only once per start of the server, and the server is started several times. Cursors stay
valid after a restart, so the pages of each word are collected beforehand.
"""

import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple
from urllib.parse import quote

from rich.progress import track

from benchmarks import bars, library, servers
from benchmarks.figures import Row, Times, bar_row
from benchmarks.loads import load
from benchmarks.loads.client import Client
from benchmarks.options import Options
from benchmarks.servers import Server
from benchmarks.vocabulary import FUNCTION_WORDS, rare_words

_STARTS: Final = 8
_RARE_PER_START: Final = 150
# Invented words share more stems than real ones, and those with a common stem are left out.
_DRAWN_PER_WORD: Final = 2
_NEXT_PAGES_PER_START: Final = 60
_RARE_SHARE: Final = 0.01
_COMMON_SHARE: Final = (0.30, 0.37)
_EVERYTHING: Final = "is_unread_only=false&hide_archived=false"
_EXCLUDED: Final = " ".join(f"-{chr(97 + n % 26)}{chr(97 + n // 26)}*" for n in range(200))
# As long as a query may be, or with as many parts.
_HOSTILE: Final = (
    '"' * 1_000,
    "thea " * 200,
    "(" * 500 + ")" * 500,
    " OR ".join(f"{one}*" for one in "abcdefghijklmnopqrst"),
    '"thea ofen ande tou inno forra isto onda"',
    f"thea {_EXCLUDED}"[:1_000],
    "!?.,;:" * 160,
    "🐦" * 500,
)


class _Word(NamedTuple):
    """The paths of all result pages of a word."""

    paths: list[str]


class _Words(NamedTuple):
    """The words that are searched after one start of the server."""

    rare: list[_Word]
    common: list[_Word]


@dataclass(slots=True)
class _Timings:
    first: Times = field(default_factory=Times)
    rare: Times = field(default_factory=Times)
    common: Times = field(default_factory=Times)
    next_pages: Times = field(default_factory=Times)
    hostile: Times = field(default_factory=Times)


def measure(options: Options) -> Iterator[Row]:
    ours = library.prepare(options.scale)
    key = ours.keys[0]
    rng = random.Random("searches")
    settings: dict[str, Any] = {"answer_cache_mb": 0, "log_level": options.log_level}
    with (
        servers.bowerbird(ours.folder, options.log, **settings) as server,
        Client(server.port) as client,
    ):
        rare, common = _collect_words(client, key, options.scale.largest)
    timings = _Timings()
    rng.shuffle(rare)
    for start in track(range(_STARTS), description="Searching"):
        words = _Words(rare[start::_STARTS], common)
        with (
            servers.bowerbird(ours.folder, options.log, **settings) as server,
            Client(server.port) as client,
        ):
            server.wait_until_idle()
            _search(server, client, key, rng, words, timings)
    account = f"account of {options.scale.largest:,}"
    yield timings.rare.row(bars.RARE_WORD.name, bars.RARE_WORD, account)
    yield timings.common.row(bars.COMMON_WORD.name, bars.COMMON_WORD, account)
    yield timings.next_pages.row("q, a word in a third of posts, total already known")
    first = timings.first
    yield first.row("q, the first search after a start", detail=f"{len(first.seconds)} starts")
    yield _hostile(timings.hostile, account)


def _hostile(times: Times, account: str) -> Row:
    slowest = max(times.cpu_seconds)
    place = times.cpu_seconds.index(slowest) % len(_HOSTILE)
    detail = (
        f"{max(times.seconds) * 1000:.0f} ms by the clock; {_HOSTILE[place][:20]!r}…; "
        f"p50 {times.percentile(50):.1f} ms; {account}"
    )
    return bar_row(bars.HOSTILE_QUERY, [slowest * 1000], detail=detail)


def _search(  # noqa: PLR0917 - the server and its client belong together
    server: Server,
    client: Client,
    key: str,
    rng: random.Random,
    words: _Words,
    timings: _Timings,
) -> None:
    def ask(times: Times, path: str) -> None:
        load.add_request(times, server, client, path, key)

    first, *others = words.rare
    ask(timings.first, rng.choice(first.paths))
    for word in others:
        ask(timings.rare, rng.choice(word.paths))
    for word in words.common:
        ask(timings.common, rng.choice(word.paths))
    for _ in range(_NEXT_PAGES_PER_START):
        ask(timings.next_pages, rng.choice(rng.choice(words.common).paths))
    for text in _HOSTILE:
        ask(timings.hostile, _path(text))


def _collect_words(client: Client, key: str, size: int) -> tuple[list[_Word], list[_Word]]:
    """Rare and common words with their pages. Checks that they are as frequent as intended."""
    wanted = _STARTS * _RARE_PER_START
    drawn = rare_words(random.Random("rare words"), _DRAWN_PER_WORD * wanted)
    rare: list[_Word] = []
    for text in track(drawn, description="Collecting pages of searches"):
        if len(rare) < wanted and _share(client, text, key, size) < _RARE_SHARE:
            rare.append(_Word(list(_paths(client, text, key))))
    if len(rare) < wanted:
        raise RuntimeError(f"Only {len(rare)} words are rare.")
    common = []
    for text in FUNCTION_WORDS:
        share, (lowest, highest) = _share(client, text, key, size), _COMMON_SHARE
        if not lowest <= share < highest:
            raise RuntimeError(f"The word {text!r} is in {share:.1%} of the posts.")
        common.append(_Word(list(_paths(client, text, key))))
    return rare, common


def _share(client: Client, word: str, key: str, size: int) -> float:
    """The share of the posts that have the word or another form of it."""
    return _total(client, f"{_path(word)}&{_EVERYTHING}", key) / size


def _paths(client: Client, word: str, key: str) -> Iterator[str]:
    path: str | None = _path(word)
    while path is not None:
        yield path
        cursor = client.get_ok(path, key).json["meta"]["next_cursor"]
        path = f"{_path(word)}&cursor={cursor}" if cursor else None


def _total(client: Client, path: str, key: str) -> int:
    total: int = client.get_ok(path, key).json["meta"]["total_count"]
    return total


def _path(word: str) -> str:
    return f"/v1/bookmarks?limit=100&q={quote(word)}"
