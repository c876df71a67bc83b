"""ann, who keeps the images of her posts."""

from pathlib import Path
from typing import Any

import pytest

from tests.support.hosts.image_hosts import ImageHosts
from tests.support.posts.keeping import Shelf
from tests.web.house import Reader


@pytest.fixture
def house_settings() -> dict[str, Any]:
    return {"keep_media": "on"}


@pytest.fixture
async def shelf(ann: Reader, hosts: ImageHosts, tmp_path: Path) -> Shelf:
    built = Shelf(ann.member, hosts, tmp_path)
    await built.switch()
    return built
