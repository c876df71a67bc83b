"""How much the measured library holds, and the order in which its posts arrive."""

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
_MADE_AHEAD: Final = 6


class Batch(NamedTuple):
    account: int
    posts: list[bytes]


@dataclass(frozen=True, slots=True)
class Scale:
    """So many posts in so many accounts; account 0 is the largest, the others are alike."""

    name: str
    accounts: int
    largest: int
    total: int
    import_posts: int

    @property
    def folder(self) -> Path:
        return DATA / self.name

    def size_of(self, account: int) -> int:
        if account == 0:
            return self.largest
        share, rest = divmod(self.total - self.largest, self.accounts - 1)
        return share + (account <= rest)


FULL: Final = Scale("full", 200, largest=100_000, total=1_000_000, import_posts=100_000)
SMALL: Final = Scale("small", 20, largest=20_000, total=50_000, import_posts=20_000)


def batches(scale: Scale, title: str) -> Iterator[Batch]:
    """Every post of the library, the accounts taking turns as they do in a running service."""
    places = sorted(_places(scale), key=lambda place: place[1] / scale.size_of(place[0]))
    with ProcessPoolExecutor(1) as pool:
        waiting = iter(places)
        made = [_start(pool, place) for place in islice(waiting, _MADE_AHEAD)]
        for _ in track(places, description=title):
            account, batch = made.pop(0)
            made += [_start(pool, place) for place in islice(waiting, 1)]
            yield Batch(account, batch.result())


def _places(scale: Scale) -> Iterator[tuple[int, int, int]]:
    for account in range(scale.accounts):
        size = scale.size_of(account)
        for first in range(0, size, _BATCH):
            yield account, first, min(_BATCH, size - first)


def _start(
    pool: ProcessPoolExecutor, place: tuple[int, int, int]
) -> tuple[int, "Future[list[bytes]]"]:
    return place[0], pool.submit(posts.batch, *place)
