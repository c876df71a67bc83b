"""The packed extension that comes with this service, which `make serve` and `make wheel` build."""

from importlib import resources
from importlib.resources.abc import Traversable
from typing import Final, NamedTuple

BROWSERS: Final = {"chromium": "Chromium", "firefox": "Firefox"}
FOLDER: Traversable = resources.files("bowerbird.web") / "extension"


class Packed(NamedTuple):
    name: str
    content: bytes


def find(browser: str) -> Packed | None:
    """The file for a browser; None if it was not built. Reads about 90 kB from disk."""
    if browser not in BROWSERS or not FOLDER.is_dir():
        return None
    start = f"bowerbird-{browser}-"
    files = [file for file in FOLDER.iterdir() if file.name.startswith(start)]
    return Packed(files[0].name, files[0].read_bytes()) if files else None
