"""Refuses a command in a folder without a library, and says where it looked and why there."""

import os
from collections.abc import Mapping

import click

from bowerbird.settings import PREFIX, Settings
from bowerbird.storage.sqlite import replacing
from bowerbird.storage.sqlite.database import FILE_NAME
from bowerbird.storage.sqlite.schema import require_content

_VARIABLE = f"{PREFIX}DATA_DIR"


def require_library(settings: Settings, environment: Mapping[str, str] = os.environ) -> None:
    """Raises if the data folder has no library. It creates nothing, not even the folder."""
    folder = settings.data_dir.absolute()
    if settings.is_sqlite:
        require_content(folder)
    # After an interrupted restore, the next process that opens the folder finishes it.
    if not settings.is_sqlite or (folder / FILE_NAME).exists() or replacing.is_interrupted(folder):
        return
    missing = f"has no {FILE_NAME}" if folder.is_dir() else "does not exist"
    if _VARIABLE in environment:
        reason = f"The setting {_VARIABLE}={environment[_VARIABLE]} chose this folder. Correct it"
    else:
        reason = (
            f"{_VARIABLE} is not set, so the folder is {settings.data_dir} in the current folder. "
            f"Run the command where you run bowerbird serve, or set {_VARIABLE}"
        )
    raise click.ClickException(
        f"There is no library in {folder}: the folder {missing}. {reason}, or create a library "
        "there with: bowerbird migrate"
    )
