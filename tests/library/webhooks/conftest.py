from pathlib import Path

import pytest

from tests.support import service
from tests.support.hosts.hooks import Post, Receiver
from tests.support.service import Service


@pytest.fixture
def served(cast: Service, receiver: Receiver, tmp_path: Path) -> Service:
    """The service, which may send to the receiver."""
    return service.with_cast(
        cast.database,
        data_dir=tmp_path,
        webhooks_private_hosts=receiver.host,
    )


@pytest.fixture
def post(served: Service, receiver: Receiver, tmp_path: Path) -> Post:
    return Post(served.alice, receiver, tmp_path)
