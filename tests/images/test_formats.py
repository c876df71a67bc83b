"""The type and size of an image come from its bytes, and nothing else is an image."""

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bowerbird.images.formats import ImageFormat, format_of
from tests.support import pictures


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
