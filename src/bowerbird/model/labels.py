"""Labels: which names are valid, and which names mean the same label."""

import unicodedata
from functools import lru_cache
from typing import Final

from msgspec import Struct

from bowerbird.model.folding import fold

MAX_NAME_CHARACTERS: Final = 100


def clean_name(text: str) -> str | None:
    """The name as it is stored, or None if it is invalid."""
    # Checked before split(), because Python counts some control characters as white space.
    # isprintable() is a fast test that is enough for most names.
    if not text.isprintable() and any(
        unicodedata.category(c) == "Cc" and c not in "\t\n\r" for c in text
    ):
        return None
    name = " ".join(unicodedata.normalize("NFC", text).split())
    return name if 1 <= len(name) <= MAX_NAME_CHARACTERS else None


@lru_cache(maxsize=4096)
def name_key(name: str) -> str:
    """The key of a label: names with the same key are the same label."""
    return fold(name)


class Label(Struct, frozen=True):
    label_id: int
    name: str
    name_key: str
    # JSON text with the owner's own fields, for example a colour.
    metadata: str = "{}"
    bookmark_count: int = 0
    # The name that some of its posts still have, while the label is being renamed.
    former_name: str | None = None
