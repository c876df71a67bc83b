"""Fixtures for tests of the tool server: the service."""

import pytest

from tests.support.service import Service


@pytest.fixture
def service(cast: Service) -> Service:
    return cast
