"""Embedding posts waits while the process is busy with requests."""

import threading
import time

import pytest

from bowerbird.search.meaning import pace
from bowerbird.search.meaning.pace import Pace

WORK_S = 0.02


def _work() -> None:
    end = time.perf_counter() + WORK_S
    while time.perf_counter() < end:
        pass


def _rest(share: float, closing: threading.Event) -> float:
    """How long a thread rests after some work, while others use this share of a core."""
    resting = Pace(closing, lambda: share * time.perf_counter())
    _work()
    started = time.perf_counter()
    resting.rest()
    return time.perf_counter() - started


@pytest.mark.parametrize(
    ("share", "is_busy"), [(0.0, False), (0.05, False), (0.5, True), (3, True)]
)
def test_a_rest_is_twice_as_long_as_the_work_while_others_are_busy(
    share: float, *, is_busy: bool
) -> None:
    rest = _rest(share, threading.Event())

    assert (rest >= 2 * WORK_S) is is_busy


def test_a_closed_model_does_not_rest() -> None:
    closing = threading.Event()
    closing.set()

    assert _rest(3, closing) < 2 * WORK_S


def test_only_the_work_of_other_threads_counts() -> None:
    before = pace.cpu_of_others()
    _work()
    after_own_work = pace.cpu_of_others()
    thread = threading.Thread(target=_work_for_cpu_time)
    thread.start()
    thread.join()

    assert after_own_work - before < WORK_S / 2
    assert pace.cpu_of_others() - after_own_work >= WORK_S


def _work_for_cpu_time() -> None:
    end = time.thread_time() + WORK_S
    while time.thread_time() < end:
        pass
