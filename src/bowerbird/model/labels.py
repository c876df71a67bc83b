"""The name of a label: what is accepted, and when two names are the same label."""

import unicodedata
from functools import lru_cache
from typing import Final

from msgspec import Struct

from bowerbird.model.folding import fold

LONGEST: Final = 100


def clean_name(text: str) -> str | None:
    """The name as it is kept, or None when it cannot be one."""
    # Before blanks are folded: to Python some control characters are blanks. What is printable
    # holds none, and is seen at once.
    if not text.isprintable() and any(
        unicodedata.category(c) == "Cc" and c not in "\t\n\r" for c in text
    ):
        return None
    name = " ".join(unicodedata.normalize("NFC", text).split())
    return name if 1 <= len(name) <= LONGEST else None


@lru_cache(maxsize=4096)
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
