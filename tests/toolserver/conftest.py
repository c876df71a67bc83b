"""Fixtures for tests of the tool server: the service, and its log."""

from collections.abc import Iterator, MutableMapping
from typing import Any

import pytest
from structlog.testing import capture_logs

from tests.support.service import Service


@pytest.fixture
def service(cast: Service) -> Service:
    return cast


@pytest.fixture
def logged() -> Iterator[list[MutableMapping[str, Any]]]:
    with capture_logs() as lines:
        yield lines
