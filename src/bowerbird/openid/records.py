"""What a sign-in starts with, and the person it ends with."""

from typing import Protocol

from msgspec import Struct


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
