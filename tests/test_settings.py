"""Settings of the right type that cannot work are refused at the start, with a sentence."""

import pytest

from bowerbird.settings import BadSetting, Settings

ADDRESSES = ("BASE_URL", "SITE_URL", "MCP_URL", "EMBEDDING_URL", "INTRO_URL", "FILES_S3_ENDPOINT")
KEYS = ("EMBEDDING_KEY", "INTRO_KEY", "FILES_S3_KEY_ID", "FILES_S3_SECRET")


@pytest.mark.parametrize("name", ADDRESSES)
@pytest.mark.parametrize(
    "value",
    [
        *("localhost", "ftp://localhost", "http://", "http://:8080/v1"),
        *("http://localhost:abc/v1", "http://localhost:99999/v1", "http://localhost:0"),
        *("http://[::1/v1", "http://host name/v1", "http://localhost/v1\n"),
    ],
)
def test_what_is_no_address_is_refused(name: str, value: str) -> None:
    with pytest.raises(BadSetting, match=f"BOWERBIRD_{name}=.*is not an http"):
        Settings.from_env({f"BOWERBIRD_{name}": value})


@pytest.mark.parametrize("name", ADDRESSES)
@pytest.mark.parametrize(
    "value", ["http://localhost:11434/v1", "https://[::1]:8080", "https://api.example.com/v1"]
)
def test_an_address_is_taken(name: str, value: str) -> None:
    more = {"BOWERBIRD_INTRO_MODEL": "any"}
    settings = Settings.from_env({f"BOWERBIRD_{name}": value, **more})

    assert getattr(settings, name.lower()) == value


@pytest.mark.parametrize("name", KEYS)
@pytest.mark.parametrize("value", ["schlüssel", "two words", "a\nb", "tab\t", "\x7f"])
def test_a_key_that_no_header_takes_is_refused_without_telling_it(name: str, value: str) -> None:
    with pytest.raises(BadSetting, match=f"BOWERBIRD_{name} contains characters that") as refused:
        Settings.from_env({f"BOWERBIRD_{name}": value})

    assert value not in str(refused.value)
