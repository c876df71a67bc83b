"""The table of hosts: what is allowed, and that the documentation has the same."""

import re
from pathlib import Path

import pytest

from bowerbird.images.hosts import HOSTS, AllowedHosts, host_of, instance_of
from bowerbird.library.media.downloads import RETRIES_S
from bowerbird.settings import BadSetting, Settings

PAGE = (Path(__file__).parents[2] / "docs" / "library.md").read_text(encoding="utf-8")


def test_the_documentation_has_the_same_hosts() -> None:
    stated = re.findall(r"^\| (X|Bluesky|YouTube|Reddit) \| (.+) \|$", PAGE, re.MULTILINE)

    assert {name.lower(): tuple(re.findall(r"`([^`]+)`", row)) for name, row in stated} == HOSTS


def test_the_pauses_between_attempts_grow_for_a_week() -> None:
    assert "with growing pauses for a week" in PAGE
    assert sorted(RETRIES_S) == list(RETRIES_S)
    assert 7 <= sum(RETRIES_S) / 86_400 < 8


def test_an_operator_can_allow_further_hosts() -> None:
    allowed = AllowedHosts.of(Settings(media_hosts=" files.Example.social, cdn.example.net"))

    assert allowed.has("files.example.social", "")
    assert allowed.has("cdn.example.net", "")
    assert not allowed.has("example.net", "")
    assert not allowed.has("evil.cdn.example.net", "")


@pytest.mark.parametrize(
    "values",
    [
        {"BOWERBIRD_KEEP_MEDIA": "yes"},
        {"BOWERBIRD_MEDIA_QUOTA_MB": "0"},
        {"BOWERBIRD_MEDIA_HOSTS": "127.0.0.1"},
        {"BOWERBIRD_MEDIA_HOSTS": "localhost"},
        {"BOWERBIRD_MEDIA_HOSTS": "https://files.example.social"},
        {"BOWERBIRD_MEDIA_HOSTS": "*.example.social"},
    ],
)
def test_other_values_are_refused(values: dict[str, str]) -> None:
    with pytest.raises(BadSetting, match=next(iter(values))):
        Settings.from_env(values)


@pytest.mark.parametrize(
    ("source", "link", "instance"),
    [
        ("mastodon", "https://Hachyderm.io/@ada/1", "hachyderm.io"),
        ("mastodon", "https://127.0.0.1/@ada/1", ""),
        ("mastodon", "https://localhost/@ada/1", ""),
        ("mastodon", "http://hachyderm.io/@ada/1", ""),
        ("x", "https://x.com/ada/status/1", ""),
        ("", "", ""),
    ],
)
def test_only_a_post_of_mastodon_has_a_server_of_its_own(
    source: str, link: str, instance: str
) -> None:
    assert instance_of(source, link) == instance


def test_the_host_of_an_unusual_url_is_nothing() -> None:
    for url in ("https://a.example:8443/", "https://u@a.example/", "https://[", "ftp://a.example/"):
        assert host_of(url) == ""
