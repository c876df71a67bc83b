"""Networks on loopback, and the sources of accounts that read them."""

from pathlib import Path

import pytest

from tests.support.hosts.networks import Networks
from tests.support.posts.sources import Desk
from tests.support.service import Member


@pytest.fixture
def desk(alice: Member, networks: Networks, tmp_path: Path) -> Desk:
    return Desk(alice, networks, tmp_path)
