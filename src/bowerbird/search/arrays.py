"""numpy as the service uses it. Imported at first need: it takes 30 MB and a tenth of a second."""

import os

# Several searches at once share the processors better than the threads of one of them, which
# wait for each other by spinning: on a busy machine that took ten times as long.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
from numpy.typing import NDArray

__all__ = ["Floats", "Integers", "NDArray", "np"]

Floats = NDArray[np.float32]
Integers = NDArray[np.int64]
