"""What a provider may answer: its return, and any other bytes."""

import asyncio
import json
from typing import Any

import pytest
import structlog
from hypothesis import given, settings
from hypothesis import strategies as st

from bowerbird.openid.sign_in import Begun, Person, ProviderProblem
from tests.support.hosts.loopback import http_answer
from tests.support.hosts.provider_standins import (
    WELL_KNOWN,
    client_of,
    openid_stand_in,
)

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("state", ["", "other", "é", "\udcff", "x" * 100_000])
async def test_another_state_is_refused_before_anything_is_sent(state: str) -> None:
    async with openid_stand_in() as provider:
        client = client_of(provider)
        begun = await client.begin("oidc")
        before = len(provider.requests)
        for query in ({"state": state, "code": "c"}, {"code": "c"}, {"error": "access_denied"}):
            # An empty state never matches.
            for one in (begun, Begun(url="", state="", nonce="n", verifier="v")):
                with pytest.raises(ProviderProblem, match="was started in another browser"):
                    await client.finish("oidc", one, query)
        assert len(provider.requests) == before


async def test_an_answer_of_another_issuer_is_refused() -> None:
    async with openid_stand_in() as provider:
        for issuer in ("https://evil.example", "", provider.url + "/"):
            with pytest.raises(ProviderProblem, match="could not be verified"):
                await provider.sign_in(client_of(provider), iss=issuer)
        assert "/token" not in provider.paths()
        assert await provider.sign_in(client_of(provider), iss=provider.url)


async def test_a_provider_that_promises_its_issuer_must_name_it() -> None:
    promise = {"authorization_response_iss_parameter_supported": True}
    async with openid_stand_in(document=promise) as provider:
        with pytest.raises(ProviderProblem, match="could not be verified"):
            await provider.sign_in(client_of(provider))
        assert await provider.sign_in(client_of(provider), iss=provider.url)


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        ("access_denied", "You cancelled the sign-in at Example ID."),
        ("server_error", "Example ID cannot sign people in at the moment. Try again in a few"),
        ("login_required", "Example ID refused the sign-in with the error login_required."),
        ("<script>alert(1)</script>", "Example ID refused the sign-in."),
        ("", "Example ID refused the sign-in."),
        ("x" * 100_000, "Example ID refused the sign-in."),
        ("a\nb", "Example ID refused the sign-in."),
    ],
)
async def test_an_error_becomes_a_sentence(error: str, sentence: str) -> None:
    async with openid_stand_in() as provider:
        with pytest.raises(ProviderProblem) as problem:
            await provider.sign_in(
                client_of(provider), error=error, error_description="<b>Call 555-1234</b>"
            )

    assert problem.value.sentence.startswith(sentence)
    assert len(problem.value.sentence) <= 300
    assert "555" not in str(problem.value)


@pytest.mark.parametrize("code", ["", "x" * 4097, "a\r\nb", "é", "\x00"])
async def test_a_malformed_code_is_not_sent(code: str) -> None:
    async with openid_stand_in() as provider:
        with pytest.raises(ProviderProblem, match="sent an answer that this site cannot use"):
            await provider.sign_in(client_of(provider), code=code)

    assert "/token" not in provider.paths()


async def test_the_code_is_exchanged_with_the_verifier() -> None:
    async with openid_stand_in() as provider:
        client = client_of(provider)
        begun = await client.begin("oidc")
        await provider.finish(client, begun)

    request = next(each for each in provider.requests if each.target == "/token")
    assert request.method == "POST"
    assert request.headers["authorization"].startswith("Basic ")
    assert request.form == {
        "grant_type": "authorization_code",
        "code": "the-code",
        "redirect_uri": "http://localhost:8080/sign-in/oidc/return",
        "code_verifier": begun.verifier,
    }


async def test_a_provider_may_want_the_secret_in_the_form() -> None:
    document = {"token_endpoint_auth_methods_supported": ["client_secret_post"]}
    async with openid_stand_in(document=document) as provider:
        await provider.sign_in(client_of(provider))

    request = next(each for each in provider.requests if each.target == "/token")
    assert "authorization" not in request.headers
    assert (request.form["client_id"], request.form["client_secret"]) == ("bowerbird", "secret")


@pytest.mark.parametrize(
    "tokens",
    [
        {"id_token": None},
        {"id_token": 5},
        {"id_token": ["x"]},
        {"access_token": None},
        {"access_token": {}},
        {"access_token": "a\r\nb"},
        {"access_token": "x" * 20_000},
        {"access_token": ""},
        {"expires_in": 1e999},
    ],
)
async def test_malformed_tokens_are_a_sentence(tokens: dict[str, Any]) -> None:
    async with openid_stand_in(tokens=tokens) as provider:
        with pytest.raises(ProviderProblem, match="sent an answer that this site cannot use"):
            await provider.sign_in(client_of(provider))


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        ("invalid_grant", "The sign-in at Example ID has expired or was already used"),
        ("invalid_client", "Example ID rejected the client ID or secret of this site"),
        ("<b>", "Example ID refused the sign-in."),
        (["invalid_grant"], "Example ID refused the sign-in."),
    ],
)
@pytest.mark.parametrize("status", ["200 OK", "400 Bad Request", "401 Unauthorized"])
async def test_an_error_for_tokens_is_a_sentence(error: Any, sentence: str, status: str) -> None:
    async with openid_stand_in() as provider:
        provider.answers["/token"] = http_answer(
            {"error": error, "error_description": {"a": "<b>"}}, status
        )
        with pytest.raises(ProviderProblem) as problem:
            await provider.sign_in(client_of(provider))

    assert problem.value.sentence.startswith(sentence)


