"""alice keeps the images of her posts."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.support.hosts.image_hosts import ImageHosts, image_hosts
from tests.support.posts.keeping import Shelf
from tests.support.service import Member


@pytest.fixture
async def hosts(tmp_path: Path) -> AsyncIterator[ImageHosts]:
    async with image_hosts(tmp_path) as serving:
        yield serving


@pytest.fixture
async def shelf(alice: Member, hosts: ImageHosts, tmp_path: Path) -> Shelf:
    built = Shelf(alice, hosts, tmp_path)
    await built.switch()
    return built
