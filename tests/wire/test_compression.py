"""Encodings of answers, and the address of a client."""

import gzip
from typing import Any

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from bowerbird.wire.auth import ClientAddresses, network_of
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


ADDRESSES = ClientAddresses("127.0.0.1, ::1, 10.0.0.0/8")


def scope(client: str | None, *forwarded: bytes) -> dict[str, Any]:
    headers = [(b"x-forwarded-for", value) for value in forwarded]
    return {"client": (client, 1) if client else None, "headers": headers}


@pytest.mark.parametrize(
    ("client", "forwarded", "found"),
    [
        ("192.0.2.7", [], "192.0.2.7"),
        # Anybody can send the header.
        ("192.0.2.7", [b"203.0.113.9"], "192.0.2.7"),
        ("127.0.0.1", [], "127.0.0.1"),
        ("127.0.0.1", [b"203.0.113.9"], "203.0.113.9"),
        ("::ffff:127.0.0.1", [b"203.0.113.9"], "203.0.113.9"),
        # The client made the first entry up; our proxies added the others.
        ("127.0.0.1", [b"1.1.1.1, 203.0.113.9, 10.2.3.4"], "203.0.113.9"),
        ("127.0.0.1", [b"1.1.1.1", b"203.0.113.9"], "203.0.113.9"),
        ("10.0.0.1", [b"nonsense"], "10.0.0.1"),
        ("10.0.0.1", [b"203.0.113.9, <script>"], "10.0.0.1"),
        ("10.0.0.1", [b"\xff"], "10.0.0.1"),
        # A zone names an interface of another machine, and can be any text.
        ("10.0.0.1", [b"fe80::1%<b>" + b"x" * 1_000], "fe80::1"),
        ("fe80::1%eth0", [], "fe80::1"),
        (None, [b"203.0.113.9"], ""),
        ("unix", [], ""),
    ],
)
def test_only_proxies_that_are_trusted_name_the_client(
    client: str | None, forwarded: list[bytes], found: str
) -> None:
    assert ADDRESSES.of(scope(client, *forwarded)) == found


def test_addresses_of_one_customer_count_as_one() -> None:
    assert network_of("2001:db8:1:2:aaaa::1") == network_of("2001:db8:1:2:bbbb::2")
    assert network_of("2001:db8:1:2::1") != network_of("2001:db8:1:3::1")
    assert network_of("192.0.2.7") == "192.0.2.7"
