"""Signing in with X, at a stand-in that sends X's documented answers."""

from base64 import b64decode
from collections.abc import AsyncIterator
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import msgspec
import pytest

from bowerbird.clock import system_clock
from bowerbird.openid.providers import Endpoints, Provider, configured
from bowerbird.openid.sign_in import OpenIdClient, Person, ProviderProblem
from bowerbird.settings import Settings
from tests.support.hosts.loopback import http_answer
from tests.support.hosts.provider_standins import REDIRECT_URL, StandIn, serving

pytestmark = pytest.mark.anyio
TOKEN = {
    "token_type": "bearer",
    "expires_in": 7200,
    "access_token": "Q0Mzb0VhZ0V5",
    "scope": "tweet.read users.read",
}
USER = {"id": "2244994945", "name": "X Developers", "username": "XDevelopers"}


@pytest.fixture
async def x() -> AsyncIterator[StandIn]:
    answers: Any = {
        "/2/oauth2/token": http_answer(TOKEN),
        "/2/users/me": http_answer({"data": USER}),
    }
    stand_in = StandIn(answers)
    async with serving(stand_in):
        yield stand_in


def provider_at(url: str) -> Provider:
    (provider,) = configured(Settings(x_client_id="WTNrQS14bUhp", x_client_secret="s3cret"))
    known = provider.endpoints
    assert known
    here = Endpoints(
        authorization=known.authorization,
        token=known.token.replace("https://api.x.com", url),
        user=known.user.replace("https://api.x.com", url),
        issuers=known.issuers,
    )
    return msgspec.structs.replace(provider, endpoints=here)


async def sign_in(x: StandIn, **query: str) -> Person:
    client = OpenIdClient([provider_at(x.url)], REDIRECT_URL.format, system_clock)
    begun = await client.begin("x")
    returned = {"state": begun.state, "code": "the-code", **query}
    return await client.finish("x", begun, returned)


async def test_a_person_signs_in_without_an_email_address(x: StandIn) -> None:
    person = await sign_in(x)

    assert person == Person(
        issuer="https://x.com",
        subject="2244994945",
        email="",
        is_email_verified=False,
        name="X Developers",
    )
    token, user = x.requests
    kind, _, credentials = token.headers["authorization"].partition(" ")
    assert (kind, b64decode(credentials)) == ("Basic", b"WTNrQS14bUhp:s3cret")
    assert token.form.pop("code_verifier")
    assert token.form == {
        "grant_type": "authorization_code",
        "code": "the-code",
        "redirect_uri": "http://localhost:8080/sign-in/x/return",
    }
    assert user.headers["authorization"] == "Bearer Q0Mzb0VhZ0V5"


async def test_the_browser_is_sent_to_x(x: StandIn) -> None:
    client = OpenIdClient([provider_at(x.url)], REDIRECT_URL.format, system_clock)

    url = urlsplit((await client.begin("x")).url)
    assert f"{url.scheme}://{url.netloc}{url.path}" == "https://x.com/i/oauth2/authorize"
    query = dict(parse_qsl(url.query))
    assert query["scope"] == "users.read tweet.read"
    assert query["code_challenge_method"] == "S256"


@pytest.mark.parametrize(
    ("path", "answer"),
    [
        ("/2/users/me", USER),
        ("/2/users/me", {"data": [USER]}),
        ("/2/users/me", {"data": {**USER, "id": 2244994945}}),
        ("/2/users/me", {"data": {**USER, "id": ""}}),
        ("/2/users/me", {"data": {**USER, "id": "abc"}}),
        ("/2/users/me", {"data": {**USER, "id": "1\n"}}),
        ("/2/users/me", {"data": {**USER, "id": "9" * 256}}),
        ("/2/users/me", {"errors": [{"title": "Not Found"}]}),
        ("/2/oauth2/token", {"token_type": "bearer"}),
    ],
)
async def test_a_malformed_answer_is_a_sentence(x: StandIn, path: str, answer: Any) -> None:
    x.answers[path] = http_answer(answer)

    with pytest.raises(ProviderProblem, match="X sent an answer that this site cannot use"):
        await sign_in(x)


async def test_cancelling_is_told_in_a_sentence(x: StandIn) -> None:
    with pytest.raises(ProviderProblem, match="You cancelled the sign-in at X"):
        await sign_in(x, error="access_denied")


async def test_an_answer_of_another_issuer_is_refused(x: StandIn) -> None:
    with pytest.raises(ProviderProblem, match="could not be verified"):
        await sign_in(x, iss="https://evil.example")
