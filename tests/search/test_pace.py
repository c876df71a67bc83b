"""Embedding posts waits while the process is busy with requests."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import pytest

from bowerbird.search.meaning import embedding
from bowerbird.search.meaning.embedding import Pace

WORK_S = 0.02
LONG_WORK_S = 0.3


class Rests(threading.Event):
    """Records how long it was waited for, and returns at once."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[float] = []

    def wait(self, timeout: float | None = None) -> bool:
        assert timeout is not None
        self.asked.append(timeout)
        return self.is_set()


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The time, which passes only as a test says."""
    now = [100.0]
    monkeypatch.setattr(time, "perf_counter", lambda: now[0])
    return now


def _rests(clock: list[float], share: float) -> list[float]:
    """The rests of a thread after some work, while others use this share of a core."""
    closing = Rests()
    resting = Pace(closing, lambda: share * clock[0])
    clock[0] += WORK_S
    resting.rest()
    return closing.asked


@pytest.mark.parametrize("share", [0.0, 0.05])
def test_there_is_no_rest_while_others_are_idle(clock: list[float], share: float) -> None:
    assert _rests(clock, share) == []


@pytest.mark.parametrize(("share", "times"), [(0.25, 2), (0.5, 5), (1, 10), (3, 10)])
def test_a_rest_grows_with_the_work_of_others(clock: list[float], share: float, times: int) -> None:
    [rest] = _rests(clock, share)

    assert rest > times * WORK_S * 0.99


def test_only_the_work_of_other_threads_counts() -> None:
    own = ThreadPoolExecutor(1, initializer=partial(embedding.begin, is_low_priority=False))
    own.submit(int).result()
    before = embedding.cpu_of_others()
    own.submit(_work_for_cpu_time, LONG_WORK_S).result()
    after_own_work = embedding.cpu_of_others()
    thread = threading.Thread(target=_work_for_cpu_time, args=(WORK_S,))
    thread.start()
    thread.join()

    assert after_own_work - before < LONG_WORK_S / 2
    assert embedding.cpu_of_others() - after_own_work >= WORK_S
    own.shutdown()
    # The clock of a thread that ended cannot be read.
    assert embedding.cpu_of_others() >= after_own_work


def _work_for_cpu_time(seconds: float) -> None:
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        pass
