"""Configures numpy for the service. Import it late: numpy takes 30 MB and a tenth of a second."""

import os
from typing import Final

# OpenBLAS threads wait for each other by spinning, which took ten times as long on a busy machine.
# Concurrent searches share the cores better with one thread each.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
from numpy.typing import NDArray

__all__ = ["LARGEST_TABLE", "Floats", "Integers", "NDArray", "np", "parse_numbers"]

Floats = NDArray[np.float32]
Integers = NDArray[np.int64]
# The numbers of an account's posts are dense, so a table with one entry per number is small. Beyond
# this number it would take too much memory.
LARGEST_TABLE: Final = 20_000_000


def parse_numbers(text: str) -> Integers:
    """Reads comma-separated numbers, which a database returns faster than rows."""
    return np.fromstring(text, np.int64, sep=",") if text else np.zeros(0, np.int64)
