"""Shows the progress of long work on stderr, if that is a terminal."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

Advance = Callable[[str, int, int], None]


@contextmanager
def progress_bars() -> Iterator[Advance]:
    """Yields a function that takes a step's description, the amount done and the total."""
    console = Console(stderr=True)
    bar = Progress(
        # A file name may look like markup.
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TaskProgressColumn(),
        TimeRemainingColumn(),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    )
    tasks = {}

    def advance(description: str, done: int, total: int) -> None:
        if description not in tasks:
            tasks[description] = bar.add_task(description, total=total)
        bar.update(tasks[description], completed=done, total=total)

    with bar:
        yield advance
