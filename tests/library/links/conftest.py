"""alice saves links, and a worker reads their posts."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.support.hosts.image_hosts import ImageHosts, image_hosts
from tests.support.hosts.links import NAMES, Reader
from tests.support.service import Member


@pytest.fixture
async def hosts(tmp_path: Path) -> AsyncIterator[ImageHosts]:
    async with image_hosts(tmp_path, NAMES) as serving:
        yield serving


@pytest.fixture
def reader(alice: Member, hosts: ImageHosts, tmp_path: Path) -> Reader:
    return Reader(alice, hosts, tmp_path)
