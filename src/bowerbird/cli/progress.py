"""Shows the progress of long work on stderr, if that is a terminal."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

Advance = Callable[[str, int, int], None]


@contextmanager
def progress_bars() -> Iterator[Advance]:
    """Yields a function that takes a step's description, the amount done and the total."""
    if not sys.stderr.isatty():
        yield _ignore
        return
    # Slow to import, and most commands show no progress.
    from rich.console import Console  # noqa: PLC0415
    from rich.progress import (  # noqa: PLC0415
        BarColumn,
        Progress,
        TaskProgressColumn,
        TextColumn,
        TimeRemainingColumn,
    )

    bar = Progress(
        # A file name may look like markup.
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TaskProgressColumn(),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
    )
    tasks = {}

    def advance(description: str, done: int, total: int) -> None:
        if description not in tasks:
            tasks[description] = bar.add_task(description, total=total)
        bar.update(tasks[description], completed=done, total=total)

    with bar:
        yield advance


def _ignore(_description: str, _done: int, _total: int) -> None:
    """Takes the place of bars that nobody would see."""
