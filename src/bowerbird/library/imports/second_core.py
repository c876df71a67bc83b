"""Finds the words of the next posts in a second process while an import writes the posts before.

Finding words takes more than a third of the CPU time of an import. With a second core, the import
of a large file is half as fast again.
"""

import multiprocessing
import os
import signal
import threading
from collections.abc import Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from typing import Final

from bowerbird.library.bookmarks.writing.bookmark_row import SearchableTexts
from bowerbird.search.words.tokens import index_text

# Starting a process takes as long as finding the words of this many posts.
_POSTS_BEFORE_START: Final = 2_000
# A server on the same machine comes first.
_NICENESS: Final = 10

_Key = tuple[tuple[str, ...], tuple[str, ...]]
_Ahead = tuple[dict[_Key, int], Future[list[str]]]


class SecondCore:
    """Close it at the end."""

    def __init__(self, posts_before_start: int = _POSTS_BEFORE_START) -> None:
        self._remaining = posts_before_start
        self._pool: ProcessPoolExecutor | None = None
        # The chunk that is being written, and the one that was read ahead. Two threads use it, so
        # it is replaced, never changed.
        self._ahead: tuple[_Ahead, ...] = ()

    def add(self, posts: Sequence[SearchableTexts]) -> None:
        self._remaining -= len(posts)
        if self._remaining >= 0:
            return
        places = {_key(texts): place for place, texts in enumerate(posts)}
        # Without a second process, the import finds the words itself.
        with suppress(BrokenProcessPool, OSError):
            if self._pool is None:
                # One that is forked would share the threads' locks and the open database.
                self._pool = ProcessPoolExecutor(1, multiprocessing.get_context("spawn"), _begin)
            self._ahead = (*self._ahead[-1:], (places, self._pool.submit(_words, posts)))

    def words(self, texts: SearchableTexts) -> str:
        """Words depend on these texts alone, so those that were found ahead are never outdated."""
        key = _key(texts)
        for places, found in self._ahead:
            if key in places:
                with suppress(BrokenProcessPool):
                    return found.result()[places[key]]
        return index_text(*texts)

    def close(self) -> None:
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)


def is_useful() -> bool:
    """Whether this process may use a second core."""
    is_limited = hasattr(os, "sched_getaffinity")
    return (len(os.sched_getaffinity(0)) if is_limited else os.cpu_count() or 1) > 1


def _key(texts: SearchableTexts) -> _Key:
    return tuple(texts[0]), tuple(texts[1])


def _words(posts: Sequence[SearchableTexts]) -> list[str]:
    return [index_text(*texts) for texts in posts]


def _begin() -> None:
    # Ctrl-C is for the import, which still completes its last posts.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.nice(_NICENESS)
    threading.Thread(target=_end_with_import, daemon=True).start()


def _end_with_import() -> None:
    """Else this process would wait for ever after the import was killed."""
    parent = multiprocessing.parent_process()
    assert parent is not None
    parent.join()
    os._exit(0)
