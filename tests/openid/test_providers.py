"""Which providers the settings configure."""

import subprocess
import sys

import pytest

from bowerbird.openid.providers import configured
from bowerbird.settings import BadSetting, Settings

PAIRS = ("OIDC", "GOOGLE", "GITHUB", "X")


def read(**variables: str) -> Settings:
    return Settings.from_env({f"BOWERBIRD_{name}": value for name, value in variables.items()})


def everything() -> dict[str, str]:
    ids = {f"{name}_CLIENT_ID": f"id-of-{name}" for name in PAIRS}
    secrets = {f"{name}_CLIENT_SECRET": f"hidden-{name}" for name in PAIRS}
    return {**ids, **secrets, "OIDC_ISSUER": "https://id.example/a/", "OIDC_NAME": "Example ID"}


def test_each_provider_with_a_client_id_is_offered() -> None:
    providers = configured(read(**everything()))

    assert [(each.name, each.title, each.issuer) for each in providers] == [
        ("google", "Google", "https://accounts.google.com"),
        ("github", "GitHub", "https://github.com"),
        ("x", "X", "https://x.com"),
        ("oidc", "Example ID", "https://id.example/a/"),
    ]
    assert [each.client_secret for each in providers] == [
        *("hidden-GOOGLE", "hidden-GITHUB", "hidden-X", "hidden-OIDC"),
    ]
    assert "hidden" not in repr(providers)
    assert configured(Settings()) == ()


def test_a_github_enterprise_server_is_another_issuer() -> None:
    settings = read(
        GITHUB_CLIENT_ID="a", GITHUB_CLIENT_SECRET="b", GITHUB_URL="https://git.example/"
    )

    (provider,) = configured(settings)
    assert provider.issuer == "https://git.example"
    assert provider.endpoints is not None
    assert provider.endpoints.authorization == "https://git.example/login/oauth/authorize"
    assert provider.endpoints.user == "https://git.example/api/v3/user"


@pytest.mark.parametrize("name", PAIRS)
def test_id_and_secret_require_each_other(name: str) -> None:
    complete = everything()
    for missing, given in (("SECRET", "ID"), ("ID", "SECRET")):
        settings = {key: value for key, value in complete.items() if key.startswith(f"{name}_")}
        del settings[f"{name}_CLIENT_{missing}"]
        sentence = (
            f"BOWERBIRD_{name}_CLIENT_{missing} is empty; "
            f"BOWERBIRD_{name}_CLIENT_{given} requires it."
        )
        with pytest.raises(BadSetting, match=sentence):
            read(**settings)


def test_an_issuer_and_its_client_require_each_other() -> None:
    with pytest.raises(BadSetting, match=r"OIDC_ISSUER is empty; .*OIDC_CLIENT_ID requires it"):
        read(OIDC_CLIENT_ID="a", OIDC_CLIENT_SECRET="b")
    with pytest.raises(BadSetting, match=r"OIDC_CLIENT_ID is empty; .*OIDC_ISSUER requires it"):
        read(OIDC_ISSUER="https://id.example")


@pytest.mark.parametrize("name", ["OIDC_ISSUER", "GITHUB_URL"])
@pytest.mark.parametrize(
    "url",
    [
        *("http://id.example", "http://localhost.example", "id.example", "ftp://localhost"),
        *("https://user@id.example", "https://id.example?x", "https://id.example#x", "https://"),
        *("http://127.0.0.2", "https://id.example\\x", "https://id example", "http://[::1/"),
    ],
)
def test_an_address_without_tls_is_refused(name: str, url: str) -> None:
    with pytest.raises(BadSetting, match=f"BOWERBIRD_{name}=.* must be an https:// URL"):
        read(**{**everything(), name: url})


@pytest.mark.parametrize("name", ["OIDC_ISSUER", "GITHUB_URL"])
@pytest.mark.parametrize("url", ["https://id.example/a", "http://localhost:1", "http://127.0.0.1"])
def test_an_address_with_tls_or_on_this_machine_is_accepted(name: str, url: str) -> None:
    assert getattr(read(**{**everything(), name: url}), name.lower()) == url


@pytest.mark.parametrize("name", ["", " ", "a\nb", "x" * 41])
def test_a_name_that_no_button_can_show_is_refused(name: str) -> None:
    with pytest.raises(BadSetting, match=r"BOWERBIRD_OIDC_NAME=.* must be a name of 1 to 40"):
        read(OIDC_NAME=name)


def test_an_empty_address_of_github_is_refused() -> None:
    with pytest.raises(BadSetting, match="BOWERBIRD_GITHUB_URL is empty"):
        read(GITHUB_URL="")


def test_the_service_does_not_import_the_protocol_before_a_sign_in() -> None:
    code = (
        "import sys, bowerbird.openid.sign_in;"
        "assert not {'httpx2', 'authlib', 'joserfc', 'cryptography'} & set(sys.modules)"
    )

    subprocess.run([sys.executable, "-c", code], check=True)
