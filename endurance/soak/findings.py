"""What the soak must not find, and what it found."""

import threading
from collections import Counter
from enum import StrEnum
from typing import Final

_EXAMPLES: Final = 10


class Criterion(StrEnum):
    LOST = "Acknowledged writes that are lost"
    DOUBLED = "Acknowledged writes that were made twice"
    WRONG = "Wrong answers"
    ERRORS = "Errors other than 503 with Retry-After"
    BROKEN = "Connections that broke although their server was not stopped"
    COUNTERS = "Counters that differ from the stored posts"
    JOBS = "Jobs that are unfinished or failed"
    PROCESSES = "Processes that ended by themselves, or did not stop"


class Findings:
    """Counts violations, and keeps the first few of each kind as examples. Threads share it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._counts: Counter[Criterion] = Counter()
        self._examples: dict[Criterion, list[str]] = {each: [] for each in Criterion}

    def add(self, criterion: Criterion, sentence: str) -> None:
        with self._lock:
            self._counts[criterion] += 1
            examples = self._examples[criterion]
            if len(examples) < _EXAMPLES:
                examples.append(sentence)

    def count(self, criterion: Criterion) -> int:
        return self._counts[criterion]

    def examples(self, criterion: Criterion) -> list[str]:
        return list(self._examples[criterion])

    @property
    def total(self) -> int:
        return sum(self._counts.values())
