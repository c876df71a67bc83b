"""The real model, loaded once per test process. `make install` builds it; tests require it."""

import os

from bowerbird.search.meaning.models import Models
from bowerbird.settings import Settings

MODEL_DIR = os.environ.get("BOWERBIRD_MODEL_DIR", "")
MODELS = Models(Settings(model_dir=MODEL_DIR), is_low_priority=False)


async def ignore(_done: int, _total: int) -> None:
    """For builds whose progress the test ignores."""
