"""Pictures by their bytes, and the hosts from which they come."""

import re
import struct
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bowerbird.images.formats import ImageFormat, format_of
from bowerbird.images.hosts import HOSTS, AllowedHosts, host_of, instance_of
from bowerbird.library.media.downloads import RETRIES_S
from bowerbird.settings import BadSetting, Settings
from tests.support.posts import pictures


@pytest.mark.parametrize(
    ("media_type", "content"),
    [
        ("image/jpeg", pictures.JPEG),
        ("image/png", pictures.png()),
        ("image/gif", pictures.GIF),
        ("image/webp", pictures.WEBP),
        ("image/webp", pictures.WEBP_LOSSLESS),
        ("image/webp", pictures.WEBP_EXTENDED),
        ("image/avif", pictures.AVIF),
    ],
)
def test_a_picture_has_its_type_and_size(media_type: str, content: bytes) -> None:
    assert format_of(content) == ImageFormat(media_type, 7, 5)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"<svg xmlns='http://www.w3.org/2000/svg' width='7' height='5'/>",
        b"<!doctype html><script>alert(1)</script>",
        b"%PDF-1.7",
        b"BM" + bytes(60),
        b"\xff\xd8\xff" + bytes(40),
        b"RIFF\0\0\0\0WAVEfmt " + bytes(40),
        b"\0\0\0\x20ftypisom" + bytes(40),
        pictures.png()[:20],
        pictures.AVIF[:60],
    ],
)
def test_other_bytes_are_no_picture(content: bytes) -> None:
    assert format_of(content) is None


def test_the_largest_part_of_an_avif_file_counts() -> None:
    small = struct.pack(">I4sIII", 20, b"ispe", 0, 7, 5)
    huge = struct.pack(">I4sIII", 20, b"ispe", 0, 60_000, 60_000)
    ipco = struct.pack(">I4s", 48, b"ipco") + small + huge
    iprp = struct.pack(">I4s", 56, b"iprp") + ipco
    meta = struct.pack(">I4sI", 68, b"meta", 0) + iprp

    found = format_of(b"\0\0\0\x10ftypavif\0\0\0\0" + meta)

    assert found == ImageFormat("image/avif", 60_000, 60_000)


SIGNATURES = [
    b"\xff\xd8\xff",
    b"\x89PNG\r\n\x1a\n",
    b"GIF89a",
    b"RIFF1234WEBP",
    b"\0\0\0\x10ftypavif",
]


@given(st.sampled_from([*SIGNATURES, pictures.JPEG[:200], pictures.AVIF[:100]]), st.binary())
def test_any_bytes_are_read_without_an_error(start: bytes, rest: bytes) -> None:
    found = format_of(start + rest)

    assert found is None or (found.width > 0 and found.height > 0)


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
