"""Measures how long the words of a new post take: those as written, and their other forms."""

import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import Final, NamedTuple

import msgspec

from benchmarks import bars, posts
from benchmarks.figures import Row, bar_row
from benchmarks.options import Options
from bowerbird.library.bookmarks.writing.bookmark_row import searchable_texts
from bowerbird.model.posts.bookmarks import ImportRecord
from bowerbird.search.words.tokens import index_text

_POSTS: Final = 20_000
_ROUNDS: Final = 3


class _Measured(NamedTuple):
    microseconds: float
    tokens: float


def measure(options: Options) -> Iterator[Row]:
    measured = []
    for _ in range(min(_ROUNDS, options.rounds)):
        # A new process has empty caches, like `bowerbird import`.
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
            measured.append(pool.submit(_index).result())
    tokens = measured[0].tokens
    yield bar_row(
        bars.TOKEN_TEXT,
        [one.microseconds for one in measured],
        detail=f"{tokens:.1f} tokens per post, {_POSTS:,} posts from empty caches",
    )


def _index() -> _Measured:
    decode = msgspec.json.Decoder(ImportRecord).decode
    seconds, tokens, batch = 0.0, 0, 2_000
    for first in range(0, _POSTS, batch):
        texts = [searchable_texts(decode(post)) for post in posts.batch(0, first, batch)]
        started = time.thread_time()
        indexed = [index_text(*one) for one in texts]
        seconds += time.thread_time() - started
        tokens += sum(len(text.split()) for text in indexed)
    return _Measured(seconds / _POSTS * 1e6, tokens / _POSTS)
