"""The service of the sign-in tests, which may reach the networks on loopback."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from tests.support.hosts.networks import Networks, playing


@pytest.fixture
async def networks() -> AsyncIterator[Networks]:
    async with playing() as served:
        yield served


@pytest.fixture
def house_settings(networks: Networks) -> dict[str, Any]:
    return networks.settings
