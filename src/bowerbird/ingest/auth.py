"""Authenticates devices by their tokens, and accounts by their API keys."""

from bowerbird.errors import Code, Refusal
from bowerbird.library.accounts.devices import Devices
from bowerbird.model.accounts import Account
from bowerbird.model.keys import DEVICE_PREFIX
from bowerbird.wire.auth import bearer_token, unauthorized
from bowerbird.wire.pipeline import Authenticate


class DeviceAuthenticator:
    """A revoked token stops working at once: every request reads its device."""

    def __init__(self, devices: Devices, by_key: Authenticate, site_origin: str) -> None:
        self._devices = devices
        self._by_key = by_key
        self._site_origin = site_origin

    async def __call__(self, header: bytes | None) -> Account:
        token = "" if header is None else bearer_token(header)
        if not token:
            problem = "No device token was sent" if header is None else "The header has no token"
            sentence = (
                f"{problem}; send a device token, or an API key, as Authorization: Bearer <TOKEN>."
            )
            raise unauthorized(sentence, self._site_origin, is_bad_token=False)
        if not token.startswith(DEVICE_PREFIX):
            return await self._account_of_key(header)
        caller = await self._devices.caller(token)
        if caller is None:
            sentence = "The device token is not valid."
            if await self._devices.is_revoked(token):
                sentence = "The device was revoked. Connect it again to send more posts."
            raise unauthorized(sentence, self._site_origin, is_bad_token=True)
        return caller

    async def _account_of_key(self, header: bytes | None) -> Account:
        try:
            return await self._by_key(header)
        except Refusal as refused:
            if refused.code is not Code.UNAUTHORIZED:
                raise
            sentence = "The device token or API key is not valid, or was revoked."
            raise Refusal(refused.code, sentence, refused.headers) from None
