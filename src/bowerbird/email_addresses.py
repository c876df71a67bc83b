"""Which texts are email addresses: one rule for accounts, settings and sign-in providers.

The domain has a dot. Only `localhost` needs none: mail of a single machine goes there.
"""

import re
from typing import Final

_LONGEST: Final = 254
_SPECIAL: Final = r"\s@<>\"(),:;\\\[\]\x00-\x1f\x7f"
_ADDRESS: Final = re.compile(
    rf"[^{_SPECIAL}]+@(?:localhost|[^.{_SPECIAL}]+(?:\.[^.{_SPECIAL}]+)+)", re.IGNORECASE
)
_ATOM: Final = r"[A-Za-z0-9!#$%&'*+/=?^_{|}~-]+"
_LABEL: Final = r"[A-Za-z0-9-]+"
# An address that mail servers accept without extensions, inside another pattern.
MAILBOX: Final = rf"{_ATOM}(?:\.{_ATOM})*@(?:localhost|{_LABEL}(?:\.{_LABEL})+)"


def is_address(text: str) -> bool:
    return len(text) <= _LONGEST and text.isprintable() and _ADDRESS.fullmatch(text) is not None
