"""Creates and parses the tokens in session cookies and one-time links.

The token of a session begins with the account id, so that it is found without a second index.
"""

import hashlib
import re
import secrets
from typing import Final, NamedTuple

_RANDOM_BYTES: Final = 32
# 16 hexadecimal digits of the account id, then 256 random bits.
_SESSION: Final = re.compile(r"([0-9a-f]{16})\.[A-Za-z0-9_-]{43}")
_LINK: Final = re.compile(r"[A-Za-z0-9_-]{43}")


class ParsedSession(NamedTuple):
    account_id: int
    session_hash: bytes


def new_session_token(account_id: int) -> str:
    return f"{account_id:016x}.{secrets.token_urlsafe(_RANDOM_BYTES)}"


def parse_session_token(text: str) -> ParsedSession | None:
    found = _SESSION.fullmatch(text)
    if found is None or (account_id := int(found[1], 16)) >= 2**63:
        return None
    return ParsedSession(account_id, token_hash(text))


def new_link_token() -> str:
    return secrets.token_urlsafe(_RANDOM_BYTES)


def is_link_token(text: str) -> bool:
    return _LINK.fullmatch(text) is not None


def token_hash(text: str) -> bytes:
    # A token has 256 random bits, so one round without a salt is enough.
    return hashlib.sha256(text.encode()).digest()
