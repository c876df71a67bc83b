"""Configures numpy for the service. Import it late: numpy takes 30 MB and a tenth of a second."""

import os

# OpenBLAS threads wait for each other by spinning, which took ten times as long on a busy machine.
# Concurrent searches share the cores better with one thread each.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
from numpy.typing import NDArray

__all__ = ["Floats", "Integers", "NDArray", "np"]

Floats = NDArray[np.float32]
Integers = NDArray[np.int64]
