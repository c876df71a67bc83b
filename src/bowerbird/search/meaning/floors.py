"""The lowest score at which a post still has something to do with a query.

Calibrated with `python -m benchmarks.search_quality --calibrate` on our own labelled library. A
floor should keep 98 % of the relevant posts that are among the first ten, and queries about absent
topics should match less than 2 % of the library. No floor reaches both bars for every model and
language, so these are compromises.
"""

from typing import Final

_FLOORS: Final = {
    # Keeps 98.4 %; absent topics match 2.03 % of the posts in English, nonsense 1.5 %.
    "all-MiniLM-L6-v2-int8": 0.22,
    # Keeps 96.8 %; absent topics match 1.1 to 1.8 % of all posts, nonsense 2.0 %. No list
    # uses it, because this model never answers alone.
    "universal-sentence-encoder-multilingual-3-int8": 0.15,
}
# Of the score of both models: keeps 97.8 %. Absent topics match 0.7 % of all posts in English and
# 2.8 % in other languages, nonsense 1.2 %. A floor of 0.18 keeps 98.2 %, but 3.8 % match.
JOINED_FLOOR: Final = 0.19
# The scores of an unknown model have an unknown scale, so none of its results is left out.
NO_FLOOR: Final = -1.0


def of(model: str) -> float:
    return _FLOORS.get(model, NO_FLOOR)
