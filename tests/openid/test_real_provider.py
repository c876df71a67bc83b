"""Signing in at a real OpenID provider, which itself checks what this client sends."""

from collections.abc import Iterator
from urllib.parse import parse_qsl, urlsplit

import msgspec
import pytest

from bowerbird.clock import system_clock
from bowerbird.openid.providers import configured
from bowerbird.openid.sign_in import OpenIdClient, Person, ProviderProblem
from tests.support.hosts.openid_provider import OpenIdProvider, openid_provider

pytestmark = pytest.mark.anyio
REDIRECT_URL = "http://localhost:8080/sign-in/oidc/return"


@pytest.fixture(scope="module")
def provider() -> Iterator[OpenIdProvider]:
    with openid_provider(REDIRECT_URL) as running:
        yield running


@pytest.fixture
def client(provider: OpenIdProvider) -> OpenIdClient:
    return client_with(provider)


def client_with(provider: OpenIdProvider, **changes: str) -> OpenIdClient:
    settings = configured(provider.settings())
    changed = [msgspec.structs.replace(each, **changes) for each in settings]
    return OpenIdClient(changed, lambda _: REDIRECT_URL, system_clock)


async def sign_in(client: OpenIdClient, provider: OpenIdProvider, name: str) -> Person:
    begun = await client.begin("oidc")
    return await client.finish("oidc", begun, provider.visit(begun.url, name))


async def test_people_sign_in_with_and_without_a_confirmed_address(
    client: OpenIdClient, provider: OpenIdProvider
) -> None:
    assert await sign_in(client, provider, "alice") == Person(
        issuer=provider.issuer,
        subject="id-of-alice",
        email="alice@example.com",
        is_email_verified=True,
        name="alice",
    )
    bob, carol = [await sign_in(client, provider, name) for name in ("bob", "carol")]
    assert (bob.email, bob.is_email_verified) == ("bob@example.com", False)
    assert (carol.subject, carol.email, carol.is_email_verified) == ("id-of-carol", "", False)


async def test_the_url_has_everything_the_provider_needs(client: OpenIdClient) -> None:
    first, second = await client.begin("oidc"), await client.begin("oidc")

    query = dict(parse_qsl(urlsplit(first.url).query))
    assert query["code_challenge_method"] == "S256"
    assert query["scope"] == "openid email profile"
    assert query["redirect_uri"] == REDIRECT_URL
    assert (query["state"], query["nonce"]) == (first.state, first.nonce)
    assert first.verifier not in first.url
    secrets = {first.state, first.nonce, first.verifier}
    assert len(secrets | {second.state, second.nonce, second.verifier}) == 6
    assert min(map(len, secrets)) >= 43


async def test_cancelling_is_told_in_a_sentence(
    client: OpenIdClient, provider: OpenIdProvider
) -> None:
    with pytest.raises(ProviderProblem) as problem:
        await sign_in(client, provider, "")

    assert problem.value.sentence == "You cancelled the sign-in at Example ID."


async def test_a_code_works_once(client: OpenIdClient, provider: OpenIdProvider) -> None:
    begun = await client.begin("oidc")
    query = provider.visit(begun.url, "alice")
    await client.finish("oidc", begun, query)

    with pytest.raises(ProviderProblem, match="has expired or was already used"):
        await client.finish("oidc", begun, query)


async def test_a_code_needs_its_verifier(client: OpenIdClient, provider: OpenIdProvider) -> None:
    begun = await client.begin("oidc")
    query = provider.visit(begun.url, "alice")
    begun.verifier = (await client.begin("oidc")).verifier

    with pytest.raises(ProviderProblem, match="has expired or was already used"):
        await client.finish("oidc", begun, query)


async def test_an_id_token_of_another_sign_in_is_refused(
    client: OpenIdClient, provider: OpenIdProvider
) -> None:
    begun = await client.begin("oidc")
    query = provider.visit(begun.url, "alice")
    begun.nonce = (await client.begin("oidc")).nonce

    with pytest.raises(ProviderProblem, match="could not be verified"):
        await client.finish("oidc", begun, query)


async def test_a_wrong_client_secret_is_the_operators_problem(provider: OpenIdProvider) -> None:
    client = client_with(provider, client_secret="wrong")

    with pytest.raises(ProviderProblem, match="rejected the client ID or secret of this site"):
        await sign_in(client, provider, "alice")
