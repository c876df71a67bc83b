"""What a sign-in starts with, and the person it ends with.

A provider's texts may be of any form and length.
"""

import re
from typing import Annotated, Any, Final, Protocol

import msgspec
from msgspec import Meta, Struct

from bowerbird.email_addresses import is_address
from bowerbird.openid.problems import unusable
from bowerbird.openid.providers import Provider


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
