"""Checks in a loop: a test checks every item and reports all failures, not only the first."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest


class Offenders(dict[str, str]):
    """Empty if every check passed; otherwise the failures by item name."""

    @contextmanager
    def check(self, item: object) -> Iterator[None]:
        try:
            yield
        except (Exception, pytest.fail.Exception) as failure:  # noqa: BLE001 # an error is a failure too
            self[str(item)] = f"{type(failure).__name__}: {failure}"
