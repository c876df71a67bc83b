"""Discovery documents and keys: hostile ones are refused, good ones are cached."""

import asyncio
import gzip
from pathlib import Path
from typing import Any

import pytest
import structlog
from joserfc.jwk import RSAKey

from bowerbird.openid.providers import configured
from bowerbird.openid.sign_in import ProviderProblem
from tests.support.hosts.loopback import certificate, http_answer
from tests.support.hosts.provider_standins import (
    FIRST_KEY,
    WELL_KNOWN,
    StandIn,
    client_of,
    key_set,
    openid_stand_in,
    serving,
)

pytestmark = pytest.mark.anyio
HOUR = 3600
SECOND_KEY = RSAKey.generate_key(2048, {"kid": "second", "use": "sig"}, private=True)


@pytest.mark.parametrize(
    "document",
    [
        pytest.param({"issuer": "https://evil.example"}, id="another issuer"),
        pytest.param({"issuer": None}, id="no issuer"),
        pytest.param({"issuer": 5}, id="a number as issuer"),
        pytest.param({"authorization_endpoint": None}, id="no authorization endpoint"),
        pytest.param({"token_endpoint": None}, id="no token endpoint"),
        pytest.param({"jwks_uri": None}, id="no keys"),
        pytest.param({"jwks_uri": ["https://id.example/keys"]}, id="a list of key URLs"),
        pytest.param({"id_token_signing_alg_values_supported": "RS256"}, id="text for a list"),
    ],
)
async def test_a_wrong_document_is_refused(document: dict[str, Any]) -> None:
    async with openid_stand_in(document=document) as provider:
        with pytest.raises(ProviderProblem, match="Example ID sent an answer that this site"):
            await client_of(provider).begin("oidc")


@pytest.mark.parametrize(
    "field", ["authorization_endpoint", "token_endpoint", "jwks_uri", "userinfo_endpoint"]
)
@pytest.mark.parametrize(
    "url",
    [
        *("http://id.example/x", "ftp://id.example/x", "file:///etc/passwd", "javascript:alert(1)"),
        *("", "/x", "//id.example/x", "https://", "https://id.example:x/", "https://[::1/"),
        *("https://a@id.example/", "https://id.example/#x", "https://id.example\\@evil.example/"),
        *("https://id.example/\r\nSet-Cookie: a=b", "https://id.example/ x", "https://ïd.example/"),
        "https://id.example/" + "x" * 3000,
    ],
)
async def test_an_unsafe_url_is_refused(field: str, url: str) -> None:
    async with openid_stand_in(document={field: url}) as provider:
        with pytest.raises(ProviderProblem, match="Example ID sent an answer that this site"):
            await client_of(provider).begin("oidc")


async def test_only_a_provider_on_this_machine_may_name_addresses_on_this_machine() -> None:
    from bowerbird.openid.fetching import is_loopback, is_safe  # noqa: PLC0415 - slow to import

    assert is_safe("http://127.0.0.1:80/x", may_be_loopback=True)
    assert not is_safe("http://127.0.0.1:80/x", may_be_loopback=False)
    assert is_safe("https://id.example/x?p=1", may_be_loopback=False)
    assert is_loopback("http://localhost:8080")
    assert not is_loopback("https://localhost")
    assert not is_loopback("http://localhost.example")


