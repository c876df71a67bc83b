"""Checks what an authenticator has signed, with the library `webauthn`.

Everything here comes from a browser and can be hostile: whatever it is, the answer is a refusal.
"""

import asyncio
from collections.abc import Callable, Sequence
from typing import Any, Final, TypeVar

import msgspec
import webauthn
from msgspec import Struct, field
from webauthn.helpers import (
    base64url_to_bytes,
    bytes_to_base64url,
    generate_challenge,
    options_to_json_dict,
)
from webauthn.helpers.structs import (
    AuthenticatorSelectionCriteria,
    AuthenticatorTransport,
    PublicKeyCredentialDescriptor,
    ResidentKeyRequirement,
    UserVerificationRequirement,
)

from bowerbird.errors import Code, Refusal
from bowerbird.model.sign_in import Passkey

T = TypeVar("T")

# Browsers send about 1 KB.
MAX_CHARACTERS: Final = 16 * 1024
# The specification allows identifiers of up to 1,023 bytes. An RSA key of 4,096 bits has 530.
_MAX_ID_BYTES: Final = 1_023
_MAX_KEY_BYTES: Final = 1_024
# The account is the "user handle" of a passkey.
_HANDLE_BYTES: Final = 8
_TIMEOUT_MS: Final = 5 * 60_000
# A passkey is the only thing that a person needs, so the device must be sure that it is them: a
# fingerprint, a face or a PIN. A found security key must not be enough.
_VERIFICATION: Final = UserVerificationRequirement.REQUIRED
_TRANSPORTS: Final = {transport.value for transport in AuthenticatorTransport}
# A key that nobody has. An unknown passkey is checked against it, which takes as long as for a
# known one.
_NOBODYS_KEY: Final = bytes.fromhex(
    "a5010203262001215820a04faa84ab970af149ed7e7343204d55120fb22e4c5e0643bde34a0bf5"
    "b822f32258207ee2613200b349e330daf626189cdd4a351671f69578b2b47fb3eb98deac7a59"
)


class Site(Struct, frozen=True):
    """The site to which passkeys belong."""

    # The name of the host.
    rp_id: str
    origin: str


class PasskeyRefused(Refusal):
    """The passkey is unknown or its signature is wrong. The sentence does not say which."""


class _AttestationResponse(Struct):
    client_data: str = field(name="clientDataJSON")
    attestation: str = field(name="attestationObject")
    transports: list[str] = []


class Attestation(Struct):
    """What the browser sends about a new passkey."""

    id: str
    response: _AttestationResponse


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
        if len(handle) != _HANDLE_BYTES or account_id >= 2**63:
            raise refused()
        return account_id


def new_challenge() -> str:
    return bytes_to_base64url(generate_challenge())


def registration_options(
    site: Site, account_id: int, user_name: str, challenge: str, existing: Sequence[Passkey]
) -> dict[str, Any]:
    """The argument of `navigator.credentials.create`, as JSON."""
    options = webauthn.generate_registration_options(
        rp_id=site.rp_id,
        rp_name="Bowerbird",
        user_id=account_id.to_bytes(_HANDLE_BYTES, "big"),
        user_name=user_name,
        challenge=base64url_to_bytes(challenge),
        timeout=_TIMEOUT_MS,
        # Discoverable: the authenticator lists it, so nobody has to enter an email address.
        authenticator_selection=AuthenticatorSelectionCriteria(
            resident_key=ResidentKeyRequirement.REQUIRED, user_verification=_VERIFICATION
        ),
        exclude_credentials=_descriptors(existing),
    )
    return options_to_json_dict(options)


def sign_in_options(site: Site, challenge: str, allowed: Sequence[Passkey] = ()) -> dict[str, Any]:
    """The argument of `navigator.credentials.get`, as JSON. All passkeys if `allowed` is empty."""
    options = webauthn.generate_authentication_options(
        rp_id=site.rp_id,
        challenge=base64url_to_bytes(challenge),
        timeout=_TIMEOUT_MS,
        allow_credentials=_descriptors(allowed),
        user_verification=_VERIFICATION,
    )
    return options_to_json_dict(options)


