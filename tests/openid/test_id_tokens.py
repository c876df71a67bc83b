"""ID tokens of a provider that signs anything: only a correct one signs a person in."""

import hmac
import json
import time
from base64 import urlsafe_b64encode
from typing import Any

import pytest
from joserfc.jwk import ECKey, Key, OctKey, OKPKey, RSAKey

from bowerbird.openid.sign_in import Person, ProviderProblem
from tests.support.hosts.provider_standins import (
    CLIENT_ID,
    FIRST_KEY,
    client_of,
    key_set,
    openid_stand_in,
    sign,
)

pytestmark = pytest.mark.anyio
NOW = int(time.time())
HOUR = 3600


async def sign_in(**fields: Any) -> Person:
    async with openid_stand_in(**fields) as provider:
        return await provider.sign_in(client_of(provider))


async def test_a_correct_id_token_names_the_person() -> None:
    async with openid_stand_in() as provider:
        person = await provider.sign_in(client_of(provider))

    assert person == Person(
        issuer=provider.url,
        subject="person-1",
        email="ada@example.com",
        is_email_verified=True,
        name="Ada",
    )


@pytest.mark.parametrize(
    "claims",
    [
        pytest.param({"iss": "https://evil.example"}, id="another issuer"),
        pytest.param({"iss": None}, id="no issuer"),
        pytest.param({"iss": ["https://evil.example"]}, id="a list of issuers"),
        pytest.param({"nonce": "other"}, id="another nonce"),
        pytest.param({"nonce": None}, id="no nonce"),
        pytest.param({"nonce": ["x"]}, id="a list of nonces"),
        pytest.param({"aud": "other"}, id="another audience"),
        pytest.param({"aud": None}, id="no audience"),
        pytest.param({"aud": []}, id="an empty audience"),
        pytest.param({"aud": ["other", "third"]}, id="a list without us"),
        pytest.param({"aud": [CLIENT_ID, "other"]}, id="several audiences without azp"),
        pytest.param({"azp": "other"}, id="issued to another client"),
        pytest.param({"aud": [CLIENT_ID, "other"], "azp": "other"}, id="azp of another"),
        pytest.param({"exp": NOW - HOUR}, id="expired"),
        pytest.param({"exp": NOW - 120}, id="expired longer ago than the leeway"),
        pytest.param({"exp": None}, id="never expires"),
        pytest.param({"exp": "tomorrow"}, id="expires at a text"),
        pytest.param({"exp": float("inf")}, id="expires at infinity"),
        pytest.param({"iat": NOW + HOUR}, id="issued in the future"),
        pytest.param({"iat": None}, id="issued at no time"),
        pytest.param({"nbf": NOW + HOUR}, id="not valid yet"),
        pytest.param({"sub": None}, id="no subject"),
        pytest.param({"sub": ""}, id="an empty subject"),
        pytest.param({"sub": 7}, id="a number as subject"),
        pytest.param({"at_hash": "AAAAAAAAAAAAAAAAAAAAAA"}, id="another access token"),
        pytest.param({"at_hash": 5}, id="a number as hash"),
    ],
)
async def test_a_wrong_claim_is_refused(claims: dict[str, Any]) -> None:
    with pytest.raises(ProviderProblem, match="of Example ID could not be verified"):
        await sign_in(claims=claims)


@pytest.mark.parametrize(
    "claims",
    [
        pytest.param({"sub": "s" * 256}, id="a long subject"),
        pytest.param({"sub": "a\x00b"}, id="a control character in the subject"),
        pytest.param({"sub": "ada lovelace"}, id="a space in the subject"),
        pytest.param({"email": 5}, id="a number as email address"),
        pytest.param({"email_verified": [True]}, id="a list as confirmation"),
        pytest.param({"name": {"first": "Ada"}}, id="an object as name"),
    ],
)
async def test_a_claim_of_the_wrong_form_is_refused(claims: dict[str, Any]) -> None:
    with pytest.raises(ProviderProblem, match="sent an answer that this site cannot use"):
        await sign_in(claims=claims)


@pytest.mark.parametrize(
    "claims",
    [
        pytest.param({"sub": "s" * 255}, id="the longest subject"),
        pytest.param({"aud": [CLIENT_ID]}, id="a list of one audience"),
        pytest.param({"aud": [CLIENT_ID, "other"], "azp": CLIENT_ID}, id="issued to us"),
        pytest.param({"exp": NOW - 20}, id="expired within the leeway"),
        pytest.param({"iat": NOW + 30}, id="a clock a little ahead"),
    ],
)
async def test_a_claim_at_its_limit_is_accepted(claims: dict[str, Any]) -> None:
    # A whole test run may lie between the collection of the tests and this one.
    passed = int(time.time()) - NOW
    claims = {n: v + passed if isinstance(v, int) else v for n, v in claims.items()}
    assert (await sign_in(claims=claims)).email == "ada@example.com"


