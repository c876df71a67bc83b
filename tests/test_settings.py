"""Settings of the right type that cannot work are refused at the start, with a sentence."""

import itertools
import re
from pathlib import Path

import pytest

from bowerbird.settings import BadSetting, Settings
from tests.support.offenders import Offenders

ADDRESSES = ("BASE_URL", "SITE_URL", "MCP_URL", "EMBEDDING_URL", "INTRO_URL", "FILES_S3_ENDPOINT")
KEYS = (
    *("EMBEDDING_KEY", "INTRO_KEY", "FILES_S3_KEY_ID", "FILES_S3_SECRET"),
    *("OIDC_CLIENT_ID", "OIDC_CLIENT_SECRET", "GOOGLE_CLIENT_ID", "GOOGLE_CLIENT_SECRET"),
    *("GITHUB_CLIENT_ID", "GITHUB_CLIENT_SECRET", "X_CLIENT_ID", "X_CLIENT_SECRET"),
)


NO_ADDRESSES = (
    *("localhost", "ftp://localhost", "http://", "http://:8080/v1"),
    *("http://localhost:abc/v1", "http://localhost:99999/v1", "http://localhost:0"),
    *("http://[::1/v1", "http://host name/v1", "http://localhost/v1\n"),
)


def test_an_invalid_address_is_refused() -> None:
    offenders = Offenders()
    for name, value in itertools.product(ADDRESSES, NO_ADDRESSES):
        with (
            offenders.check((name, value)),
            pytest.raises(BadSetting, match=f"BOWERBIRD_{name}=.*is not an http"),
        ):
            Settings.from_env({f"BOWERBIRD_{name}": value})

    assert offenders == {}


def test_a_valid_address_is_accepted() -> None:
    more = {"BOWERBIRD_INTRO_MODEL": "any"}
    valid = ("http://localhost:11434/v1", "https://[::1]:8080", "https://api.example.com/v1")
    offenders = Offenders()
    for name, value in itertools.product(ADDRESSES, valid):
        if name == "BASE_URL" and value.endswith("/v1"):
            continue
        with offenders.check((name, value)):
            settings = Settings.from_env({f"BOWERBIRD_{name}": value, **more})
            assert getattr(settings, name.lower()) == value

    assert offenders == {}


@pytest.mark.parametrize("value", ["https://x.example/v1", "https://x.example/api/v1/"])
def test_the_base_url_is_refused_with_the_path_that_links_add_to_it(value: str) -> None:
    with pytest.raises(BadSetting) as refused:
        Settings.from_env({"BOWERBIRD_BASE_URL": value})

    assert str(refused.value) == (
        f"BOWERBIRD_BASE_URL={value!r} ends in /v1. Leave that out: links in responses add it."
    )
    assert Settings.from_env({"BOWERBIRD_MCP_URL": value}).mcp_url == value


def test_an_empty_data_folder_is_refused() -> None:
    with pytest.raises(BadSetting) as refused:
        Settings.from_env({"BOWERBIRD_DATA_DIR": ""})

    assert str(refused.value) == (
        "BOWERBIRD_DATA_DIR is empty. Leave it out for the folder data, or set it to . for the "
        "current folder."
    )
    assert Settings.from_env({"BOWERBIRD_DATA_DIR": "."}).data_dir == Path()


def test_admin_ports_of_several_processes_above_65535_are_refused() -> None:
    with pytest.raises(BadSetting) as refused:
        Settings.from_env({"BOWERBIRD_ADMIN_PORT": "65535", "BOWERBIRD_WORKERS": "2"})

    assert str(refused.value) == (
        "BOWERBIRD_ADMIN_PORT=65535 is too large for BOWERBIRD_WORKERS=2: each server process has "
        "an admin port of its own, so the maximum is 65534."
    )


def test_a_key_that_no_header_takes_is_refused_and_not_quoted() -> None:
    invalid = ("schlüssel", "two words", "a\nb", "tab\t", "\x7f")
    offenders = Offenders()
    for name, value in itertools.product(KEYS, invalid):
        sentence = f"BOWERBIRD_{name} contains characters that"
        with offenders.check((name, value)):
            with pytest.raises(BadSetting, match=sentence) as refused:
                Settings.from_env({f"BOWERBIRD_{name}": value})
            assert value not in str(refused.value)

    assert offenders == {}


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("BOWERBIRD_SIGNUP_PLAN", "was replaced by BOWERBIRD_DEFAULT_PLAN"),
        ("BOWERBIRD_HTTP2_PORT", "was removed; a proxy reaches the service over HTTP/1.1 only"),
    ],
)
def test_a_former_setting_is_refused_with_the_reason(name: str, reason: str) -> None:
    with pytest.raises(BadSetting) as refused:
        Settings.from_env({name: "0"})

    assert str(refused.value) == f"{name} {reason}. See docs/settings.md."


