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

from benchmarks import library, servers
from benchmarks.client import Client
from benchmarks.figures import Row, Times
from benchmarks.options import Options
from benchmarks.vocabulary import FUNCTION_WORDS, rare_words

_STARTS: Final = 8
_RARE_PER_START: Final = 150
# Invented words share more stems than real ones, and those with a common stem are left out.
_DRAWN_PER_WORD: Final = 2
_NEXT_PAGES_PER_START: Final = 60
_RARE_TARGET_MS, _COMMON_TARGET_MS = 5, 25
_RARE_SHARE: Final = 0.01
_COMMON_SHARE: Final = (0.30, 0.37)
_EVERYTHING: Final = "is_unread_only=false&hide_archived=false"


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
            _search(client, key, rng, words, timings)
    account = f"account of {options.scale.largest:,}"
    yield timings.rare.row(f"q, a word in < 1 % of posts, {account}", _RARE_TARGET_MS)
    yield timings.common.row(f"q, a word in a third of posts, {account}", _COMMON_TARGET_MS)
    yield timings.next_pages.row("q, a word in a third of posts, total already known")
    yield timings.first.row("q, the first search after a start")


def _search(client: Client, key: str, rng: random.Random, words: _Words, timings: _Timings) -> None:
    first, *others = words.rare
    timings.first.add(client.get_ok(rng.choice(first.paths), key).seconds)
    for word in others:
        timings.rare.add(client.get_ok(rng.choice(word.paths), key).seconds)
    for word in words.common:
        timings.common.add(client.get_ok(rng.choice(word.paths), key).seconds)
    for _ in range(_NEXT_PAGES_PER_START):
        path = rng.choice(rng.choice(words.common).paths)
        timings.next_pages.add(client.get_ok(path, key).seconds)


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
