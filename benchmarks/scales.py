"""The sizes of the measured library, and the order in which its posts are imported."""

from collections.abc import Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Final, NamedTuple

from rich.progress import track

from benchmarks import posts

DATA: Final = Path(__file__).parent / "data"
_BATCH: Final = 2_000
_GENERATED_AHEAD: Final = 6


class Batch(NamedTuple):
    account: int
    posts: list[bytes]


@dataclass(frozen=True, slots=True)
class Scale:
    """The number of accounts and posts. Account 0 is the largest; the others have equal size."""

    name: str
    accounts: int
    largest: int
    total: int
    import_posts: int
    # The sizes of the accounts that show what grows.
    growing: tuple[int, ...]

    @property
    def folder(self) -> Path:
        return DATA / self.name

    def size_of(self, account: int) -> int:
        if account == 0:
            return self.largest
        share, rest = divmod(self.total - self.largest, self.accounts - 1)
        return share + (account <= rest)


FULL: Final = Scale(
    "full",
    200,
    largest=100_000,
    total=1_000_000,
    import_posts=100_000,
    growing=(10_000, 100_000),
)
SMALL: Final = Scale(
    "small", 20, largest=20_000, total=50_000, import_posts=20_000, growing=(2_000, 20_000)
)


def batches(scale: Scale, title: str) -> Iterator[Batch]:
    """All posts of the library. Accounts alternate, as in a running service."""
    ranges = sorted(_ranges(scale), key=lambda range_: range_[1] / scale.size_of(range_[0]))
    with ProcessPoolExecutor(1) as pool:
        waiting = iter(ranges)
        started = [_start(pool, range_) for range_ in islice(waiting, _GENERATED_AHEAD)]
        for _ in track(ranges, description=title):
            account, batch = started.pop(0)
            started += [_start(pool, range_) for range_ in islice(waiting, 1)]
            yield Batch(account, batch.result())


def _ranges(scale: Scale) -> Iterator[tuple[int, int, int]]:
    """The account, the first post and the number of posts of each batch."""
    for account in range(scale.accounts):
        size = scale.size_of(account)
        for first in range(0, size, _BATCH):
            yield account, first, min(_BATCH, size - first)


def _start(
    pool: ProcessPoolExecutor, range_: tuple[int, int, int]
) -> tuple[int, "Future[list[bytes]]"]:
    return range_[0], pool.submit(posts.batch, *range_)