def test_new_accounts_are_pro_and_made_by_the_operator_unless_the_settings_say_otherwise() -> None:
    settings = Settings.from_env({})
    assert (settings.default_plan, settings.sign_up) == ("pro", "closed")

    hosted = Settings.from_env({"BOWERBIRD_DEFAULT_PLAN": "free", "BOWERBIRD_SIGN_UP": "open"})
    assert (hosted.default_plan, hosted.sign_up) == ("free", "open")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("SANDBOX", "maybe"),
        ("LOG_FORMAT", "xml"),
        ("DEFAULT_PLAN", "gold"),
        ("DEFAULT_PLAN", ""),
        ("SIGN_UP", "on"),
        ("SIGN_UP", "invitation"),
    ],
)
def test_a_value_that_is_none_of_the_choices_is_refused(name: str, value: str) -> None:
    with pytest.raises(BadSetting, match=f"BOWERBIRD_{name}"):
        Settings.from_env({f"BOWERBIRD_{name}": value})


@pytest.mark.parametrize("value", ["", "10.0.0.0/8", "10.0.0.1, 2001:db8::/32", "10.0.0.7/8"])
def test_trusted_proxies_are_addresses_and_networks(value: str) -> None:
    assert Settings.from_env({"BOWERBIRD_TRUSTED_PROXIES": value}).trusted_proxies == value


@pytest.mark.parametrize("value", ["proxy.example.org", "10.0.0.0/33", "10.0.0.1 10.0.0.2", "*"])
def test_a_trusted_proxy_that_is_no_address_is_refused(value: str) -> None:
    with pytest.raises(BadSetting, match=r"BOWERBIRD_TRUSTED_PROXIES: .* is not an IP"):
        Settings.from_env({"BOWERBIRD_TRUSTED_PROXIES": value})


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("SOURCES_KEY", "swordfish"),
        ("SOURCES_PRIVATE_HOSTS", "mastodon.lan, http://localhost"),
        ("SOURCES_PRIVATE_HOSTS", "localhost:0"),
        ("X_API_URL", "http://api.example.com"),
        ("X_API_URL", ""),
    ],
)
def test_settings_of_sources_that_cannot_work_are_refused(name: str, value: str) -> None:
    with pytest.raises(BadSetting, match=f"BOWERBIRD_{name}") as refused:
        Settings.from_env({f"BOWERBIRD_{name}": value})

    assert name != "SOURCES_KEY" or value not in str(refused.value)


def test_settings_of_sources_are_accepted() -> None:
    hosts = "mastodon.lan, localhost:3000, 10.0.0.7:8443"
    Settings.from_env(
        {
            "BOWERBIRD_SOURCES_KEY": "k" * 32,
            "BOWERBIRD_SOURCES_PRIVATE_HOSTS": hosts,
            "BOWERBIRD_X_API_URL": "http://127.0.0.1:9000",
        }
    )


@pytest.mark.parametrize("value", ["https://a:b@x.example", "https://x.example/?a", "http://a/#b"])
@pytest.mark.parametrize("name", ["BASE_URL", "SITE_URL", "MCP_URL"])
def test_the_beginning_of_links_has_nothing_that_a_path_cannot_follow(
    name: str, value: str
) -> None:
    with pytest.raises(BadSetting, match="no user name, query or fragment"):
        Settings.from_env({f"BOWERBIRD_{name}": value})


@pytest.mark.parametrize("value", ["https://[::1", "s3://", "file://host/a", "s3://a/b?c"])
def test_files_cannot_be_anywhere(value: str) -> None:
    with pytest.raises(BadSetting, match="must be s3://bucket/prefix or file:///a/path"):
        Settings.from_env({"BOWERBIRD_FILES_URL": value})


@pytest.mark.parametrize("name", ["FREE_CALLS_PER_MONTH", "SQLITE_MAPPED_MB", "MEDIA_QUOTA_MB"])
def test_a_number_that_no_database_can_store_is_refused(name: str) -> None:
    with pytest.raises(BadSetting, match=f"{name}=9999999999999 is too large; the maximum is 8796"):
        Settings.from_env({f"BOWERBIRD_{name}": "9999999999999"})


def test_a_data_folder_that_is_a_file_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "library"
    file.write_bytes(b"")

    with pytest.raises(BadSetting, match="library is a file, not a folder"):
        Settings.from_env({"BOWERBIRD_DATA_DIR": str(file)})


def test_a_mistyped_number_of_processes_is_refused() -> None:
    assert Settings.from_env({"BOWERBIRD_WORKERS": "64"}).workers == 64
    with pytest.raises(BadSetting, match="WORKERS=65 is too large; the maximum is 64"):
        Settings.from_env({"BOWERBIRD_WORKERS": "65"})


@pytest.mark.parametrize(
    ("environment", "problem"),
    [
        (
            {"DATABASE_URL": "postgresql://a/b", "DATABASE_READ_URL": "mysql://a/b"},
            "BOWERBIRD_DATABASE_READ_URL must start with postgresql://",
        ),
        (
            {"DATABASE_READ_URL": "postgresql://a/b"},
            "BOWERBIRD_DATABASE_READ_URL requires BOWERBIRD_DATABASE_URL.",
        ),
    ],
)
def test_a_replica_needs_an_address_and_a_primary(
    environment: dict[str, str], problem: str
) -> None:
    named = {f"BOWERBIRD_{name}": value for name, value in environment.items()}
    with pytest.raises(BadSetting, match=re.escape(problem)):
        Settings.from_env(named)
