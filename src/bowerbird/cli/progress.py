"""Progress of long work, step by step, on stderr and for people only."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

Advance = Callable[[str, int, int], None]


@contextmanager
def shown_steps() -> Iterator[Advance]:
    """Gives a function that is told what is done, how much of it, and how much it is."""
    console = Console(stderr=True)
    bar = Progress(
        # A file's name may look like markup.
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TaskProgressColumn(),
        TimeRemainingColumn(),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    )
    tasks = {}

    def advance(what: str, done: int, total: int) -> None:
        if what not in tasks:
            tasks[what] = bar.add_task(what, total=total)
        bar.update(tasks[what], completed=done, total=total)

    with bar:
        yield advance
