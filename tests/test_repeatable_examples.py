"""Property tests try the same examples whichever tests ran before them in the same process."""

import sys

from hypothesis.internal.conjecture.providers import HypothesisProvider


def test_examples_are_not_drawn_from_the_modules_that_are_loaded() -> None:
    assert "bowerbird.storage.database" in sys.modules

    assert len(HypothesisProvider(None)._local_constants) == 0  # noqa: SLF001
