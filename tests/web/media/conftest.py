"""ann, who keeps the images of her posts, and the hosts of the images."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from bowerbird.storage.database import Database
from tests.support.image_hosts import ImageHosts, image_hosts
from tests.support.keeping import Shelf
from tests.web.library.conftest import Reader, signed_in
from tests.web.sign_in.conftest import House, build


@pytest.fixture
async def hosts(tmp_path: Path) -> AsyncIterator[ImageHosts]:
    async with image_hosts(tmp_path) as serving:
        yield serving


@pytest.fixture
def house(database: Database, tmp_path: Path) -> House:
    return build(database, tmp_path, keep_media="on")


@pytest.fixture
async def ann(house: House) -> AsyncIterator[Reader]:
    reader = await signed_in(house, "ann@example.com")
    yield reader
    await reader.member.client.aclose()


@pytest.fixture
async def ben(house: House) -> AsyncIterator[Reader]:
    reader = await signed_in(house, "ben@example.com")
    yield reader
    await reader.member.client.aclose()


@pytest.fixture
async def shelf(ann: Reader, hosts: ImageHosts, tmp_path: Path) -> Shelf:
    built = Shelf(ann.member, hosts, tmp_path)
    await built.switch()
    return built
