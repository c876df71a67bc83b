"""A service that its owner operates."""

from typing import Any

import pytest


@pytest.fixture
def house_settings() -> dict[str, Any]:
    return {"sign_up": "invite"}
