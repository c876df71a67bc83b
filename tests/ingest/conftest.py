"""The device that most tests send from."""

import pytest

from tests.support import ingesting
from tests.support.ingesting import Sender
from tests.support.service import Service


@pytest.fixture
async def laptop(cast: Service) -> Sender:
    """A device of alice, at the time of the pages that it captures."""
    return await ingesting.device(cast, cast.alice)
