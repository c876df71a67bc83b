"""Sizes of files on pages."""

from typing import Final

_UNITS: Final = (("GB", 1_000_000_000), ("MB", 1_000_000), ("kB", 1_000))


def size_text(size: int) -> str:
    """Such as 3.2 MB."""
    for unit, factor in _UNITS:
        if size >= factor:
            return f"{size / factor:.1f} {unit}"
    return "1 byte" if size == 1 else f"{size} bytes"