UNUSABLE = [
    pytest.param(http_answer(b""), id="empty"),
    pytest.param(http_answer(b"<html>"), id="not JSON"),
    pytest.param(http_answer(b"\xff\xfe"), id="not UTF-8"),
    pytest.param(http_answer([]), id="a list"),
    pytest.param(http_answer(b"null"), id="null"),
    pytest.param(http_answer(b"[" * 100_000), id="deeply nested"),
    pytest.param(http_answer(b'{"a":' * 100_000), id="deeply nested objects"),
    pytest.param(http_answer({}, "500 Internal Server Error"), id="server error"),
    pytest.param(http_answer({}, "404 Not Found"), id="not found"),
]
UNREACHABLE = [
    pytest.param(b"garbage\r\n\r\n", id="not HTTP"),
    pytest.param(b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{", id="truncated"),
    pytest.param(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", id="bad chunk"),
]


@pytest.mark.parametrize("path", [WELL_KNOWN, "/keys", "/token", "/userinfo"])
@pytest.mark.parametrize("answer", UNUSABLE)
async def test_an_unusable_answer_is_a_sentence(path: str, answer: bytes) -> None:
    async with openid_stand_in(claims={"email": None}) as provider:
        provider.document["userinfo_endpoint"] = f"{provider.url}/userinfo"
        provider.answers[path] = answer
        with pytest.raises(ProviderProblem, match="Example ID sent an answer that this site"):
            await provider.sign_in(client_of(provider))

    assert path in provider.paths()


@pytest.mark.parametrize("path", [WELL_KNOWN, "/keys", "/token"])
@pytest.mark.parametrize("answer", UNREACHABLE)
async def test_an_interrupted_answer_is_a_sentence(path: str, answer: bytes) -> None:
    async with openid_stand_in() as provider:
        provider.answers[path] = answer
        with pytest.raises(ProviderProblem, match="Example ID did not answer"):
            await provider.sign_in(client_of(provider))

    assert path in provider.paths()


@pytest.mark.parametrize("path", [WELL_KNOWN, "/keys", "/token"])
async def test_a_silent_provider_times_out(path: str) -> None:
    async with openid_stand_in() as provider, asyncio.timeout(120):
        provider.answers[path] = b""
        with pytest.raises(ProviderProblem, match="Example ID did not answer"):
            await provider.sign_in(client_of(provider, timeout_s=1))
    assert path in provider.paths()
    # Now it is down.
    with pytest.raises(ProviderProblem, match="Example ID did not answer"):
        await client_of(provider).begin("oidc")


async def test_a_provider_times_out_although_it_keeps_sending() -> None:
    async with openid_stand_in(dripping={WELL_KNOWN}) as provider, asyncio.timeout(120):
        with pytest.raises(ProviderProblem, match="Example ID did not answer"):
            await client_of(provider, timeout_s=0.3).begin("oidc")


async def test_an_answer_has_at_most_one_mebibyte_and_is_not_compressed() -> None:
    async with openid_stand_in() as provider:
        document = provider.document_bytes()
        provider.answers[WELL_KNOWN] = http_answer(document.ljust(1_048_576))
        assert await provider.sign_in(client_of(provider))
        for answer in (
            http_answer(document.ljust(1_048_577)),
            http_answer(gzip.compress(document), headers="Content-Encoding: gzip\r\n"),
        ):
            provider.answers[WELL_KNOWN] = answer
            with pytest.raises(ProviderProblem, match="sent an answer that this site cannot use"):
                await client_of(provider).begin("oidc")


async def test_documents_are_cached_for_an_hour() -> None:
    async with openid_stand_in() as provider:
        client = client_of(provider)
        for _ in range(3):
            await provider.sign_in(client)
        assert [provider.paths().count(path) for path in (WELL_KNOWN, "/keys")] == [1, 1]

        provider.claims = {"exp": provider.clock() // 1_000_000 + 3 * HOUR}
        provider.clock.offset_s = HOUR
        await provider.sign_in(client)
        assert [provider.paths().count(path) for path in (WELL_KNOWN, "/keys")] == [2, 2]


async def test_a_document_that_was_refused_is_requested_again() -> None:
    async with openid_stand_in(document={"issuer": "https://evil.example"}) as provider:
        client = client_of(provider)
        with pytest.raises(ProviderProblem):
            await client.begin("oidc")
        provider.document = {}

        assert (await provider.sign_in(client)).subject == "person-1"


async def test_a_new_key_is_found_without_waiting_for_the_cache() -> None:
    async with openid_stand_in() as provider:
        client = client_of(provider)
        await provider.sign_in(client)
        provider.signing_key, provider.published = SECOND_KEY, key_set(FIRST_KEY, SECOND_KEY)
        provider.clock.offset_s = 31

        assert (await provider.sign_in(client)).subject == "person-1"
        assert provider.paths().count("/keys") == 2


async def test_unknown_keys_are_looked_up_at_most_every_30_seconds() -> None:
    async with openid_stand_in() as provider:
        client = client_of(provider)
        await provider.sign_in(client)
        provider.signing_key = SECOND_KEY
        for offset_s, requests in ((0, 1), (31, 2), (32, 2), (60, 2), (62, 3)):
            provider.clock.offset_s = offset_s
            with pytest.raises(ProviderProblem, match="could not be verified"):
                await provider.sign_in(client)
            assert provider.paths().count("/keys") == requests


async def test_concurrent_sign_ins_share_one_request_for_a_new_key() -> None:
    # Imported here because it is slow to import.
    from bowerbird.openid.fetching import Discovery, Fetcher  # noqa: PLC0415

    async with openid_stand_in() as provider:
        (settings,) = configured(provider.settings())
        discovery = Discovery(settings, Fetcher(settings, 5.0), provider.clock)
        known = await discovery.keys()
        provider.clock.offset_s = 31
        newer = await asyncio.gather(*(discovery.newer_keys(known) for _ in range(4)))

    assert newer[0] is not None
    assert newer[0] is not known
    assert all(keys is newer[0] for keys in newer)
    assert provider.paths().count("/keys") == 2


BAD_KEYS = [
    *({"kty": "RSA"}, {"kty": "RSA", "n": "AQAB", "e": "AQAB"}, {"kty": "RSA", "n": 5, "e": []}),
    *({"kty": "EC", "crv": "P-256", "x": "AAAA", "y": "AAAA"}, {"kty": "EC", "crv": "?"}),
    *({"kty": ["RSA"]}, {"kty": None}, {}, {"kty": "oct", "k": "A" * 43, "kid": "first"}),
    *({"kty": "OKP", "crv": "Ed25519", "x": "AA"}, {"kty": "new", "kid": "first"}),
]


async def test_unusable_keys_do_not_hide_usable_ones() -> None:
    async with openid_stand_in(published=[*BAD_KEYS, *key_set(FIRST_KEY)]) as provider:
        assert (await provider.sign_in(client_of(provider))).subject == "person-1"


async def test_a_set_without_a_usable_key_is_refused() -> None:
    async with openid_stand_in(published=BAD_KEYS) as provider:
        with pytest.raises(ProviderProblem, match="sent an answer that this site cannot use"):
            await provider.sign_in(client_of(provider))
    for_encryption = [{**key, "use": "enc"} for key in key_set(FIRST_KEY)]
    async with openid_stand_in(published=for_encryption) as provider:
        with pytest.raises(ProviderProblem, match="could not be verified"):
            await provider.sign_in(client_of(provider))


async def test_a_certificate_that_nobody_vouches_for_is_refused(tmp_path: Path) -> None:
    with structlog.testing.capture_logs() as lines:
        async with openid_stand_in(certificate(tmp_path, ["127.0.0.1"])) as provider:
            with pytest.raises(ProviderProblem, match="Example ID did not answer"):
                await client_of(provider).begin("oidc")

    assert [line["reason"] for line in lines] == ["SSLCertVerificationError"]
    assert provider.requests == []


async def test_variables_of_the_environment_redirect_nothing(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    eavesdropper = StandIn()
    netrc = tmp_path / "netrc"
    netrc.write_text("machine 127.0.0.1 login ada password hidden\n", encoding="utf-8")
    netrc.chmod(0o600)
    async with serving(eavesdropper), openid_stand_in() as provider:
        for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
            monkeypatch.setenv(name, eavesdropper.url)
        monkeypatch.setenv("NETRC", str(netrc))
        assert await provider.sign_in(client_of(provider))

    assert eavesdropper.requests == []
    discovery = next(each for each in provider.requests if each.target == WELL_KNOWN)
    assert "authorization" not in discovery.headers


async def test_a_redirect_is_not_followed() -> None:
    elsewhere = StandIn()
    async with serving(elsewhere), openid_stand_in(claims={"email": None}) as provider:
        provider.document["userinfo_endpoint"] = f"{provider.url}/userinfo"
        for path in (WELL_KNOWN, "/keys", "/token", "/userinfo"):
            for status in ("302 Found", "307 Temporary Redirect", "308 Permanent Redirect"):
                location = f"Location: {elsewhere.url}{path}\r\n"
                before = provider.answers.get(path)
                provider.answers[path] = http_answer({}, status, location)
                with pytest.raises(ProviderProblem, match="cannot use"):
                    await provider.sign_in(client_of(provider))
                if before:
                    provider.answers[path] = before
                else:
                    del provider.answers[path]

    assert elsewhere.requests == []
