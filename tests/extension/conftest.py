"""The fake X, a real server, and browsers with the extension; tests of this folder share them."""

from collections.abc import Iterator

import pytest

from tests.extension import fake_x as stand_in
from tests.extension import x_answers
from tests.extension.fake_x import FakeX
from tests.extension.x_account import World


@pytest.fixture(scope="package")
def shared_x(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FakeX]:
    with stand_in.fake_x(tmp_path_factory.mktemp("x")) as x:
        yield x


@pytest.fixture
def x(shared_x: FakeX) -> FakeX:
    """The fake X, on a new day."""
    shared_x.world = World()
    shared_x.operation_ids = dict(x_answers.OPERATION_IDS)
    shared_x.delay_s = 0.0
    shared_x.failing_with = 0
    shared_x.asked.clear()
    return shared_x
