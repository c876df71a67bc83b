"""gzip and zstd: the choice of the encoding, and lossless compression."""

import gzip

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from bowerbird.wire.responses import answer_cache


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
    assert answer_cache.chosen(accepted) == encoding


@given(st.binary(max_size=80))
def test_any_accept_encoding_header_is_handled(accepted: bytes) -> None:
    assert answer_cache.chosen(accepted) in ("", "gzip", "zstd")


@given(st.binary(max_size=5000))
def test_decompressing_returns_the_original_bytes(body: bytes) -> None:
    assert gzip.decompress(answer_cache.compressed(body, "gzip")) == body
    assert zstandard.decompress(answer_cache.compressed(body, "zstd")) == body


@pytest.mark.parametrize("encoding", ["gzip", "zstd"])
def test_compression_is_deterministic(encoding: str) -> None:
    body = b"a bookmark " * 500

    first = answer_cache.compressed(body, encoding)

    assert answer_cache.compressed(body, encoding) == first
    assert len(first) < len(body) / 10
