"""The lowest similarity at which a post still has something to do with a query, per model."""

from typing import Final

_FLOORS: Final = {
    "all-MiniLM-L6-v2-int8": 0.15,
    "universal-sentence-encoder-multilingual-3-int8": 0.15,
}
# The similarities of an unknown model have an unknown scale, so none of its results is left out.
NO_FLOOR: Final = -1.0


def of(model: str) -> float:
    return _FLOORS.get(model, NO_FLOOR)
