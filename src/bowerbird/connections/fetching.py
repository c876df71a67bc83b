"""Requests to networks: to public addresses, of limited size and time, and without redirects.

The person chooses the server, so it may be any server. Tokens are sent to that server only.
"""

import asyncio
import math
import re
import time
from collections.abc import AsyncIterator, Collection, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from typing import ClassVar, Final, Self
from urllib.parse import urlencode, urljoin

import httpx2
import msgspec

from bowerbird.connections.records import Answer, SourceProblem
from bowerbird.model.connections import ANSWER_BYTES_MAX, Problem
from bowerbird.model.json_depth import without_lone_surrogates
from bowerbird.outgoing import (
    Connect,
    OutgoingRequests,
    PrivateAddress,
    Resolve,
    Response,
    host_port,
    resolve,
)
from bowerbird.settings import Settings
from bowerbird.settings.values import LOOPBACK

TIMEOUT_S: Final = 30.0
# For the requests of a step that begins late, and for the renewal of tokens in any case.
LEAST_S: Final = 10.0
_HTTPS: Final = 443
HEADERS: Final = {
    "Accept": "application/json",
    # A small compressed answer could become a huge one.
    "Accept-Encoding": "identity",
    "User-Agent": "Bowerbird",
}
_REDIRECTS: Final = range(300, 400)
_FIRST_ERROR_OF_SERVER: Final = 500
_SURROGATE: Final = re.compile(rb"\\u[dD][89a-fA-F]")


class Fetcher(OutgoingRequests):
    longest_url: ClassVar = 2_048
    default_timeout_s: ClassVar = TIMEOUT_S

    def __init__(
        self,
        private_hosts: Collection[str] = (),
        *,
        resolve: Resolve = resolve,
        connect: Connect | None = None,
        timeout_s: float | None = None,
        least_s: float = LEAST_S,
    ) -> None:
        """`private_hosts`: those that the operator allows, as `host` or `host:port`."""
        super().__init__(private_hosts, resolve=resolve, connect=connect)
        self._timeout_s = self.default_timeout_s if timeout_s is None else timeout_s
        self._least_s = least_s
        # On the clock of `time.monotonic`.
        self._deadline = math.inf

    @classmethod
    def of(cls, settings: Settings) -> Self:
        hosts = [name.strip().lower() for name in settings.sources_private_hosts.split(",")]
        api = httpx2.URL(settings.x_api_url)
        if api.host in LOOPBACK:
            hosts.append(host_port(api))
        return cls([name for name in hosts if name])

    @contextmanager
    def within(self, seconds: float) -> Iterator[None]:
        """All requests inside take so long together, but may take `least_s` in any case."""
        before = self._deadline
        self._deadline = time.monotonic() + max(seconds, self._least_s)
        try:
            yield
        finally:
            self._deadline = before

    @contextmanager
    def in_any_case(self) -> Iterator[None]:
        """For requests that must not be given up because earlier ones were slow."""
        with self.within(self._deadline - time.monotonic()):
            yield

    async def get(self, url: str, token: str = "") -> Answer:
        return await self._sent("GET", url, _bearer(token))

    async def post_form(
        self, url: str, fields: Mapping[str, str], headers: Mapping[str, str]
    ) -> Answer:
        kind = {"Content-Type": "application/x-www-form-urlencoded"}
        return await self._sent("POST", url, {**headers, **kind}, urlencode(fields).encode())

    async def post_json(
        self, url: str, value: object = None, token: str = "", *, is_json: bool = True
    ) -> Answer:
        """`is_json`: whether the answer must be JSON."""
        if value is None:
            return await self._sent("POST", url, _bearer(token), is_json=is_json)
        headers = {**_bearer(token), "Content-Type": "application/json"}
        return await self._sent("POST", url, headers, msgspec.json.encode(value))

    async def _sent(
        self,
        method: str,
        url: str,
        headers: Mapping[str, str],
        content: bytes = b"",
        *,
        is_json: bool = True,
    ) -> Answer:
        async with (
            reaching(min(self._timeout_s, self._deadline - time.monotonic())),
            self.response(method, self._checked(url), {**HEADERS, **headers}, content) as found,
        ):
            return await _read(found, is_json=is_json)

    def _checked(self, url: str) -> httpx2.URL:
        """A plain https URL, or any of a host that the operator allows."""
        try:
            parsed = httpx2.URL(url)
            host = parsed.raw_host.decode("ascii")
        except (httpx2.InvalidURL, ValueError):
            raise SourceProblem(Problem.WRONG_SERVER, reason="url") from None
        if not host or parsed.userinfo or len(url) > self.longest_url:
            raise SourceProblem(Problem.WRONG_SERVER, reason="url")
        is_plain = parsed.scheme == "https" and parsed.port in (None, _HTTPS)
        if not is_plain and not self._may_be_private(host_port(parsed)):
            raise SourceProblem(Problem.PRIVATE_ADDRESS, reason="url")
        return parsed


