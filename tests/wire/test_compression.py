"""gzip and zstd: who gets which, and that it opens to the same bytes."""

import gzip

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from bowerbird.wire.responses import compression


@pytest.mark.parametrize(
    ("accepted", "encoding"),
    [
        (b"", ""),
        (b"identity", ""),
        (b"br, deflate", ""),
        (b"gzip", "gzip"),
        (b"zstd", "zstd"),
        (b"gzip, zstd", "zstd"),
        (b"gzip;q=1.0, zstd;q=0.5", "gzip"),
        (b"GZip ; Q=0.3", "gzip"),
        (b"*", "zstd"),
        (b"*;q=0.1, zstd;q=0", "gzip"),
        (b"gzip, *;q=0", "gzip"),
        (b"gzip;q=0", ""),
        (b"gzip;q=0, zstd;q=0", ""),
        (b"gzip;q=0.000", ""),
        (b"gzip;q=nonsense", ""),
        (b"gzip;q=nan", ""),
        (b"gzip;q=-1", ""),
        (b"xgzip, gzipx", ""),
    ],
)
def test_the_best_accepted_encoding_is_chosen(accepted: bytes, encoding: str) -> None:
    assert compression.chosen(accepted) == encoding


@given(st.binary(max_size=80))
def test_any_header_chooses_something(accepted: bytes) -> None:
    assert compression.chosen(accepted) in ("", "gzip", "zstd")


@given(st.binary(max_size=5000))
def test_what_is_compressed_opens_to_the_same_bytes(body: bytes) -> None:
    assert gzip.decompress(compression.compressed(body, "gzip")) == body
    assert zstandard.decompress(compression.compressed(body, "zstd")) == body


@pytest.mark.parametrize("encoding", ["gzip", "zstd"])
def test_the_same_bytes_compress_to_the_same_bytes(encoding: str) -> None:
    body = b"a bookmark " * 500

    first = compression.compressed(body, encoding)

    assert compression.compressed(body, encoding) == first
    assert len(first) < len(body) / 10
