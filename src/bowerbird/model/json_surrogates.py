"""Halves of characters in JSON, as a cut text has them: JSON must not, and programs do."""

import re
from typing import Final

# In place of a character that cannot be read.
REPLACEMENT: Final = b"\\ufffd"
_LONE: Final = re.compile(
    rb"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"
    rb"|(?P<lone>u[dD][89a-fA-F][0-9a-fA-F]{2})|.)"
)


def without_lone_surrogates(body: bytes, replacement: bytes = REPLACEMENT) -> bytes:
    """JSON with an escape in place of each half of a surrogate pair."""
    return _LONE.sub(lambda one: replacement if one["lone"] else one[0], body)
