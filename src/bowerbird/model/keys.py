"""Creates and parses keys, the tokens of sessions and one-time links, and connect codes.

Clients treat keys as opaque; we read the account from them. A key is `bwr_`, 11 characters for the
account id, 30 random characters and a checksum of 6 characters, all in base62. The token of a
session begins with the account id too, so that it is found without a second index. People carry a
connect code from the website to their extension.
"""

import hashlib
import re
import secrets
import string
import zlib
from operator import mul
from typing import Final, NamedTuple

PREFIX: Final = "bwr_"
# Tokens of devices have the same form.
DEVICE_PREFIX: Final = "dev_"
_ALPHABET: Final = string.digits + string.ascii_uppercase + string.ascii_lowercase
_VALUES: Final = {character: value for value, character in enumerate(_ALPHABET)}
_PAIRS: Final = tuple(first + second for first in _ALPHABET for second in _ALPHABET)
_ROUTE, _RANDOM, _CHECK = 11, 30, 6
_LENGTH: Final = len(PREFIX) + _ROUTE + _RANDOM + _CHECK
_ROUTE_SLICE: Final = slice(len(PREFIX), len(PREFIX) + _ROUTE)
# The account and four of the random characters.
_SHOWN: Final = slice(len(PREFIX) + _ROUTE + 4)
_POWERS: Final = tuple(62**power for power in reversed(range(_ROUTE)))


class ParsedKey(NamedTuple):
    account_id: int
    key_hash: bytes


def new_key(account_id: int, prefix: str = PREFIX) -> str:
    random = "".join(secrets.choice(_ALPHABET) for _ in range(_RANDOM))
    body = prefix + _base62(account_id, _ROUTE) + random
    return body + _checksum(body)


def parse_key(text: str, prefix: str = PREFIX) -> ParsedKey | None:
    """The account id and the hash of a key, or None if it is malformed. Needs no database."""
    if len(text) != _LENGTH or not text.startswith(prefix):
        return None
    if _checksum(text[:-_CHECK]) != text[-_CHECK:]:
        return None
    try:
        # Fails only if somebody computed a valid checksum over other characters.
        account_id = sum(map(mul, map(_VALUES.__getitem__, text[_ROUTE_SLICE]), _POWERS))
    except KeyError:
        return None
    return ParsedKey(account_id, key_hash(text)) if account_id < 2**63 else None


def key_hash(text: str) -> bytes:
    # A key has 178 random bits, so one round without a salt is enough.
    return hashlib.sha256(text.encode()).digest()


def shown_part(text: str) -> str:
    """The start of a key, by which people recognise it. 155 random bits stay secret."""
    return text[_SHOWN]


def part_of_hash(key_hash: bytes) -> str:
    """What names a key where it was used; nobody can sign in with it."""
    return key_hash[:6].hex()


def new_account_id() -> int:
    """A random positive 63-bit number, so that ids do not reveal the number of accounts."""
    return secrets.randbits(63) or 1


def _checksum(body: str) -> str:
    rest, low = divmod(zlib.crc32(body.encode("utf-8", "replace")), len(_PAIRS))
    high, middle = divmod(rest, len(_PAIRS))
    return _PAIRS[high] + _PAIRS[middle] + _PAIRS[low]


def _base62(number: int, width: int) -> str:
    characters = []
    for _ in range(width):
        number, value = divmod(number, 62)
        characters.append(_ALPHABET[value])
    return "".join(reversed(characters))


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


# Crockford's base 32: no I, L, O or U, which look like other characters or spell words.
_CODE_ALPHABET: Final = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_CODE_LENGTH: Final = 8
_HALF: Final = _CODE_LENGTH // 2
_LOOKALIKES: Final = str.maketrans("OIL", "011")
_SALT: Final = b"bowerbird connect code"


def new_code() -> str:
    """40 random bits, such as K7QM-2XRD."""
    code = "".join(secrets.choice(_CODE_ALPHABET) for _ in range(_CODE_LENGTH))
    return f"{code[:_HALF]}-{code[_HALF:]}"


def parse_code(text: str) -> str | None:
    """The code as `new_code` writes it, or None if it is malformed."""
    if not text.isascii():
        return None
    code = "".join(text.split()).replace("-", "").upper().translate(_LOOKALIKES)
    if len(code) != _CODE_LENGTH or not set(code) <= set(_CODE_ALPHABET):
        return None
    return f"{code[:_HALF]}-{code[_HALF:]}"


def code_hash(code: str) -> bytes:
    """Takes about 15 ms and 4 MiB, so that the few bits cannot be found from a stored hash."""
    return hashlib.scrypt(code.encode(), salt=_SALT, n=2**12, r=8, p=1, dklen=32)
