"""What browsers send about passkeys. All of it can be hostile: whatever it is, it is refused."""

import base64
import binascii
import secrets
from typing import Final, TypeVar

import msgspec
from msgspec import Struct, field

from bowerbird.errors import Code, Refusal

T = TypeVar("T")

# Browsers send about 1 KB.
MAX_CHARACTERS: Final = 16 * 1024
# The account is the "user handle" of a passkey.
HANDLE_BYTES: Final = 8


class PasskeyRefused(Refusal):
    """The passkey is unknown or its signature is wrong. The sentence does not say which."""


class Site(Struct, frozen=True):
    """The site to which passkeys belong."""

    # The name of the host.
    rp_id: str
    origin: str


class NewPasskey(Struct, frozen=True):
    credential_id: bytes
    public_key: bytes
    sign_count: int
    # JSON array of the known ways to reach the authenticator.
    transports: str


class _AttestationResponse(Struct):
    client_data: str = field(name="clientDataJSON")
    attestation: str = field(name="attestationObject")
    transports: list[str] = []


class Attestation(Struct):
    """What the browser sends about a new passkey."""

    id: str
    response: _AttestationResponse

    @property
    def credential_id(self) -> bytes:
        return _bytes(self.id)


class _AssertionResponse(Struct):
    client_data: str = field(name="clientDataJSON")
    authenticator_data: str = field(name="authenticatorData")
    signature: str
    user_handle: str | None = field(name="userHandle", default=None)


class Assertion(Struct):
    """What the browser sends when somebody uses a passkey."""

    id: str
    response: _AssertionResponse

    @property
    def credential_id(self) -> bytes:
        return _bytes(self.id)

    @property
    def account_id(self) -> int | None:
        """The account that the passkey was made for, if the authenticator says so."""
        if self.response.user_handle is None:
            return None
        handle = _bytes(self.response.user_handle)
        account_id = int.from_bytes(handle, "big")
        if len(handle) != HANDLE_BYTES or account_id >= 2**63:
            raise refused()
        return account_id


def read(credential: str, kind: type[T]) -> T:
    """Raises a refusal if the JSON does not have the form of an answer."""
    if len(credential) > MAX_CHARACTERS:
        raise refused()
    try:
        return msgspec.json.decode(credential, type=kind)
    except (msgspec.DecodeError, RecursionError, UnicodeError):
        raise refused() from None


def refused() -> PasskeyRefused:
    return PasskeyRefused(
        Code.INVALID_REQUEST, "This passkey could not be checked. Try again, or use another one."
    )


def _bytes(text: str) -> bytes:
    try:
        return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    except (ValueError, binascii.Error):
        raise refused() from None


_CHALLENGE_BYTES: Final = 32


def new_challenge() -> str:
    return base64.urlsafe_b64encode(secrets.token_bytes(_CHALLENGE_BYTES)).decode().rstrip("=")
