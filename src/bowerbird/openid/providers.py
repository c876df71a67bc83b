"""The providers that people can sign in with, the people they name, and why a sign-in failed.

The problem of a sign-in has a sentence for the person, and a reason for the operator's log.
Sentences never repeat text from a provider, except an error code of harmless characters.
"""

import re
from typing import Annotated, Any, Final, Literal, Protocol

import msgspec
from msgspec import Meta, Struct

from bowerbird.model.accounts import is_address
from bowerbird.settings import Settings

GOOGLE: Final = "https://accounts.google.com"
GITHUB: Final = "https://github.com"
X: Final = "https://x.com"
_GITHUB_API: Final = "https://api.github.com"


class Endpoints(Struct, frozen=True):
    """Addresses of a provider without discovery, and the names it gives itself in answers."""

    authorization: str
    token: str
    user: str
    emails: str = ""
    issuers: tuple[str, ...] = ()


class Provider(Struct, frozen=True):
    name: str
    title: str
    issuer: str
    client_id: str
    client_secret: str
    scope: str
    protocol: Literal["openid", "github", "x"] = "openid"
    endpoints: Endpoints | None = None
    """Without them, the addresses come from the provider's discovery document."""
    prompt_again: str = ""
    """The value of `prompt` with which the provider asks a person again who they are."""
    says_when: bool = False
    """Whether its answer says when it asked (`auth_time`). Google and GitHub do not."""

    def __repr__(self) -> str:
        # The generated text would contain the client secret.
        return f"Provider({self.name!r}, {self.issuer!r})"


def configured(settings: Settings) -> tuple[Provider, ...]:
    """The providers that have a client ID, in the order of their buttons."""
    known = (_google(settings), _github(settings), _x(settings), _openid(settings))
    return tuple(provider for provider in known if provider.client_id)


def _google(settings: Settings) -> Provider:
    return Provider(
        name="google",
        title="Google",
        issuer=GOOGLE,
        client_id=settings.google_client_id,
        client_secret=settings.google_client_secret,
        scope="openid email profile",
        prompt_again="select_account",
    )


def _github(settings: Settings) -> Provider:
    url = settings.github_url.rstrip("/")
    api = _GITHUB_API if url == GITHUB else f"{url}/api/v3"
    return Provider(
        name="github",
        title="GitHub",
        issuer=url,
        client_id=settings.github_client_id,
        client_secret=settings.github_client_secret,
        scope="read:user user:email",
        prompt_again="select_account",
        protocol="github",
        endpoints=Endpoints(
            authorization=f"{url}/login/oauth/authorize",
            token=f"{url}/login/oauth/access_token",
            user=f"{api}/user",
            emails=f"{api}/user/emails?per_page=100",
            issuers=(f"{url}/login/oauth", url),
        ),
    )


def _x(settings: Settings) -> Provider:
    return Provider(
        name="x",
        title="X",
        issuer=X,
        client_id=settings.x_client_id,
        client_secret=settings.x_client_secret,
        scope="users.read tweet.read",
        protocol="x",
        endpoints=Endpoints(
            authorization="https://x.com/i/oauth2/authorize",
            token="https://api.x.com/2/oauth2/token",  # noqa: S106 - an address
            user="https://api.x.com/2/users/me",
            issuers=(X,),
        ),
    )


def _openid(settings: Settings) -> Provider:
    return Provider(
        name="oidc",
        title=settings.oidc_name.strip(),
        issuer=settings.oidc_issuer,
        client_id=settings.oidc_client_id,
        client_secret=settings.oidc_client_secret,
        scope="openid email profile",
        prompt_again="login",
        says_when=True,
    )


_LONGEST_SENTENCE: Final = 300
_CODE: Final = re.compile(r"[a-z][a-z0-9_]{0,49}")
_BY_CODE: Final = {
    "access_denied": "You cancelled the sign-in at {title}.",
    "server_error": "{title} cannot sign people in at the moment. Try again in a few minutes.",
    "temporarily_unavailable": (
        "{title} cannot sign people in at the moment. Try again in a few minutes."
    ),
    "invalid_grant": "The sign-in at {title} has expired or was already used. Start again.",
    "bad_verification_code": "The sign-in at {title} has expired or was already used. Start again.",
    "invalid_client": "{title} rejected the client ID or secret of this site. Tell its operator.",
    "unauthorized_client": (
        "{title} rejected the client ID or secret of this site. Tell its operator."
    ),
    "incorrect_client_credentials": (
        "{title} rejected the client ID or secret of this site. Tell its operator."
    ),
    "redirect_uri_mismatch": "{title} does not know the address of this site. Tell its operator.",
    "unverified_user_email": "Confirm your email address at {title} first, then start again.",
}
CANCELLED: Final = "access_denied"


class ProviderProblem(Exception):  # noqa: N818 - named for what it is
    """A sign-in failed. `sentence` is for the person; `reason` is for the log, without secrets."""

    def __init__(self, sentence: str, reason: str) -> None:
        super().__init__(sentence[:_LONGEST_SENTENCE])
        self.sentence = sentence[:_LONGEST_SENTENCE]
        self.reason = reason


def unknown_provider() -> ProviderProblem:
    return ProviderProblem("This site has no sign-in with that provider.", "unknown_provider")


def expired() -> ProviderProblem:
    return ProviderProblem(
        "This sign-in has expired or was started in another browser. Start again.", "state"
    )


def unreachable(provider: Provider, reason: str) -> ProviderProblem:
    return ProviderProblem(f"{provider.title} did not answer. Try again in a few minutes.", reason)


def unusable(provider: Provider, reason: str) -> ProviderProblem:
    return ProviderProblem(
        f"{provider.title} sent an answer that this site cannot use. Start again, and tell the "
        "operator of this site if it happens again.",
        reason,
    )


def unverified(provider: Provider, reason: str) -> ProviderProblem:
    return ProviderProblem(
        f"The answer of {provider.title} could not be verified, so you are not signed in. "
        "Start again.",
        reason,
    )


def not_asked_again(provider: Provider) -> ProviderProblem:
    return ProviderProblem(
        f"{provider.title} did not ask you to sign in again, so nothing was changed. Start again.",
        "not_asked_again",
    )


def refused(provider: Provider, code: Any) -> ProviderProblem:
    """The provider answered with an error code of OAuth 2."""
    if not (isinstance(code, str) and _CODE.fullmatch(code)):
        return ProviderProblem(f"{provider.title} refused the sign-in.", "refused")
    sentence = _BY_CODE.get(code, "{title} refused the sign-in with the error {code}.")
    # `replace` because a title may contain braces.
    filled = sentence.replace("{code}", code).replace("{title}", provider.title)
    return ProviderProblem(filled, code)


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
