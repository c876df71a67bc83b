"""The tokens of connections, which are stored only encrypted."""

from typing import Final

import msgspec

from bowerbird.connections.records import Tokens
from bowerbird.connections.sealing import CannotOpen, NoKey, Sealer
from bowerbird.errors import Code, Refusal
from bowerbird.model.connections import Connection
from bowerbird.settings import Settings

_decode: Final = msgspec.json.Decoder(Tokens).decode


class Vault:
    def __init__(self, settings: Settings) -> None:
        self._sealer = Sealer(settings)

    def seal(self, tokens: Tokens, account_id: int, connection_id: str) -> bytes:
        """Bound to the connection: copied to another one, they cannot be decrypted."""
        try:
            return self._sealer.seal(msgspec.json.encode(tokens), _place(account_id, connection_id))
        except NoKey as problem:
            raise Refusal(
                Code.SERVICE_UNAVAILABLE,
                f"This server cannot store access to sources: {problem}. Tell its operator.",
            ) from None

    def open(self, account_id: int, connection: Connection) -> Tokens:
        """Raises CannotOpen if the key is another one."""
        content = self._sealer.open(connection.sealed, _place(account_id, connection.connection_id))
        try:
            return _decode(content)
        except msgspec.MsgspecError:
            raise CannotOpen from None


def _place(account_id: int, connection_id: str) -> str:
    return f"{account_id}/{connection_id}"
