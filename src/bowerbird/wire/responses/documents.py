"""Public documents: the same for everyone, cacheable, and readable by any web page."""

import hashlib
from functools import lru_cache
from typing import Final

from msgspec import Struct

from bowerbird.wire.responses import answer_cache
from bowerbird.wire.responses.answer_cache import RequestTarget, is_among
from bowerbird.wire.responses.replies import Header, Reply

METHODS: Final = b"GET, HEAD, OPTIONS"
HOUR_S: Final = 3_600
FOREVER: Final = b"public, max-age=31536000, immutable"
# Tool clients send their own headers here too, and browsers check each in a preflight.
_PREFLIGHT: Final[list[Header]] = [
    (b"allow", METHODS),
    (b"access-control-allow-origin", b"*"),
    (b"access-control-allow-methods", METHODS),
    (b"access-control-allow-headers", b"*, Authorization"),
    (b"access-control-max-age", b"86400"),
]
_OPEN: Final[list[Header]] = [
    (b"access-control-allow-origin", b"*"),
    (b"access-control-expose-headers", b"ETag"),
    (b"cross-origin-resource-policy", b"cross-origin"),
    (b"x-content-type-options", b"nosniff"),
]


class Document(Struct, frozen=True):
    body: bytes
    media_type: str
    cache_control: bytes = b"public, max-age=%d" % HOUR_S

    def answer(self, target: RequestTarget) -> Reply:
        encoding = answer_cache.chosen(target.accept_encoding)
        if len(self.body) < answer_cache.LEAST_BYTES:
            encoding = ""
        body, tag = _encoded(self.body, encoding)
        headers = [
            (b"etag", tag),
            (b"cache-control", self.cache_control),
            (b"vary", b"Accept-Encoding"),
            *_OPEN,
        ]
        if is_among(tag, target.if_none_match):
            return Reply(304, headers)
        if encoding:
            headers.append((b"content-encoding", encoding.encode()))
        headers.append((b"content-type", self.media_type.encode()))
        return Reply(200, headers, body)


def preflight() -> Reply:
    return Reply(204, list(_PREFLIGHT))


@lru_cache(maxsize=128)
def _encoded(body: bytes, encoding: str) -> tuple[bytes, bytes]:
    """The encoded bytes and their ETag. A strong ETag belongs to one encoding."""
    sent = answer_cache.compressed_once(body, encoding) if encoding else body
    text = encoding.encode() + b"\0" + body
    return sent, b'"%b"' % hashlib.blake2b(text, digest_size=16).hexdigest().encode()