async def test_userinfo_of_another_person_is_refused() -> None:
    async with openid_stand_in(claims={"email": None}) as provider:
        provider.document["userinfo_endpoint"] = f"{provider.url}/userinfo"
        provider.answers["/userinfo"] = http_answer({"sub": "person-2", "email": "a@example.com"})
        with pytest.raises(ProviderProblem, match="could not be verified"):
            await provider.sign_in(client_of(provider))

        provider.answers["/userinfo"] = http_answer({"sub": "person-1", "email": "a@example.com"})
        person = await provider.sign_in(client_of(provider))

    assert (person.email, person.is_email_verified) == ("a@example.com", False)
    assert provider.requests[-1].headers["authorization"] == "Bearer opaque"


async def test_an_unknown_provider_is_a_sentence() -> None:
    async with openid_stand_in() as provider:
        client = client_of(provider)
        begun = await client.begin("oidc")
        with pytest.raises(ProviderProblem, match="has no sign-in with that provider"):
            await client.begin("<script>")
        with pytest.raises(ProviderProblem, match="has no sign-in with that provider"):
            await client.finish("google", begun, {})


async def test_the_log_has_the_reason_and_no_token() -> None:
    with structlog.testing.capture_logs() as lines:
        async with openid_stand_in(claims={"aud": "other"}) as provider:
            client = client_of(provider)
            begun = await client.begin("oidc")
            with pytest.raises(ProviderProblem):
                await provider.finish(client, begun)
            with pytest.raises(ProviderProblem):
                await provider.finish(client, begun, error="access_denied")

    assert lines == [
        {
            "event": "sign_in_failed",
            "log_level": "warning",
            "provider": "oidc",
            "reason": "id_token_InvalidClaimError_aud",
        }
    ]


NAMES = [
    *("issuer", "authorization_endpoint", "token_endpoint", "jwks_uri", "userinfo_endpoint"),
    *("id_token_signing_alg_values_supported", "token_endpoint_auth_methods_supported"),
    *("keys", "kty", "n", "e", "crv", "x", "kid", "use", "alg", "access_token", "id_token"),
    *("expires_in", "error", "error_description", "sub", "email", "email_verified", "name"),
]

SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=20)
    | st.sampled_from(["RSA", "EC", "OKP", "RS256", "none", "P-256", "AQAB", "first", "person-1"])
)

JSON = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(NAMES), inner, max_size=6)
    ),
    max_leaves=15,
)

PATHS = st.sampled_from([WELL_KNOWN, "/keys", "/token", "/userinfo"])

CLAIMS = ("aud", "azp", "exp", "iat", "nbf", "nonce", "at_hash", "amr", "auth_time")


async def sign_in(path: str = "", answer: bytes = b"", **fields: Any) -> Person | ProviderProblem:
    async with openid_stand_in(**fields) as provider:
        provider.document["userinfo_endpoint"] = f"{provider.url}/userinfo"
        provider.answers["/userinfo"] = http_answer({"sub": "person-1"})
        if path:
            provider.answers[path] = answer
        try:
            return await provider.sign_in(client_of(provider))
        except ProviderProblem as problem:
            return problem


def check(ended: Person | ProviderProblem) -> None:
    if isinstance(ended, Person):
        assert ended.subject == "person-1"
    else:
        assert 0 < len(ended.sentence) <= 300
        assert not set(ended.sentence) & set('<>&"\n')


@settings(max_examples=50)
@given(path=PATHS, answer=JSON.map(json.dumps).map(str.encode) | st.binary(max_size=50))
def test_any_json_or_bytes_end_with_a_person_or_a_sentence(path: str, answer: bytes) -> None:
    with structlog.testing.capture_logs():
        check(asyncio.run(sign_in(path, http_answer(answer), claims={"email": None})))


@settings(max_examples=50)
@given(claims=st.dictionaries(st.sampled_from(CLAIMS), JSON, min_size=1, max_size=3))
def test_any_claims_end_with_a_person_or_a_sentence(claims: dict[str, Any]) -> None:
    with structlog.testing.capture_logs():
        check(asyncio.run(sign_in(claims=claims)))


@settings(max_examples=50)
@given(raw=st.binary(max_size=200))
def test_any_bytes_instead_of_http_end_with_a_sentence(raw: bytes) -> None:
    # Without any bytes the stand-in would stay silent.
    answer = b"HTTP/1.1 200 OK\r\n" + raw + b"\r\n\r\n"
    with structlog.testing.capture_logs():
        assert isinstance(asyncio.run(sign_in(WELL_KNOWN, answer)), ProviderProblem)
