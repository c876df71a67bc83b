"""Encrypts texts with a key that is not in the database.

The key is a setting, or a file in the data folder that is created with the first text. A backup of
the database alone cannot be decrypted.
"""

import hashlib
import os
import secrets
from pathlib import Path
from typing import Final

from bowerbird.settings import Settings
from bowerbird.storage import private_files

FILE: Final = "sources.key"
_VERSION: Final = b"1"
_NONCE_BYTES: Final = 12
_KEY_BYTES: Final = 32
_PURPOSE: Final = b"bowerbird sources\n"


class NoKey(Exception):  # noqa: N818 - named for what it is
    """The key is missing, or its file cannot be read. The message says which."""


class CannotOpen(Exception):  # noqa: N818 - named for what it is
    """The text was encrypted with another key, or for another place, or is damaged."""


class Sealer:
    def __init__(self, settings: Settings) -> None:
        self._secret = settings.sources_key
        self._file = settings.data_dir / FILE
        self._key = b""

    def seal(self, content: bytes, place: str) -> bytes:
        """`place` is where the text is stored: it can be decrypted for this place only."""
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM  # noqa: PLC0415 - slow

        nonce = secrets.token_bytes(_NONCE_BYTES)
        sealed = AESGCM(self._found(is_new_allowed=True)).encrypt(nonce, content, place.encode())
        return _VERSION + nonce + sealed

    def open(self, sealed: bytes, place: str) -> bytes:
        from cryptography.exceptions import InvalidTag  # noqa: PLC0415 - slow
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM  # noqa: PLC0415 - slow

        start = len(_VERSION) + _NONCE_BYTES
        if not sealed.startswith(_VERSION):
            raise CannotOpen
        try:
            key = self._found(is_new_allowed=False)
            nonce = sealed[len(_VERSION) : start]
            return AESGCM(key).decrypt(nonce, sealed[start:], place.encode())
        except (InvalidTag, ValueError, NoKey):
            raise CannotOpen from None

    def _found(self, *, is_new_allowed: bool) -> bytes:
        if not self._key:
            secret = self._secret or _read(self._file, is_new_allowed=is_new_allowed)
            self._key = hashlib.sha256(_PURPOSE + secret.encode()).digest()
        return self._key


def _read(file: Path, *, is_new_allowed: bool) -> str:
    try:
        if is_new_allowed and not file.exists():
            _create(file)
        text = file.read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise NoKey(f"cannot use {file.name} in the data folder: {error}") from None
    if len(text) < _KEY_BYTES:
        raise NoKey(f"{file.name} in the data folder is too short")
    return text


def _create(file: Path) -> None:
    """Another process may do the same: the first one wins, and nobody reads half a key."""
    private_files.make_folder(file.parent)
    draft = file.with_name(f"{file.name}.{secrets.token_hex(4)}")
    with os.fdopen(private_files.open_new(draft), "w") as opened:
        opened.write(secrets.token_hex(_KEY_BYTES) + "\n")
        opened.flush()
        os.fsync(opened.fileno())
    try:
        os.link(draft, file)
    except FileExistsError:
        pass
    finally:
        draft.unlink()
