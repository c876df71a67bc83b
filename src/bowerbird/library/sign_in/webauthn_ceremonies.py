"""Creates the options for authenticators, and checks what they sign, with `webauthn`.

Importing that library takes 16 MB and a tenth of a second, so `passkeys` imports this module
when somebody uses one.
"""

from collections.abc import Sequence
from typing import Any, Final

import msgspec
import webauthn
from webauthn.helpers import base64url_to_bytes, options_to_json_dict
from webauthn.helpers.structs import (
    AuthenticatorSelectionCriteria,
    AuthenticatorTransport,
    PublicKeyCredentialDescriptor,
    ResidentKeyRequirement,
    UserVerificationRequirement,
)

from bowerbird.library.sign_in.passkey_answers import (
    HANDLE_BYTES,
    Assertion,
    Attestation,
    NewPasskey,
    Site,
    refused,
)
from bowerbird.model.accounts import Passkey

# The specification allows identifiers of up to 1,023 bytes. An RSA key of 4,096 bits has 530.
_MAX_ID_BYTES: Final = 1_023
_MAX_KEY_BYTES: Final = 1_024
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


class WebauthnCeremonies:
    def __init__(self, site: Site) -> None:
        self._site = site

    def registration_options(
        self, account_id: int, user_name: str, challenge: str, existing: Sequence[Passkey]
    ) -> dict[str, Any]:
        """The argument of `navigator.credentials.create`, as JSON."""
        options = webauthn.generate_registration_options(
            rp_id=self._site.rp_id,
            rp_name="Bowerbird",
            user_id=account_id.to_bytes(HANDLE_BYTES, "big"),
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

    def sign_in_options(self, challenge: str, allowed: Sequence[Passkey] = ()) -> dict[str, Any]:
        """The argument of `navigator.credentials.get`, as JSON. Without `allowed`, any passkey."""
        options = webauthn.generate_authentication_options(
            rp_id=self._site.rp_id,
            challenge=base64url_to_bytes(challenge),
            timeout=_TIMEOUT_MS,
            allow_credentials=_descriptors(allowed),
            user_verification=_VERIFICATION,
        )
        return options_to_json_dict(options)

    def check_attestation(self, sent: Attestation, challenge: str) -> NewPasskey:
        response = {
            "clientDataJSON": sent.response.client_data,
            "attestationObject": sent.response.attestation,
        }
        try:
            found = webauthn.verify_registration_response(
                credential=_credential(sent.id, response),
                expected_challenge=base64url_to_bytes(challenge),
                expected_rp_id=self._site.rp_id,
                expected_origin=self._site.origin,
                require_user_verification=True,
            )
        except Exception:  # noqa: BLE001 - hostile bytes cause errors of every kind in the library
            raise refused() from None
        id, public_key = found.credential_id, found.credential_public_key
        if id != sent.credential_id or len(id) > _MAX_ID_BYTES or len(public_key) > _MAX_KEY_BYTES:
            raise refused()
        transports = sorted(_TRANSPORTS & set(sent.response.transports))
        return NewPasskey(
            id, public_key, found.sign_count, msgspec.json.encode(transports).decode()
        )

    def check_assertion(self, sent: Assertion, challenge: str, passkey: Passkey | None) -> int:
        """Returns the counter of the passkey. Takes as long if there is no such passkey.

        The caller compares the counter when it stores it: the library would compare it before it
        checks the signature.
        """
        response = {
            "clientDataJSON": sent.response.client_data,
            "authenticatorData": sent.response.authenticator_data,
            "signature": sent.response.signature,
        }
        try:
            found = webauthn.verify_authentication_response(
                credential=_credential(sent.id, response),
                expected_challenge=base64url_to_bytes(challenge),
                expected_rp_id=self._site.rp_id,
                expected_origin=self._site.origin,
                credential_public_key=passkey.public_key if passkey else _NOBODYS_KEY,
                credential_current_sign_count=0,
                require_user_verification=True,
            )
        except Exception:  # noqa: BLE001 - hostile bytes cause errors of every kind in the library
            raise refused() from None
        if passkey is None:
            raise refused()
        return found.new_sign_count


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
