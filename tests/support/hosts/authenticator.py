"""An authenticator in software: creates passkeys and signs with them, as a browser reports it."""

import base64
import hashlib
import json
import secrets
from dataclasses import dataclass, field
from typing import Any

import cbor2
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec

PRESENT, VERIFIED, ATTESTED = 0x01, 0x04, 0x40
Json = dict[str, Any]


@dataclass
class Authenticator:
    """Holds one passkey. Set a field to lie about it."""

    origin: str = "http://localhost:8080"
    rp_id: str = "localhost"
    flags: int = PRESENT | VERIFIED
    # Synchronised passkeys do not count.
    sign_count: int = 0
    credential_id: bytes = field(default_factory=lambda: secrets.token_bytes(16))
    user_handle: bytes = b""
    key: ec.EllipticCurvePrivateKey = field(
        default_factory=lambda: ec.generate_private_key(ec.SECP256R1())
    )

    def create(self, options: Json) -> str:
        """The answer to the options of a registration."""
        self.user_handle = decoded(options["user"]["id"])
        point = self.key.public_key().public_numbers()
        x, y = point.x.to_bytes(32, "big"), point.y.to_bytes(32, "big")
        public_key = cbor2.dumps({1: 2, 3: -7, -1: 1, -2: x, -3: y})
        length = len(self.credential_id).to_bytes(2, "big")
        attested = bytes(16) + length + self.credential_id + public_key
        data = self._authenticator_data(ATTESTED) + attested
        attestation = cbor2.dumps({"fmt": "none", "attStmt": {}, "authData": data})
        return self._credential(
            {
                "clientDataJSON": encoded(self._client_data("webauthn.create", options)),
                "attestationObject": encoded(attestation),
                "transports": ["internal", "hybrid"],
            }
        )

    def sign(self, options: Json) -> str:
        """The answer to the options of a sign-in."""
        client_data = self._client_data("webauthn.get", options)
        data = self._authenticator_data()
        signed = data + hashlib.sha256(client_data).digest()
        return self._credential(
            {
                "clientDataJSON": encoded(client_data),
                "authenticatorData": encoded(data),
                "signature": encoded(self.key.sign(signed, ec.ECDSA(hashes.SHA256()))),
                "userHandle": encoded(self.user_handle) if self.user_handle else None,
            }
        )

    def _client_data(self, kind: str, options: Json) -> bytes:
        data = {"type": kind, "challenge": options["challenge"], "origin": self.origin}
        return json.dumps(data | {"crossOrigin": False}).encode()

    def _authenticator_data(self, flags: int = 0) -> bytes:
        site = hashlib.sha256(self.rp_id.encode()).digest()
        return site + bytes([self.flags | flags]) + self.sign_count.to_bytes(4, "big")

    def _credential(self, response: Json) -> str:
        id = encoded(self.credential_id)
        return json.dumps(
            {
                "id": id,
                "rawId": id,
                "type": "public-key",
                "authenticatorAttachment": "platform",
                "clientExtensionResults": {},
                "response": response,
            }
        )


def encoded(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def decoded(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