@pytest.mark.parametrize(
    ("claims", "expected"),
    [
        ({"email_verified": "true"}, ("ada@example.com", True)),
        ({"email_verified": "false"}, ("ada@example.com", False)),
        ({"email_verified": "yes"}, ("ada@example.com", False)),
        ({"email_verified": None}, ("ada@example.com", False)),
        ({"email": None}, ("", False)),
        ({"email": ""}, ("", False)),
        ({"email": "no address"}, ("", False)),
        ({"email": "a@b"}, ("", False)),
        ({"email": "a@b@example.com"}, ("", False)),
        ({"email": "a\n@example.com"}, ("", False)),
        ({"email": "<a@example.com>"}, ("", False)),
        ({"email": "a" * 250 + "@example.com"}, ("", False)),
    ],
)
async def test_only_a_confirmed_address_is_a_confirmed_address(
    claims: dict[str, Any], expected: tuple[str, bool]
) -> None:
    person = await sign_in(claims=claims)

    assert (person.email, person.is_email_verified) == expected


async def test_a_name_is_cleaned_and_cut() -> None:
    person = await sign_in(claims={"name": " Ada\x00\n\u202eLovelace " + "x" * 500})

    assert person.name.startswith("Ada Lovelace xx")
    assert len(person.name) == 100


@pytest.mark.parametrize(
    ("algorithm", "key"),
    [
        ("RS256", FIRST_KEY),
        ("PS256", FIRST_KEY),
        ("ES256", ECKey.generate_key("P-256", {"kid": "ec"}, private=True)),
        ("EdDSA", OKPKey.generate_key("Ed25519", {"kid": "ed"}, private=True)),
    ],
)
@pytest.mark.filterwarnings("ignore:EdDSA is deprecated")
async def test_a_provider_may_sign_with_any_key_pair(algorithm: str, key: Key) -> None:
    person = await sign_in(
        signing_key=key,
        published=key_set(key),
        header={"alg": algorithm},
        document={"id_token_signing_alg_values_supported": [algorithm]},
    )

    assert person.subject == "person-1"


def sign_with_secret(header: dict[str, Any], claims: dict[str, Any], secret: bytes) -> str:
    """A token signed with a shared secret or, if that is empty, not at all."""
    signed = b".".join(
        urlsafe_b64encode(json.dumps(part).encode()).rstrip(b"=") for part in (header, claims)
    )
    signature = hmac.digest(secret, signed, "sha256") if secret else b""
    return (signed + b"." + urlsafe_b64encode(signature).rstrip(b"=")).decode()


SECRET = b"secret" * 8
STRANGER = RSAKey.generate_key(2048, {"kid": "first"}, private=True)


@pytest.mark.parametrize(
    "algorithms", [["RS256"], ["RS256", "none", "HS256"], ["none", "HS256", "RS256", "PS256"]]
)
@pytest.mark.parametrize(
    ("header", "key"),
    [
        pytest.param({"alg": "none"}, b"", id="no signature"),
        pytest.param({"alg": "HS256"}, SECRET, id="shared secret"),
        pytest.param({"alg": "HS256"}, FIRST_KEY.as_pem(private=False), id="public key as secret"),
        pytest.param({"alg": "RS256"}, STRANGER, id="key of a stranger"),
        pytest.param({"alg": "RS512"}, FIRST_KEY, id="not advertised"),
        pytest.param(
            {"alg": "RS256", "jwk": STRANGER.as_dict(private=False)},
            STRANGER,
            id="key in the header",
        ),
    ],
)
async def test_a_forged_signature_is_refused(
    header: dict[str, Any], key: Key | bytes, algorithms: list[str]
) -> None:
    def forge(correct: dict[str, Any], claims: dict[str, Any], _: Key) -> str:
        forged = {**correct, "kid": "first", **header}
        if isinstance(key, bytes):
            return sign_with_secret(forged, claims, key)
        return sign(forged, claims, key)

    with pytest.raises(ProviderProblem, match="could not be verified"):
        await sign_in(
            sign=forge,
            published=[OctKey.import_key(SECRET, {"kid": "first"}).as_dict(), *key_set(FIRST_KEY)],
            document={"id_token_signing_alg_values_supported": algorithms},
        )


@pytest.mark.parametrize("algorithms", [["none"], ["HS256"], ["none", "HS256"], []])
async def test_a_provider_that_signs_without_a_key_pair_is_refused(algorithms: list[str]) -> None:
    with pytest.raises(ProviderProblem, match="sent an answer that this site cannot use"):
        await sign_in(document={"id_token_signing_alg_values_supported": algorithms})


@pytest.mark.parametrize(
    "id_token",
    [
        *("x", "a.b", "a.b.c", "a.b.c.d.e", "..", "é.é.é", "\x00"),
        "eyJhbGciOiJSUzI1NiJ9.W10.AAAA",
        "e30.e30.AAAA",
        "W10.e30.AAAA",
        "eyJhbGciOlsiUlMyNTYiXX0.e30.AAAA",
        "eyJhbGciOiJSUzI1NiIsImtpZCI6e319.e30.AAAA",
        "x" * 500_000,
    ],
)
async def test_a_malformed_id_token_is_refused(id_token: str) -> None:
    with pytest.raises(ProviderProblem, match="could not be verified"):
        await sign_in(tokens={"id_token": id_token})


async def test_deeply_nested_claims_are_refused() -> None:
    nested: Any = 1
    for _ in range(900):
        nested = [nested]
    with pytest.raises(ProviderProblem, match="could not be verified"):
        await sign_in(claims={"nonce": nested})
