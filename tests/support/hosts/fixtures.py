"""Hosts that tests of several folders talk to, and the log of the service, as fixtures."""

from collections.abc import AsyncIterator, Iterator, MutableMapping
from pathlib import Path
from typing import Any

import pytest
from structlog.testing import capture_logs

from tests.support.hosts import hooks
from tests.support.hosts.hooks import Receiver
from tests.support.hosts.image_hosts import ImageHosts, image_hosts
from tests.support.hosts.networks import Networks, playing
from tests.support.posts.keeping import Shelf
from tests.support.service import Member


@pytest.fixture
def logged() -> Iterator[list[MutableMapping[str, Any]]]:
    with capture_logs() as lines:
        yield lines


@pytest.fixture
async def hosts(tmp_path: Path) -> AsyncIterator[ImageHosts]:
    async with image_hosts(tmp_path) as serving:
        yield serving


@pytest.fixture
async def shelf(alice: Member, hosts: ImageHosts, tmp_path: Path) -> Shelf:
    """alice keeps the images of her posts."""
    built = Shelf(alice, hosts, tmp_path)
    await built.switch()
    return built


@pytest.fixture
async def receiver() -> AsyncIterator[Receiver]:
    """An address of webhooks."""
    async with hooks.receiving() as served:
        yield served


@pytest.fixture
async def networks() -> AsyncIterator[Networks]:
    async with playing() as served:
        yield served
