"""Signing in with a provider: `begin` gives the URL to visit, `finish` reads the way back.

It ends with the person whom the provider names.
"""

import asyncio
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

import structlog

from bowerbird.clock import Clock
from bowerbird.openid.providers import (
    CANCELLED,
    Begun,
    Person,
    Provider,
    ProviderProblem,
    Started,
    unknown_provider,
)

if TYPE_CHECKING:
    from bowerbird.openid.flow import Flow

__all__ = ["Begun", "OpenIdClient", "Person", "ProviderProblem", "Started"]

TIMEOUT_S: Final = 5.0


class OpenIdClient:
    def __init__(
        self,
        providers: Iterable[Provider],
        redirect_url: Callable[[str], str],
        clock: Clock,
        timeout_s: float = TIMEOUT_S,
    ) -> None:
        self._providers = {provider.name: provider for provider in providers}
        self._redirect_url = redirect_url
        self._clock = clock
        self._timeout_s = timeout_s
        self._flows: dict[str, Flow] = {}
        self._log = structlog.get_logger()

    def title_of(self, provider_name: str) -> str:
        return self._providers[provider_name].title

    async def begin(self, provider_name: str, *, is_again: bool = False) -> Begun:
        """`is_again`: the provider is to ask the person, even if it knows who they are."""
        with self._logged(provider_name):
            return await (await self._flow(provider_name)).begin(is_again=is_again)

    async def finish(
        self,
        provider_name: str,
        begun: Started,
        query: Mapping[str, str],
        *,
        asked_again_at: int | None = None,
    ) -> Person:
        """The person who signed in. Raises ProviderProblem if anything is not as it must be.

        `asked_again_at`: the provider must have asked the person at this time or later, if it says.
        """
        with self._logged(provider_name):
            flow = await self._flow(provider_name)
            return await flow.finish(begun, query, asked_again_at=asked_again_at)

    async def _flow(self, name: str) -> "Flow":
        if name not in self._providers:
            raise unknown_provider()
        if name not in self._flows:
            flow_of = await asyncio.to_thread(_imported)
            self._flows[name] = flow_of(
                self._providers[name], self._redirect_url(name), self._clock, self._timeout_s
            )
        return self._flows[name]

    @contextmanager
    def _logged(self, provider_name: str) -> Iterator[None]:
        try:
            yield
        except ProviderProblem as problem:
            if provider_name in self._providers and problem.reason != CANCELLED:
                self._log.warning("sign_in_failed", provider=provider_name, reason=problem.reason)
            raise


def _imported() -> "type[Flow]":
    """Slow the first time, so it runs on a thread: the API must not wait for it."""
    from bowerbird import outgoing  # noqa: PLC0415 - slow to import
    from bowerbird.openid import flow  # noqa: PLC0415

    outgoing.tls()
    return flow.Flow
