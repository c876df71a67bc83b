"""The lowest score at which a post still has something to do with a query.

Calibrated with `python -m benchmarks.floor_calibration` on our own library in 21 languages: a floor
keeps 98 % of the relevant posts that are among the first ten, and queries about absent topics
match less than 2 % of the library on average. No floor can keep the relevant posts that a model
does not find: their scores are lower than those of a tenth of the library.
"""

from typing import Final

_FLOORS: Final = {
    # Absent topics match 1.8 % of the posts in English, nonsense 1.6 %.
    "all-MiniLM-L6-v2-int8": 0.22,
    # 1.6 % and 2.5 % of all posts.
    "universal-sentence-encoder-multilingual-3-int8": 0.15,
}
# Of the score of both models: 1.9 % and 1.5 % of all posts.
JOINED_FLOOR: Final = 0.19
# The scores of an unknown model have an unknown scale, so none of its results is left out.
NO_FLOOR: Final = -1.0


def of(model: str) -> float:
    return _FLOORS.get(model, NO_FLOOR)
