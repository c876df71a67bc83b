"""Runs in a thread what the library `webauthn` does, and imports it with the first use.

A signature takes a quarter of a millisecond of processor time, and the import a tenth of a second:
neither may delay the API.
"""

import asyncio
import base64
import secrets
from collections.abc import Callable
from typing import TYPE_CHECKING, Final, TypeVar

from bowerbird.library.sign_in.passkey_answers import Site

if TYPE_CHECKING:
    from bowerbird.library.sign_in.webauthn_ceremonies import WebauthnCeremonies

T = TypeVar("T")
_CHALLENGE_BYTES: Final = 32


def new_challenge() -> str:
    return base64.urlsafe_b64encode(secrets.token_bytes(_CHALLENGE_BYTES)).decode().rstrip("=")


class Ceremonies:
    def __init__(self, site: Site) -> None:
        self._site = site

    async def run(self, work: Callable[["WebauthnCeremonies"], T]) -> T:
        return await asyncio.to_thread(lambda: work(self._imported()))

    def _imported(self) -> "WebauthnCeremonies":
        from bowerbird.library.sign_in import webauthn_ceremonies  # noqa: PLC0415 - see above

        return webauthn_ceremonies.WebauthnCeremonies(self._site)
