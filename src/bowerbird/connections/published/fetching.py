"""Requests for published posts. Anybody can save a link, so any server may be asked.

A redirect is followed only to hosts that the caller names, and checked like the first URL.
"""

from collections.abc import Collection
from typing import Any, ClassVar, Final
from urllib.parse import urljoin

import httpx2

from bowerbird.connections import fetching
from bowerbird.connections.fetching import HEADERS, reaching, received
from bowerbird.connections.records import Answer, SourceProblem
from bowerbird.model.connections import Problem

ANSWER_BYTES_MAX: Final = 1024 * 1024
TIMEOUT_S: Final = 10.0
REDIRECTS_MAX: Final = 2
_REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})


class Fetcher(fetching.Fetcher):
    # The address of a request for 25 posts of Bluesky.
    longest_url: ClassVar = 8_192

    def __init__(
        self, private_hosts: Collection[str] = (), *, timeout_s: float = TIMEOUT_S, **options: Any
    ) -> None:
        super().__init__(private_hosts, timeout_s=timeout_s, **options)

    async def published(self, url: str, redirects_to: Collection[str] = ()) -> Answer:
        """An answer of any status, or a SourceProblem."""
        async with reaching(self._timeout_s):
            for _ in range(REDIRECTS_MAX + 1):
                async with self.response("GET", self._checked(url), HEADERS) as found:
                    answer = await received(found, ANSWER_BYTES_MAX)
                if answer.status not in _REDIRECTS:
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
