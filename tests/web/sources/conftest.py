"""The service of the sign-in tests, which may reach the networks on loopback."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from bowerbird.storage.database import Database
from tests.support.networks import Networks, playing
from tests.web.sign_in.conftest import House, build


@pytest.fixture
async def networks() -> AsyncIterator[Networks]:
    async with playing() as served:
        yield served


@pytest.fixture
def house(database: Database, tmp_path: Path, networks: Networks) -> House:
    return build(database, tmp_path, **networks.settings)
