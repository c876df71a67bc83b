"""Signing in with a provider: `begin` gives the URL to visit, `finish` reads the way back.

It ends with the person whom the provider names. A provider's texts may be of any form and length.
"""

import asyncio
from collections.abc import Callable, Iterable, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

import structlog

from bowerbird.clock import Clock
from bowerbird.openid.providers import CANCELLED, Provider, ProviderProblem, unknown_provider

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bowerbird.openid.flow import Flow

import re
from typing import Annotated, Any, Protocol

import msgspec
from msgspec import Meta, Struct

from bowerbird.email_addresses import is_address
from bowerbird.openid.providers import unusable


class Begun(Struct):
    """A started sign-in. The caller keeps all but the URL until the browser returns."""

    url: str
    state: str
    nonce: str
    verifier: str


class Started(Protocol):
    """The part of a started sign-in that its end is checked with."""

    @property
    def state(self) -> str: ...
    @property
    def nonce(self) -> str: ...
    @property
    def verifier(self) -> str: ...


class Person(Struct):
    """The person whom a provider names. Issuer and subject together never change."""

    issuer: str
    subject: str
    email: str
    is_email_verified: bool
    name: str


_LONGEST_SUBJECT: Final = 255
_LONGEST_NAME: Final = 100
_SUBJECT: Final = re.compile(r"[\x21-\x7e]+")
_SPACES_AND_CONTROLS: Final = re.compile(
    r"[\x00-\x20\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u206f]+"
)


class Claims(Struct, frozen=True):
    """Claims of an ID token or of a userinfo response."""

    sub: str
    email: str | None = None
    # Some providers send the text "true".
    email_verified: bool | str | None = None
    name: str | None = None
    preferred_username: str | None = None


class GitHubUser(Struct, frozen=True):
    id: Annotated[int, Meta(gt=0)]
    login: str
    name: str | None = None


class GitHubEmail(Struct, frozen=True):
    email: str
    primary: bool
    verified: bool


class _XUser(Struct, frozen=True):
    id: Annotated[str, Meta(pattern=r"^[0-9]{1,30}$")]
    username: str
    name: str | None = None


class XAnswer(Struct, frozen=True):
    data: _XUser


def read_claims(provider: Provider, claims: dict[str, Any]) -> Claims:
    try:
        return msgspec.convert(claims, Claims)
    except msgspec.ValidationError:
        raise unusable(provider, "claims") from None


def from_claims(provider: Provider, claims: Claims) -> Person:
    return _person(
        provider,
        subject=claims.sub,
        email=claims.email,
        is_email_verified=claims.email_verified in (True, "true"),
        name=claims.name or claims.preferred_username,
    )


def from_github(provider: Provider, user: GitHubUser, emails: list[GitHubEmail]) -> Person:
    primary = next((entry for entry in emails if entry.primary and entry.verified), None)
    return _person(
        provider,
        subject=str(user.id),
        email=primary.email if primary else None,
        is_email_verified=primary is not None,
        name=user.name or user.login,
    )


def from_x(provider: Provider, answer: XAnswer) -> Person:
    return _person(
        provider,
        subject=answer.data.id,
        email=None,
        is_email_verified=False,
        name=answer.data.name or answer.data.username,
    )


def _person(
    provider: Provider,
    *,
    subject: str,
    email: str | None,
    is_email_verified: bool,
    name: str | None,
) -> Person:
    if len(subject) > _LONGEST_SUBJECT or not _SUBJECT.fullmatch(subject):
        raise unusable(provider, "subject")
    is_email = email and is_address(email)
    return Person(
        issuer=provider.issuer,
        subject=subject,
        email=email if email and is_email else "",
        is_email_verified=bool(is_email) and is_email_verified,
        name=_SPACES_AND_CONTROLS.sub(" ", name or "").strip()[:_LONGEST_NAME].strip(),
    )


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
    def _logged(self, provider_name: str) -> "Iterator[None]":
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
