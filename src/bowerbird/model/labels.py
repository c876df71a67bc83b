"""The name of a label: what is accepted, and when two names are the same label."""

import unicodedata
from typing import Final

from msgspec import Struct

from bowerbird.model.folding import fold

LONGEST: Final = 100


def clean_name(text: str) -> str | None:
    """The name as it is kept, or None when it cannot be one."""
    name = " ".join(unicodedata.normalize("NFC", text).split())
    if not 1 <= len(name) <= LONGEST:
        return None
    if any(unicodedata.category(character) == "Cc" for character in name):
        return None
    return name


def name_key(name: str) -> str:
    """Equal for names that are one label."""
    return fold(name)


class Label(Struct, frozen=True):
    label_id: int
    name: str
    name_key: str
    # JSON text of what its keeper noted of it, such as a colour.
    metadata: str = "{}"
    bookmark_count: int = 0