def read_attestation(credential: str) -> Attestation:
    return _read(credential, Attestation)


def read_assertion(credential: str) -> Assertion:
    return _read(credential, Assertion)


async def check_attestation(
    site: Site, sent: Attestation, challenge: str
) -> tuple[bytes, bytes, int]:
    """Returns the credential id, the public key and the counter of a new passkey."""
    response = {
        "clientDataJSON": sent.response.client_data,
        "attestationObject": sent.response.attestation,
    }

    def check() -> tuple[bytes, bytes, int]:
        found = webauthn.verify_registration_response(
            credential=_credential(sent.id, response),
            expected_challenge=base64url_to_bytes(challenge),
            expected_rp_id=site.rp_id,
            expected_origin=site.origin,
            require_user_verification=True,
        )
        return found.credential_id, found.credential_public_key, found.sign_count

    credential_id, public_key, sign_count = await _checked(check)
    is_sent_id = credential_id == _bytes(sent.id)
    if not is_sent_id or len(credential_id) > _MAX_ID_BYTES or len(public_key) > _MAX_KEY_BYTES:
        raise refused()
    return credential_id, public_key, sign_count


async def check_assertion(
    site: Site, sent: Assertion, challenge: str, passkey: Passkey | None
) -> int:
    """Returns the counter of the passkey. Takes as long if there is no such passkey.

    The caller compares the counter when it stores it: here it is not yet known to be signed.
    """
    response = {
        "clientDataJSON": sent.response.client_data,
        "authenticatorData": sent.response.authenticator_data,
        "signature": sent.response.signature,
    }

    def check() -> int:
        found = webauthn.verify_authentication_response(
            credential=_credential(sent.id, response),
            expected_challenge=base64url_to_bytes(challenge),
            expected_rp_id=site.rp_id,
            expected_origin=site.origin,
            credential_public_key=passkey.public_key if passkey else _NOBODYS_KEY,
            credential_current_sign_count=0,
            require_user_verification=True,
        )
        return found.new_sign_count

    sign_count = await _checked(check)
    if passkey is None:
        raise refused()
    return sign_count


def transports_of(sent: Attestation) -> str:
    """The known ways to reach the authenticator, as a JSON array."""
    known = sorted(_TRANSPORTS & set(sent.response.transports))
    return msgspec.json.encode(known).decode()


def refused() -> PasskeyRefused:
    return PasskeyRefused(
        Code.INVALID_REQUEST, "This passkey could not be checked. Try again, or use another one."
    )


async def _checked(check: Callable[[], T]) -> T:
    try:
        # In a thread, so that signatures do not delay the API.
        return await asyncio.to_thread(check)
    except Exception:  # noqa: BLE001 - hostile bytes cause errors of every kind in the library
        raise refused() from None


def _read(credential: str, kind: type[T]) -> T:
    if len(credential) > MAX_CHARACTERS:
        raise refused()
    try:
        return msgspec.json.decode(credential, type=kind)
    except (msgspec.DecodeError, RecursionError, UnicodeError):
        raise refused() from None


def _credential(id: str, response: dict[str, str]) -> dict[str, Any]:
    return {"id": id, "rawId": id, "type": "public-key", "response": response}


def _descriptors(passkeys: Sequence[Passkey]) -> list[PublicKeyCredentialDescriptor]:
    return [
        PublicKeyCredentialDescriptor(
            id=passkey.credential_id,
            transports=msgspec.json.decode(passkey.transports, type=list[AuthenticatorTransport]),
        )
        for passkey in passkeys
    ]


def _bytes(text: str) -> bytes:
    try:
        return base64url_to_bytes(text)
    except ValueError:
        raise refused() from None
