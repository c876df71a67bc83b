"""The service of the sign-in tests, for exports."""

from pathlib import Path

import pytest

from bowerbird.storage.database import Database
from tests.web.sign_in.conftest import House, build


@pytest.fixture
def house(database: Database, tmp_path: Path) -> House:
    return build(database, tmp_path)
