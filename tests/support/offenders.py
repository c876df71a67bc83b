"""Checks in a loop: one test looks at every item and names all that fail, not only the first."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest


class Offenders(dict[str, str]):
    """Empty when every check passed; otherwise the failure of each item by its name."""

    @contextmanager
    def check(self, item: object) -> Iterator[None]:
        try:
            yield
        except (Exception, pytest.fail.Exception) as failure:  # noqa: BLE001 # an error is a failure too
            self[str(item)] = f"{type(failure).__name__}: {failure}"
