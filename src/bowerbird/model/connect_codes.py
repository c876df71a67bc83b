"""Creates and parses connect codes, which people carry from the website to their extension."""

import hashlib
import secrets
from typing import Final

# Crockford's base 32: no I, L, O or U, which look like other characters or spell words.
_ALPHABET: Final = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_LENGTH: Final = 8
_HALF: Final = _LENGTH // 2
_LOOKALIKES: Final = str.maketrans("OIL", "011")
_SALT: Final = b"bowerbird connect code"


def new_code() -> str:
    """40 random bits, such as K7QM-2XRD."""
    code = "".join(secrets.choice(_ALPHABET) for _ in range(_LENGTH))
    return f"{code[:_HALF]}-{code[_HALF:]}"


def parse_code(text: str) -> str | None:
    """The code as `new_code` writes it, or None if it is malformed."""
    if not text.isascii():
        return None
    code = "".join(text.split()).replace("-", "").upper().translate(_LOOKALIKES)
    if len(code) != _LENGTH or not set(code) <= set(_ALPHABET):
        return None
    return f"{code[:_HALF]}-{code[_HALF:]}"


def code_hash(code: str) -> bytes:
    """Takes about 15 ms and 4 MiB, so that the few bits cannot be found from a stored hash."""
    return hashlib.scrypt(code.encode(), salt=_SALT, n=2**12, r=8, p=1, dklen=32)
