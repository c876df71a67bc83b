"""The providers that people can sign in with, as the settings configure them."""

from typing import Final, Literal

from msgspec import Struct

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
