"""What the server refuses by itself, answered in the same form as by the rest of the service."""

import re
from collections.abc import Sequence
from typing import Final

import structlog
from httptools import HttpParserInvalidMethodError
from starlette.types import Send

from bowerbird.errors import Code, Refusal
from bowerbird.http1 import bounds
from bowerbird.wire.pipeline import RequestIds
from bowerbird.wire.responses import envelope

# The parser knows only registered methods, so these requests never reach a route.
_ALLOWED: Final = "GET, HEAD, POST, PATCH, DELETE, OPTIONS"
_UNKNOWN_METHOD: Final = re.compile(rb"[A-Za-z][A-Za-z-]{0,31} ((?:/|\*|https?://)[^ \r\n]*)")


class Refusals:
    """Writes refusals to connections that have no request for the application."""

    def __init__(self, upgrade_url: str) -> None:
        self._upgrade_url = upgrade_url
        self._ids = RequestIds()

    async def send(
        self,
        refusal: Refusal,
        send: Send,
        path: str,
        sent_headers: Sequence[tuple[bytes, bytes]] = (),
    ) -> None:
        """`path` and `sent_headers` are those of the request, as far as they were read."""
        reply = envelope.unrouted(refusal, self._upgrade_url, path)
        request_id = self._ids.of(dict(sent_headers))
        # Never the sentence of another layer, and nothing that the client sent.
        structlog.get_logger().info(
            "request refused", id=request_id, status=reply.status, reason=refusal.sentence
        )
        headers = [*reply.headers, (b"x-request-id", request_id.encode())]
        await send({"type": "http.response.start", "status": reply.status, "headers": headers})
        await send({"type": "http.response.body", "body": reply.body})

    def new_id(self) -> str:
        return self._ids.of({})


def invalid(sentence: str) -> Refusal:
    return Refusal(Code.INVALID_REQUEST, sentence)


def target_after_unknown_method(head: bytes) -> bytes:
    """The parser stops at the method, before the target."""
    found = _UNKNOWN_METHOD.match(head)
    return b"" if found is None else found[1]


def not_http(error: Exception, head: bytes) -> Refusal:
    """`head`: what the parser has read."""
    if isinstance(error, HttpParserInvalidMethodError) and _UNKNOWN_METHOD.match(head):
        return Refusal(
            Code.METHOD_NOT_ALLOWED,
            f"The method of the request is unknown. Known methods: {_ALLOWED}.",
            {"Allow": _ALLOWED},
        )
    if "PRI" in str(error):
        return invalid("This port speaks HTTP/1.1 and not HTTP/2.")
    # The parser's words are fixed; they never repeat what the client sent.
    return invalid(f"The request is not valid HTTP/1.1: {error}.")


def too_large_head() -> Refusal:
    size = bounds.MAX_HEAD_BYTES // 1024
    return invalid(f"The request's URL and headers are larger than {size} KiB.")


def too_many_headers() -> Refusal:
    return invalid(f"The request has more than {bounds.MAX_HEADERS} headers.")


def too_many_at_once() -> Refusal:
    return invalid(
        f"More than {bounds.MAX_PIPELINED} requests were sent without waiting for an answer."
    )


def too_much_framing() -> Refusal:
    return invalid("The body has too many bytes that are not content.")


def late(part: str, limit_s: float) -> Refusal:
    unit = "second" if limit_s == 1 else "seconds"
    return invalid(f"The request's {part} took longer than {limit_s:g} {unit} to arrive.")


def no_memory() -> Refusal:
    return Refusal(
        Code.SERVICE_UNAVAILABLE,
        "The server is receiving too many requests with large bodies. Retry later.",
        {"Retry-After": "5"},
    )


def no_room() -> Refusal:
    return Refusal(
        Code.SERVICE_UNAVAILABLE,
        "The server has no room for another connection. Retry later.",
        {"Retry-After": "1"},
    )