@asynccontextmanager
async def reaching(seconds: float) -> AsyncIterator[None]:
    """A host that is not reached in this time is a SourceProblem, whatever the reason is."""
    try:
        async with asyncio.timeout(seconds):
            yield
    except PrivateAddress:
        raise SourceProblem(Problem.PRIVATE_ADDRESS) from None
    except (TimeoutError, OSError, UnicodeError) as error:
        raise SourceProblem(Problem.UNREACHABLE, reason=type(error).__name__) from None


async def received(response: Response, most: int) -> Answer:
    """An answer of at most so many bytes."""
    if response.headers.get("content-encoding", "identity") != "identity":
        raise SourceProblem(Problem.UNREADABLE_ANSWER, reason="compressed")
    content = bytearray()
    async for part in response.content:
        content += part
        if len(content) > most:
            raise SourceProblem(Problem.UNREADABLE_ANSWER, reason="too_large")
    return Answer(response.status_code, response.headers, bytes(content))


async def _read(response: Response, *, is_json: bool) -> Answer:
    status = response.status_code
    if status in _REDIRECTS:
        # The token must not go to another server.
        raise SourceProblem(Problem.WRONG_SERVER, reason=f"status_{status}")
    if status >= _FIRST_ERROR_OF_SERVER:
        raise SourceProblem(Problem.SERVER_ERROR, reason=f"status_{status}")
    answer = await received(response, ANSWER_BYTES_MAX)
    if is_json and status == httpx2.codes.OK and not answer.is_json:
        raise SourceProblem(Problem.WRONG_SERVER, reason="not_json")
    if _SURROGATE.search(answer.body):
        return Answer(status, answer.headers, without_lone_surrogates(answer.body))
    return answer


def _bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"} if token else {}


PUBLIC_BYTES_MAX: Final = 1024 * 1024
PUBLIC_TIMEOUT_S: Final = 10.0
REDIRECTS_MAX: Final = 2
_FOLLOWED: Final = frozenset({301, 302, 303, 307, 308})


class PublicFetcher(Fetcher):
    # The address of a request for 25 posts of Bluesky.
    longest_url: ClassVar = 8_192
    default_timeout_s: ClassVar = PUBLIC_TIMEOUT_S

    async def published(self, url: str, redirects_to: Collection[str] = ()) -> Answer:
        """An answer of any status, or a SourceProblem."""
        async with reaching(self._timeout_s):
            for _ in range(REDIRECTS_MAX + 1):
                async with self.response("GET", self._checked(url), HEADERS) as found:
                    answer = await received(found, PUBLIC_BYTES_MAX)
                if answer.status not in _FOLLOWED:
                    return answer
                url = _redirected(url, answer, redirects_to)
        raise SourceProblem(Problem.WRONG_SERVER, reason="redirects")


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
