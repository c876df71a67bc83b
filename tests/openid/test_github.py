"""Signing in with GitHub, at a stand-in that sends GitHub's documented answers."""

from collections.abc import AsyncIterator
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest

from bowerbird.clock import system_clock
from bowerbird.openid.providers import configured
from bowerbird.openid.sign_in import OpenIdClient, Person, ProviderProblem
from bowerbird.settings import Settings
from tests.support.hosts.loopback import http_answer
from tests.support.hosts.provider_standins import REDIRECT_URL, StandIn, serving

pytestmark = pytest.mark.anyio
TOKEN = {"access_token": "gho_16C7", "scope": "read:user,user:email", "token_type": "bearer"}
USER = {"login": "octocat", "id": 1, "name": "monalisa octocat", "email": None, "type": "User"}
EMAILS = [
    {"email": "public@example.com", "verified": True, "primary": False, "visibility": "public"},
    {"email": "octocat@example.com", "verified": True, "primary": True, "visibility": None},
]


@pytest.fixture
async def github() -> AsyncIterator[StandIn]:
    answers: Any = {
        "/login/oauth/access_token": http_answer(TOKEN),
        "/api/v3/user": http_answer(USER),
        "/api/v3/user/emails": http_answer(EMAILS),
    }
    stand_in = StandIn(answers)
    async with serving(stand_in):
        yield stand_in


async def sign_in(github: StandIn, **query: str) -> Person:
    settings = Settings(
        github_client_id="Iv1.8a61f9b3", github_client_secret="secret", github_url=github.url
    )
    client = OpenIdClient(configured(settings), REDIRECT_URL.format, system_clock)
    begun = await client.begin("github")
    returned = {"state": begun.state, "code": "the-code", **query}
    return await client.finish("github", begun, returned)


async def test_a_person_signs_in(github: StandIn) -> None:
    person = await sign_in(github)

    assert person == Person(
        issuer=github.url,
        subject="1",
        email="octocat@example.com",
        is_email_verified=True,
        name="monalisa octocat",
    )
    token, user, emails = github.requests
    assert token.headers["accept"] == "application/json"
    assert "authorization" not in token.headers
    assert token.form.pop("code_verifier")
    assert token.form == {
        "client_id": "Iv1.8a61f9b3",
        "client_secret": "secret",
        "grant_type": "authorization_code",
        "code": "the-code",
        "redirect_uri": "http://localhost:8080/sign-in/github/return",
    }
    assert {request.headers["accept-encoding"] for request in github.requests} == {"identity"}
    for request in (user, emails):
        assert request.headers["authorization"] == "Bearer gho_16C7"
        assert request.headers["accept"] == "application/vnd.github+json"
        assert request.headers["user-agent"] == "Bowerbird"


async def test_github_com_has_its_api_on_another_host() -> None:
    settings = Settings(github_client_id="Iv1.8a61f9b3", github_client_secret="secret")
    (provider,) = configured(settings)
    client = OpenIdClient([provider], REDIRECT_URL.format, system_clock)

    url = urlsplit((await client.begin("github")).url)
    query = dict(parse_qsl(url.query))
    assert (url.netloc, url.path) == ("github.com", "/login/oauth/authorize")
    assert query["scope"] == "read:user user:email"
    assert query["code_challenge_method"] == "S256"
    assert "nonce" not in query
    assert provider.issuer == "https://github.com"
    assert provider.endpoints is not None
    assert provider.endpoints.user == "https://api.github.com/user"
    assert provider.endpoints.emails.startswith("https://api.github.com/user/emails")


async def test_the_issuer_that_github_sends_is_checked(github: StandIn) -> None:
    assert await sign_in(github, iss=f"{github.url}/login/oauth")
    with pytest.raises(ProviderProblem, match="could not be verified"):
        await sign_in(github, iss="https://evil.example/login/oauth")


@pytest.mark.parametrize(
    ("emails", "expected"),
    [
        ([], ""),
        (EMAILS[:1], ""),
        ([{**EMAILS[1], "verified": False}], ""),
        ([{**EMAILS[1], "email": "no address"}], ""),
        (EMAILS, "octocat@example.com"),
    ],
)
async def test_only_the_confirmed_primary_address_counts(
    github: StandIn, emails: list[Any], expected: str
) -> None:
    github.answers["/api/v3/user/emails"] = http_answer(emails)

    person = await sign_in(github)
    assert (person.email, person.is_email_verified) == (expected, bool(expected))


@pytest.mark.parametrize(
    ("path", "answer"),
    [
        ("/api/v3/user", {**USER, "id": "1"}),
        ("/api/v3/user", {**USER, "id": 0}),
        ("/api/v3/user", {**USER, "id": -1}),
        ("/api/v3/user", {**USER, "id": None}),
        ("/api/v3/user", {"login": "octocat"}),
        ("/api/v3/user", {**USER, "id": int("9" * 300)}),
        ("/api/v3/user", [USER]),
        ("/api/v3/user/emails", {"message": "Not Found"}),
        ("/api/v3/user/emails", [{"email": "octocat@example.com"}]),
        ("/api/v3/user/emails", [{**EMAILS[1], "verified": "true"}]),
        ("/api/v3/user/emails", None),
        ("/login/oauth/access_token", {"token_type": "bearer"}),
    ],
)
async def test_a_malformed_answer_is_a_sentence(github: StandIn, path: str, answer: Any) -> None:
    github.answers[path] = http_answer(answer)

    with pytest.raises(ProviderProblem, match="GitHub sent an answer that this site cannot use"):
        await sign_in(github)


@pytest.mark.parametrize(
    ("code", "sentence"),
    [
        ("bad_verification_code", "has expired or was already used"),
        ("incorrect_client_credentials", "rejected the client ID or secret"),
        ("redirect_uri_mismatch", "does not know the address of this site"),
        ("unverified_user_email", "Confirm your email address at GitHub first"),
    ],
)
async def test_errors_of_github_become_sentences(github: StandIn, code: str, sentence: str) -> None:
    # GitHub sends errors with status 200.
    github.answers["/login/oauth/access_token"] = http_answer({"error": code, "error_uri": "/x"})

    with pytest.raises(ProviderProblem, match=sentence):
        await sign_in(github)


async def test_a_refused_token_is_a_sentence(github: StandIn) -> None:
    bad = http_answer({"message": "Bad credentials"}, "401 Unauthorized")
    github.answers["/api/v3/user"] = bad

    with pytest.raises(ProviderProblem, match="GitHub sent an answer that this site cannot use"):
        await sign_in(github)
