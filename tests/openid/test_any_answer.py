"""Whatever a provider answers, the sign-in ends with a person or a sentence."""

import asyncio
import json
from typing import Any

import structlog
from hypothesis import given, settings
from hypothesis import strategies as st

from bowerbird.openid.sign_in import Person, ProviderProblem
from tests.support.provider_standins import (
    WELL_KNOWN,
    client_of,
    http_answer,
    openid_stand_in,
)

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
