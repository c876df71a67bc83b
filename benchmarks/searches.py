"""Keyword search in the largest account: default filters, exact total, answer cache off.

The service remembers the total of a search while a library stays unchanged. So that every
measured request counts anew, each word is asked once in a server's life, and the server is
started several times. Cursors are good in every life, so depths are found in one before.
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

_LIVES: Final = 8
_RARE_PER_LIFE: Final = 150
_NEXT_PAGES_PER_LIFE: Final = 60
_RARE_BAR_MS, _COMMON_BAR_MS = 5, 25
_RARE_SHARE: Final = 0.01
_COMMON_SHARE: Final = (0.30, 0.37)
_EVERYTHING: Final = "is_unread_only=false&hide_archived=false"


class _Word(NamedTuple):
    """A word is the addresses of all its pages."""

    paths: list[str]


class _Asked(NamedTuple):
    """The words of one life of the server."""

    rare: list[_Word]
    common: list[_Word]


@dataclass(slots=True)
class _Found:
    first: Times = field(default_factory=Times)
    rare: Times = field(default_factory=Times)
    common: Times = field(default_factory=Times)
    next_pages: Times = field(default_factory=Times)


def measure(options: Options) -> Iterator[Row]:
    ours = library.ready(options.scale)
    key = ours.keys[0]
    rng = random.Random("searches")
    settings: dict[str, Any] = {"answer_cache_mb": 0, "log_level": options.log_level}
    with (
        servers.bowerbird(ours.folder, options.log, **settings) as server,
        Client(server.port) as client,
    ):
        rare, common = _words(client, key, options.scale.largest)
    found = _Found()
    rng.shuffle(rare)
    for life in track(range(_LIVES), description="Searching"):
        asked = _Asked(rare[life::_LIVES], common)
        with (
            servers.bowerbird(ours.folder, options.log, **settings) as server,
            Client(server.port) as client,
        ):
            _search(client, key, rng, asked, found)
    account = f"account of {options.scale.largest:,}"
    yield found.rare.row(f"q, a word in < 1 %, {account}", _RARE_BAR_MS)
    yield found.common.row(f"q, a word in a third, {account}", _COMMON_BAR_MS)
    yield found.next_pages.row("q, a word in a third, its total known already")
    yield found.first.row("q, the first of a server's life")


def _search(client: Client, key: str, rng: random.Random, asked: _Asked, found: _Found) -> None:
    first, *others = asked.rare
    found.first.add(client.listed(rng.choice(first.paths), key).seconds)
    for word in others:
        found.rare.add(client.listed(rng.choice(word.paths), key).seconds)
    for word in asked.common:
        found.common.add(client.listed(rng.choice(word.paths), key).seconds)
    for _ in range(_NEXT_PAGES_PER_LIFE):
        path = rng.choice(rng.choice(asked.common).paths)
        found.next_pages.add(client.listed(path, key).seconds)


def _words(client: Client, key: str, size: int) -> tuple[list[_Word], list[_Word]]:
    """The words to ask, after a check that they are as frequent as they should be."""
    rare = rare_words(random.Random("rare words"), _LIVES * _RARE_PER_LIFE)
    words: dict[str, _Word] = {}
    for text in track([*rare, *FUNCTION_WORDS], description="Finding depths of searches"):
        share = _total(client, f"{_path(text)}&{_EVERYTHING}", key) / size
        is_common = text in FUNCTION_WORDS
        least, most = _COMMON_SHARE if is_common else (0, _RARE_SHARE)
        if not least <= share < most:
            raise RuntimeError(f"The word {text!r} stands in {share:.1%} of the posts.")
        words[text] = _Word(list(_paths(client, text, key)))
    return [words[text] for text in rare], [words[text] for text in FUNCTION_WORDS]


def _paths(client: Client, word: str, key: str) -> Iterator[str]:
    path: str | None = _path(word)
    while path is not None:
        yield path
        cursor = client.listed(path, key).json["meta"]["next_cursor"]
        path = f"{_path(word)}&cursor={cursor}" if cursor else None


def _total(client: Client, path: str, key: str) -> int:
    total: int = client.listed(path, key).json["meta"]["total_count"]
    return total


def _path(word: str) -> str:
    return f"/v1/bookmarks?limit=100&q={quote(word)}"
