"""Lets the processes of one test run share what takes long to make."""

import fcntl
import os
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

T = TypeVar("T")


def made_once(own_folder: Path, name: str, make: Callable[[], T]) -> T:
    """What `make` returns, in the first process that asks. The others wait for it.

    `own_folder` is the folder of temporary files of this process.
    """
    is_one_of_several = "PYTEST_XDIST_WORKER" in os.environ
    shared = own_folder.parent if is_one_of_several else own_folder
    file = shared / name
    with (shared / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not file.exists():
            file.write_bytes(pickle.dumps(make()))
    found: T = pickle.loads(file.read_bytes())  # noqa: S301 - written by this test run
    return found
