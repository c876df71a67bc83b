"""Lets a benchmark write and export more than an account may per day."""

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Final

from bowerbird.storage.sqlite.database import FILE_NAME

# At 10,000 keyed writes per second an account stays below its bound.
_EVERY_S: Final = 0.5


@contextmanager
def forgotten(folder: Path) -> Iterator[None]:
    """Resets what every account has used of its daily bounds, again and again."""
    stop = threading.Event()
    forgetting = threading.Thread(target=_forget_until, args=(folder, stop))
    forgetting.start()
    try:
        yield
    finally:
        stop.set()
        forgetting.join()


def _forget_until(folder: Path, stop: threading.Event) -> None:
    with closing(sqlite3.connect(folder / FILE_NAME)) as connection:
        while True:
            with connection:
                connection.execute("DELETE FROM daily_use")
            if stop.wait(_EVERY_S):
                return
