"""Sends one message to an address that a person chose, and trusts nothing about it.

Only https and only public addresses (`outgoing`), unless the operator allows the host. Redirects
are not followed, so that a message goes where the person said. Time and size are limited.
"""

import asyncio
import ipaddress
import time
from collections.abc import Collection, Mapping
from typing import Final, Self

import httpx2
from msgspec import Struct

from bowerbird import errors
from bowerbird.outgoing import (
    Connect,
    OutgoingRequests,
    PrivateAddress,
    Resolve,
    Response,
    host_port,
    is_public,
    resolve,
)
from bowerbird.requests.limits import (
    HOOK_ANSWER_BYTES_MAX,
    HOOK_ANSWER_KEPT,
    WEBHOOK_URL_MAX,
)
from bowerbird.settings import Settings

TIMEOUT_S: Final = 10.0
GONE: Final = 410
_HTTPS: Final = 443
# Below them are the ports of other protocols.
_FIRST_FREE_PORT: Final = 1_024
_LAST_PORT: Final = 65_535
_DELIVERED: Final = range(200, 300)
_REDIRECTS: Final = range(300, 400)
_HEADERS: Final = {"Content-Type": "application/json"}


class Attempt(Struct, frozen=True):
    """What came of sending a message once. Without a problem, it was delivered."""

    took_ms: int
    status: int | None = None
    answer: str = ""
    problem: str = ""


class Sender(OutgoingRequests):
    def __init__(
        self,
        private_hosts: Collection[str] = (),
        *,
        resolve: Resolve = resolve,
        connect: Connect | None = None,
        timeout_s: float = TIMEOUT_S,
    ) -> None:
        super().__init__(private_hosts, resolve=resolve, connect=connect)
        self._timeout_s = timeout_s

    @classmethod
    def of(cls, settings: Settings) -> Self:
        names = settings.webhooks_private_hosts.split(",")
        return cls([name.strip().lower() for name in names if name.strip()])

    def check(self, url: str) -> None:
        """Refuses an address to which nothing would be sent."""
        if problem := self._problem(url):
            raise errors.invalid("url", problem)

    async def send(self, url: str, headers: Mapping[str, str], body: bytes) -> Attempt:
        started = time.monotonic()
        status, answer, problem = await self._tried(url, headers, body)
        return Attempt(int((time.monotonic() - started) * 1_000), status, answer, problem)

    async def _tried(
        self, url: str, headers: Mapping[str, str], body: bytes
    ) -> tuple[int | None, str, str]:
        # The operator may have allowed the host only until now.
        if self._problem(url):
            return None, "", "The address is not allowed any more."
        status, answer = None, bytearray()
        try:
            async with (
                asyncio.timeout(self._timeout_s),
                self.response("POST", httpx2.URL(url), {**_HEADERS, **headers}, body) as found,
            ):
                status = found.status_code
                await _read(found, answer)
        except PrivateAddress:
            return None, "", "The address is not on the public internet."
        except TimeoutError:
            return status, _text(answer), f"No complete answer within {self._timeout_s:g} seconds."
        except (OSError, UnicodeError):
            return status, _text(answer), "The connection failed."
        return status, _text(answer), _problem_of(status)

    def _problem(self, url: str) -> str:
        parsed = _parsed(url)
        if parsed is None:
            return "must be an address such as https://hooks.example.com/b"
        if parsed.userinfo or parsed.fragment:
            return "must have no password and no fragment"
        if self._may_be_private(host_port(parsed)):
            return ""
        return _problem_in_public(parsed)


async def _read(response: Response, answer: bytearray) -> None:
    async for part in response.content:
        answer += part[: HOOK_ANSWER_BYTES_MAX - len(answer)]
        if len(answer) >= HOOK_ANSWER_BYTES_MAX:
            return


def _parsed(url: str) -> httpx2.URL | None:
    try:
        parsed = httpx2.URL(url)
        host, port = parsed.raw_host.decode("ascii"), parsed.port or _HTTPS
    except (httpx2.InvalidURL, ValueError):
        return None
    is_web = parsed.scheme in ("https", "http") and port <= _LAST_PORT
    return parsed if host and is_web and len(url) <= WEBHOOK_URL_MAX else None


def _problem_in_public(parsed: httpx2.URL) -> str:
    host, port = parsed.raw_host.decode("ascii"), parsed.port or _HTTPS
    if parsed.scheme != "https":
        return "must begin with https://"
    if port != _HTTPS and port < _FIRST_FREE_PORT:
        return f"must have the port {_HTTPS} or one from {_FIRST_FREE_PORT:,}"
    if _is_number(host) and not is_public(host.strip("[]")):
        return "must be on the public internet"
    return ""


def _problem_of(status: int) -> str:
    if status in _DELIVERED:
        return ""
    if status in _REDIRECTS:
        return f"The answer was the redirect {status}, which is not followed."
    return f"The answer was {status}."


def _text(answer: bytearray) -> str:
    """The beginning of an answer as a text of one line."""
    text = bytes(answer[: 4 * HOOK_ANSWER_KEPT]).decode("utf-8", "replace")
    shown = "".join(letter if letter.isprintable() else " " for letter in text)
    return " ".join(shown.split())[:HOOK_ANSWER_KEPT]


def _is_number(host: str) -> bool:
    try:
        ipaddress.ip_address(host.strip("[]"))
    except ValueError:
        return False
    return True
