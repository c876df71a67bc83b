"""Requests for published posts: only https to public addresses, of limited size and time.

Anybody can save a link, so any server may be asked. A redirect is followed only to hosts that the
caller names, and checked like the first URL.
"""

import asyncio
from collections.abc import Collection
from types import TracebackType
from typing import Final, Self
from urllib.parse import urljoin

import httpx2

from bowerbird.connections.published.records import Answer
from bowerbird.connections.records import SourceProblem
from bowerbird.model.connections import Problem
from bowerbird.outgoing import addresses
from bowerbird.outgoing.addresses import Resolve
from bowerbird.outgoing.requests import Connect, OutgoingRequests, PrivateAddress, host_port
from bowerbird.settings import Settings

ANSWER_BYTES_MAX: Final = 1024 * 1024
TIMEOUT_S: Final = 10.0
REDIRECTS_MAX: Final = 2
_LONGEST_URL: Final = 8_192
_REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})
_HTTPS: Final = 443
_HEADERS: Final = {
    "Accept": "application/json",
    # A small compressed answer could become a huge one.
    "Accept-Encoding": "identity",
    "User-Agent": "Bowerbird",
}


class Fetcher:
    """Keeps connections open between requests; use it as a context manager."""

    def __init__(
        self,
        private_hosts: Collection[str] = (),
        *,
        resolve: Resolve = addresses.resolve,
        connect: Connect | None = None,
        timeout_s: float = TIMEOUT_S,
    ) -> None:
        """`private_hosts`: those that the operator allows, as `host` or `host:port`."""
        self._private_hosts = frozenset(private_hosts)
        self._requests = OutgoingRequests(
            resolve=resolve, connect=connect, may_be_private=self._may_be_private
        )
        self._timeout_s = timeout_s

    @classmethod
    def of(cls, settings: Settings) -> "Fetcher":
        hosts = (name.strip().lower() for name in settings.sources_private_hosts.split(","))
        return cls([name for name in hosts if name])

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self._requests.__aexit__(kind, error, trace)

    async def get(self, url: str, redirects_to: Collection[str] = ()) -> Answer:
        """An answer of any status, or a SourceProblem."""
        try:
            async with asyncio.timeout(self._timeout_s):
                for _ in range(REDIRECTS_MAX + 1):
                    answer = await self._one(url)
                    if answer.status not in _REDIRECTS:
                        return answer
                    url = _redirected(url, answer, redirects_to)
        except PrivateAddress:
            raise SourceProblem(Problem.PRIVATE_ADDRESS) from None
        except (TimeoutError, httpx2.HTTPError, OSError, UnicodeError) as error:
            raise SourceProblem(Problem.UNREACHABLE, reason=type(error).__name__) from None
        raise SourceProblem(Problem.WRONG_SERVER, reason="redirects")

    async def _one(self, url: str) -> Answer:
        async with self._requests.response("GET", self._checked(url), _HEADERS) as response:
            headers = {name.lower(): value for name, value in response.headers.items()}
            if headers.get("content-encoding", "identity") != "identity":
                raise SourceProblem(Problem.UNREADABLE_ANSWER, reason="compressed")
            content = bytearray()
            async for part in response.aiter_raw():
                content += part
                if len(content) > ANSWER_BYTES_MAX:
                    raise SourceProblem(Problem.UNREADABLE_ANSWER, reason="too_large")
            return Answer(response.status_code, headers, bytes(content))

    def _checked(self, url: str) -> httpx2.URL:
        """A plain https URL, or any of a host that the operator allows."""
        try:
            parsed = httpx2.URL(url)
            host = parsed.raw_host.decode("ascii")
        except (httpx2.InvalidURL, ValueError):
            raise SourceProblem(Problem.WRONG_SERVER, reason="url") from None
        if not host or parsed.userinfo or len(url) > _LONGEST_URL:
            raise SourceProblem(Problem.WRONG_SERVER, reason="url")
        is_plain = parsed.scheme == "https" and parsed.port in (None, _HTTPS)
        if not is_plain and not self._may_be_private(host_port(parsed)):
            raise SourceProblem(Problem.PRIVATE_ADDRESS, reason="url")
        return parsed

    def _may_be_private(self, host_and_port: str) -> bool:
        host = host_and_port.rpartition(":")[0]
        return not self._private_hosts.isdisjoint((host, host_and_port))


def _redirected(url: str, answer: Answer, redirects_to: Collection[str]) -> str:
    try:
        location = httpx2.URL(urljoin(url, answer.headers.get("location", "")))
        before = httpx2.URL(url)
    except (httpx2.InvalidURL, ValueError):
        raise SourceProblem(Problem.WRONG_SERVER, reason="redirect") from None
    is_allowed = location.host == before.host or location.host in redirects_to
    if not is_allowed or location.scheme != before.scheme:
        raise SourceProblem(Problem.WRONG_SERVER, reason="redirect")
    return str(location)
