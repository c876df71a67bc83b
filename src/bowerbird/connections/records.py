"""What the clients of the networks take and return, and when a network allows the next request.

Stored access is encrypted with a key that is not in the database: a setting, or a file in the data
folder that is created with the first text. A backup of the database alone cannot be decrypted.
"""

import hashlib
import os
import secrets
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, Generic, TypeVar

import msgspec
from msgspec import Struct

from bowerbird.clock import MICROSECONDS
from bowerbird.errors import Code, Refusal
from bowerbird.model import instants
from bowerbird.model.connections import Problem
from bowerbird.settings import Settings
from bowerbird.sources.parsing.json_values import Unreadable, decode
from bowerbird.storage import private_files

T = TypeVar("T")


class Tokens(Struct, frozen=True, omit_defaults=True):
    """The access to an account at a network. Stored only encrypted."""

    access: str = ""
    # "" for networks whose access tokens stay valid.
    refresh: str = ""
    # When the access token expires, in microseconds; 0 if nothing says so.
    expires_at: int = 0
    # The person's own app at X.
    client_id: str = ""
    client_secret: str = ""

    def __repr__(self) -> str:
        return "Tokens()"


class Person(Struct, frozen=True):
    """An account at a network."""

    # What runs are named with: one text per account and network.
    source_user_id: str
    # As people call it, such as alice@mastodon.example.
    name: str


class ListPage(Struct, frozen=True):
    """One answer with saved posts."""

    # As the readers of `sources` take it.
    payload: bytes
    request_url: str


class SourceProblem(Exception):  # noqa: N818 - named for what it is
    """A network gave no usable answer. Nothing that it sent is repeated anywhere."""

    def __init__(self, problem: Problem, *, retry_at: int = 0, reason: str = "") -> None:
        """`retry_at`: when the network allows the next request; `reason` is for the log."""
        super().__init__(problem.value)
        self.problem = problem
        self.retry_at = retry_at
        self.reason = reason


class Answer(Struct, frozen=True):
    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def is_json(self) -> bool:
        return "json" in self.headers.get("content-type", "")

    def value(self) -> Any:
        """The JSON of the answer; None if it has none."""
        try:
            return decode(self.body)
        except Unreadable:
            return None

    def read(self, kind: type[T]) -> T:
        try:
            return msgspec.json.decode(self.body, type=kind)
        except (msgspec.MsgspecError, ValueError, RecursionError):
            raise SourceProblem(Problem.UNREADABLE_ANSWER, reason="json") from None

    def is_error(self, *names: str) -> bool:
        """Whether the answer has one of these codes of an error."""
        try:
            found = msgspec.json.decode(self.body, type=_Error)
        except (msgspec.MsgspecError, ValueError, RecursionError):
            return False
        return found.error in names


class _Error(Struct, frozen=True):
    error: str = ""


class CursorRefused(Exception):  # noqa: N818 - named for what it is
    """The network does not know where the list was left. It has to be read from the top."""


class TokenExpired(Exception):  # noqa: N818 - named for what it is
    """The access token is not valid any more. Another one may be."""


_DEFAULT_S: Final = 900
_SHORTEST_S: Final = 60
_LONGEST_S: Final = 86_400
# The clocks of two machines differ by a second or so.
_SKEW: Final = 2 * MICROSECONDS
# X and Bluesky send seconds since 1970, Mastodon sends a date.
_RESETS: Final = ("x-rate-limit-reset", "ratelimit-reset", "x-ratelimit-reset")
_LONGEST_TEXT: Final = 40


def retry_at(headers: Mapping[str, str], now: int) -> int:
    """At least a minute and at most a day from now, whatever the server says."""
    found = now + _DEFAULT_S * MICROSECONDS
    after = headers.get("retry-after", "")[:_LONGEST_TEXT]
    if after.isascii() and after.isdecimal():
        found = now + int(after) * MICROSECONDS
    for name in _RESETS:
        at = _moment(headers.get(name, "")[:_LONGEST_TEXT])
        if at is not None:
            found = at + _SKEW
            break
    return min(max(found, now + _SHORTEST_S * MICROSECONDS), now + _LONGEST_S * MICROSECONDS)


def _moment(text: str) -> int | None:
    if text.isascii() and text.isdecimal():
        return int(text) * MICROSECONDS
    return instants.parse(text) if text else None


FILE: Final = "sources.key"
_VERSION: Final = b"1"
_NONCE_BYTES: Final = 12
_KEY_BYTES: Final = 32
_PURPOSE: Final = b"bowerbird sources\n"


class NoKey(Exception):  # noqa: N818 - named for what it is
    """The key is missing, or its file cannot be read. The message says which."""


class CannotOpen(Exception):  # noqa: N818 - named for what it is
    """The text was encrypted with another key, or for another place, or is damaged."""


class Vault(Generic[T]):
    """Encrypts values for the database. Each can be decrypted for the place of its row only."""

    def __init__(self, settings: Settings, kind: type[T], what: str) -> None:
        """`what` the values are, for people."""
        self._decode = msgspec.json.Decoder(kind).decode
        self._what = what
        self._secret = settings.sources_key
        self._file = settings.data_dir / FILE
        self._key = b""

    def seal(self, value: T, place: str) -> bytes:
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM  # noqa: PLC0415 - slow

        try:
            key = self._found(is_new_allowed=True)
        except NoKey as problem:
            sentence = f"This server cannot store {self._what}: {problem}. Tell its operator."
            raise Refusal(Code.SERVICE_UNAVAILABLE, sentence) from None
        nonce, content = secrets.token_bytes(_NONCE_BYTES), msgspec.json.encode(value)
        return _VERSION + nonce + AESGCM(key).encrypt(nonce, content, place.encode())

    def open(self, sealed: bytes, place: str) -> T:
        from cryptography.exceptions import InvalidTag  # noqa: PLC0415 - slow
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM  # noqa: PLC0415 - slow

        start = len(_VERSION) + _NONCE_BYTES
        if not sealed.startswith(_VERSION):
            raise CannotOpen
        try:
            key = self._found(is_new_allowed=False)
            nonce = sealed[len(_VERSION) : start]
            return self._decode(AESGCM(key).decrypt(nonce, sealed[start:], place.encode()))
        except (InvalidTag, ValueError, NoKey, msgspec.MsgspecError):
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
