"""The service of the sign-in tests, which may reach the networks on loopback."""

from typing import Any

import pytest

from tests.support.hosts.networks import Networks


@pytest.fixture
def house_settings(networks: Networks) -> dict[str, Any]:
    return networks.settings
