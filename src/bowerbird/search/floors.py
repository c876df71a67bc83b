"""The lowest score at which a post still has something to do with a query.

Calibrated with `python -m benchmarks.search_quality --calibrate` on our own labelled library: a
floor keeps 98 % of the relevant posts that are among the first ten, and queries about absent
topics match less than 2 % of the library on average.
"""

from typing import Final

_FLOORS: Final = {
    # Keeps 98.8 %; absent topics match 1.98 % of the posts in English, nonsense 1.5 %.
    "all-MiniLM-L6-v2-int8": 0.22,
    # Keeps 97.0 %; absent topics match 1.5 % of all posts, nonsense 2.1 %. It never answers alone.
    "universal-sentence-encoder-multilingual-3-int8": 0.15,
}
# Of the score of both models: keeps 98.2 %, absent topics match 1.6 % of all posts, nonsense 1.2 %.
JOINED_FLOOR: Final = 0.19
# The scores of an unknown model have an unknown scale, so none of its results is left out.
NO_FLOOR: Final = -1.0


def of(model: str) -> float:
    return _FLOORS.get(model, NO_FLOOR)
