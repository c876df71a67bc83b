"""The lowest score at which a post still has something to do with a query.

Calibrated with `python -m benchmarks.floor_calibration` on our own library in 21 languages:
a floor keeps 98 % of the relevant posts that are among the first ten, and queries about absent
topics match less than 2 % of the library on average. No floor can keep the relevant posts that a
model does not find: their scores are lower than those of half the library.
"""

from typing import Final

# 98 % of the found pairs reach 0.222; absent topics match 1.8 %, nonsense 1.6 %.
_FLOORS: Final = {
    "all-MiniLM-L6-v2-int8": 0.22,
    # 98 % reach 0.150; absent topics match 1.6 %, nonsense 2.5 %.
    "universal-sentence-encoder-multilingual-3-int8": 0.15,
}
# Of the average of both models: 98 % reach 0.192; absent topics match 1.7 %, nonsense 1.4 %.
JOINED_FLOOR: Final = 0.19
# The scores of an unknown model have an unknown scale, so none of its results is left out.
NO_FLOOR: Final = -1.0


def of(model: str) -> float:
    return _FLOORS.get(model, NO_FLOOR)
