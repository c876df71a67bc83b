"""Reads requests from the bytes of a connection, with llhttp as the parser."""

from collections.abc import Callable, Sequence
from typing import Final, NoReturn, Protocol

import httptools
from msgspec import Struct
from starlette.types import Scope

from bowerbird.errors import Refusal
from bowerbird.http1 import bounds, refusals, targets

_VERSIONS: Final = ("1.1", "1.0")
_FRAMING: Final = (b"content-length", b"transfer-encoding")
# Sizes of chunks and fields after a body are read too, and must not go on for ever. Tiny chunks
# cost as much to parse as large ones.
_FREE_FRAMING_BYTES: Final = 256 * 1024
_MAX_FRAMING_RATIO: Final = 4
_FREE_CHUNKS: Final = 64
_MIN_CHUNK_BYTES: Final = 64


class RequestHead(Struct, frozen=True):
    """A request without its body."""

    scope: Scope
    # The connection is closed after the answer.
    closes: bool
    # The client sends the body after "100 Continue".
    expects_continue: bool


class Body(Protocol):
    """Where the body of the request goes that is being read."""

    def add_body(self, piece: bytes) -> None: ...
    def end_body(self) -> None: ...


class RequestReader:
    """Finds requests in what it is fed. The `on_` methods are called by the parser."""

    def __init__(self, begin: Callable[[RequestHead], Body]) -> None:
        self._begin = begin
        self._parser = httptools.HttpRequestParser(self)
        self._target = b""
        self._headers: list[tuple[bytes, bytes]] = []
        # Bytes of the head that is being read; 0 between requests.
        self.head_bytes = 0
        self.body: Body | None = None
        self._received = 0
        self._content = 0
        self._chunks = 0
        # The parser takes the body of a request for an upgrade as foreign data. It gets a second
        # head, without the upgrade, to read that body with.
        self._upgrading: Body | None = None
        self._is_second_head = False
        self._refusal: Refusal | None = None

    @property
    def headers(self) -> Sequence[tuple[bytes, bytes]]:
        """The headers of the request that is being read, as far as they have arrived."""
        return self._headers

    @property
    def path(self) -> str:
        """The path of the request that is being read, as far as it has arrived."""
        try:
            return targets.split(self._target)[0]
        except targets.BadTarget:
            return ""

    def feed(self, data: bytes) -> None:
        """Raises Refusal if the data is not a request, or one that is too large."""
        if self.body is None:
            self.head_bytes += len(data)
        self._received += len(data)
        self._parse_all(data)
        if self.body is None and self.head_bytes > bounds.MAX_HEAD_BYTES:
            raise refusals.too_large_head()
        if self._received > _FREE_FRAMING_BYTES + self._content * _MAX_FRAMING_RATIO:
            raise refusals.too_much_framing()

    def _parse_all(self, data: bytes) -> None:
        try:
            while data:
                data = self._parse(data)
        except httptools.HttpParserError as error:
            self._target = self._target or refusals.target_after_unknown_method(data)
            raise self._refusal or refusals.not_http(error, data) from None

    def _parse(self, data: bytes) -> bytes:
        """Returns what is left to parse."""
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserUpgrade as upgrade:
            self._read_without_upgrade()
            return data[upgrade.args[0] :]
        return b""

    def _read_without_upgrade(self) -> None:
        self.body, self._upgrading = self._upgrading, None
        framing = [b"%b: %b\r\n" % header for header in self._headers if header[0] in _FRAMING]
        self._parser = httptools.HttpRequestParser(self)
        self._is_second_head = True
        self._parser.feed_data(
            b"POST / HTTP/1.1\r\n%b\r\n" % (b"".join(framing) or b"content-length: 0\r\n")
        )

    def on_message_begin(self) -> None:
        if not self._is_second_head:
            self._target, self._headers = b"", []
            self._received = self._content = self._chunks = 0
            self.head_bytes = self.head_bytes or 1

    def on_url(self, url: bytes) -> None:
        # Called once for each part of a URL that arrives in several pieces.
        self._target += url

    def on_header(self, name: bytes, value: bytes) -> None:
        # Fields after a chunked body are not kept.
        if self.body is None and not self._is_second_head:
            if len(self._headers) >= bounds.MAX_HEADERS:
                self._stop(refusals.too_many_headers())
            # The parser leaves blanks after a value, which are not part of it.
            self._headers.append((name.lower(), value.rstrip(b" \t")))

    def on_headers_complete(self) -> None:
        if self._is_second_head:
            self._is_second_head = False
            return
        try:
            body = self._begin(self._head())
        except Refusal as refusal:
            self._stop(refusal)
        self.head_bytes = 0
        if self._parser.should_upgrade():
            self._upgrading = body
        else:
            self.body = body

    def on_chunk_header(self) -> None:
        self._chunks += 1
        if self._chunks > _FREE_CHUNKS + self._content // _MIN_CHUNK_BYTES:
            self._stop(refusals.too_much_framing())

    def on_body(self, piece: bytes) -> None:
        self._content += len(piece)
        if self.body is not None:
            self.body.add_body(piece)

    def on_message_complete(self) -> None:
        if self.body is not None:
            self.body.end_body()
            self.body = None

    def _stop(self, refusal: Refusal) -> NoReturn:
        """Ends the parsing. The parser replaces exceptions of its callbacks by its own."""
        self._refusal = refusal
        raise refusal

    def _head(self) -> RequestHead:
        version = self._parser.get_http_version()
        if version not in _VERSIONS:
            raise refusals.invalid("This server speaks HTTP/1.1.")
        expects_continue = self._check_headers(version)
        closes = version == "1.0" or not self._parser.should_keep_alive()
        return RequestHead(self._scope(version), closes, expects_continue)

    def _check_headers(self, version: str) -> bool:
        """Whether the client waits for "100 Continue"."""
        size, hosts, codings, expects_continue = len(self._target), 0, [], False
        # One pass, because every request takes it.
        for name, value in self._headers:
            size += len(name) + len(value)
            if name == b"host":
                hosts += 1
            elif name == b"transfer-encoding":
                codings.append(value.lower())
            elif name == b"expect":
                expects_continue |= value.lower() == b"100-continue"
        if size > bounds.MAX_HEAD_BYTES:
            raise refusals.too_large_head()
        if codings and (codings != [b"chunked"] or version == "1.0"):
            raise refusals.invalid("The only Transfer-Encoding is chunked, in HTTP/1.1.")
        if version == "1.1" and hosts != 1:
            raise refusals.invalid("The request must have exactly one Host header.")
        return expects_continue

    def _scope(self, version: str) -> Scope:
        try:
            path, raw_path, query = targets.split(self._target)
        except targets.BadTarget:
            raise refusals.invalid("The request's URL must be a path that starts with /.") from None
        return {
            "type": "http",
            "asgi": {"version": "3.0", "spec_version": "2.3"},
            "http_version": version,
            "method": self._parser.get_method().decode(),
            "scheme": "http",
            "root_path": "",
            "path": path,
            "raw_path": raw_path,
            "query_string": query,
            "headers": self._headers,
        }
