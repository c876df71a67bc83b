"""Connections to providers: to nobody else, and only to those with a valid certificate."""

from pathlib import Path

import pytest
import structlog

from bowerbird.openid.providers import configured
from bowerbird.openid.sign_in import OpenIdClient, ProviderProblem
from tests.support.provider_standins import (
    REDIRECT_URL,
    WELL_KNOWN,
    OpenIdStandIn,
    StandIn,
    http_answer,
    openid_stand_in,
    serving,
)
from tests.support.smtp import self_signed

pytestmark = pytest.mark.anyio


def client_of(provider: OpenIdStandIn) -> OpenIdClient:
    return OpenIdClient(configured(provider.settings()), REDIRECT_URL.format, provider.clock)


async def test_a_certificate_that_nobody_vouches_for_is_refused(tmp_path: Path) -> None:
    with structlog.testing.capture_logs() as lines:
        async with openid_stand_in(self_signed(tmp_path, "127.0.0.1")) as provider:
            with pytest.raises(ProviderProblem, match="Example ID did not answer"):
                await client_of(provider).begin("oidc")

    assert [line["reason"] for line in lines] == ["ConnectError"]
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
