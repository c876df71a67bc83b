"""Which texts are email addresses of people: one rule for accounts and sign-in providers.

The domain has a dot. Only `localhost` needs none: mail of a single machine goes there. Settings
accept more, because an operator's own network may have hosts without a dot (settings/values.py).
"""

import re
from typing import Final

_LONGEST: Final = 254
_SPECIAL: Final = r"\s@<>\"(),:;\\\[\]\x00-\x1f\x7f"
_ADDRESS: Final = re.compile(
    rf"[^{_SPECIAL}]+@(?:localhost|[^.{_SPECIAL}]+(?:\.[^.{_SPECIAL}]+)+)", re.IGNORECASE
)


def is_address(text: str) -> bool:
    return len(text) <= _LONGEST and text.isprintable() and _ADDRESS.fullmatch(text) is not None
