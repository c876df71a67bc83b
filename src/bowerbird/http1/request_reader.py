"""Reads requests from the bytes of a connection. llhttp parses their heads."""

import re
from collections.abc import Callable, Sequence
from typing import Final, NoReturn, Protocol
from urllib.parse import unquote_to_bytes

import httptools
from msgspec import Struct
from starlette.types import Scope

from bowerbird.errors import Refusal
from bowerbird.http1 import bounds, refusals
from bowerbird.http1.framing import BodyReader, ChunkReader, SizedReader

_SCHEMES: Final = (b"http://", b"https://")
# Of the characters that RFC 3986 allows in a name, only those that names have. A comma could join
# two names.
_HOST: Final = re.compile(rb"(?:[A-Za-z0-9._~%-]*|\[[0-9A-Fa-f:.]+\])(?::[0-9]{0,5})?")


class BadTarget(ValueError):  # noqa: N818 - named for what it is
    """The target is not one that this server answers."""


def is_host(text: bytes) -> bool:
    """Whether the text is a name or an address, with a port or without. It may be empty."""
    return _HOST.fullmatch(text) is not None


def authority_of(target: bytes) -> bytes:
    """The host of a target that is a whole URL, and "" of another."""
    return _split_authority(target)[0]


def split(target: bytes) -> tuple[str, bytes, bytes]:
    """The decoded path, the path as sent, and the query."""
    if b"#" in target or not target.startswith(b"/"):
        target = _split_authority(target)[1].partition(b"#")[0]
    raw_path, _, query = target.partition(b"?")
    if b"%" in raw_path:
        # Bytes that are not UTF-8 become a character that no path contains.
        return unquote_to_bytes(raw_path).decode("utf-8", "replace"), raw_path, query
    return raw_path.decode("ascii", "replace"), raw_path, query


def _split_authority(target: bytes) -> tuple[bytes, bytes]:
    """The host, and the target as a path."""
    if target.startswith(b"/") or target == b"*":
        return b"", target
    # Clients send the whole URL to a proxy.
    for scheme in _SCHEMES:
        if target[: len(scheme)].lower() == scheme:
            rest = target[len(scheme) :]
            ends = [at for at in (rest.find(mark) for mark in (b"/", b"?", b"#")) if at >= 0]
            end = min(ends, default=len(rest))
            host, path = rest[:end], rest[end:]
            if not host or not is_host(host):
                raise BadTarget
            return host, path if path.startswith(b"/") else b"/" + path
    raise BadTarget


_END_OF_HEAD: Final = b"\r\n\r\n"
_LINE_BREAKS: Final = b"\r\n"


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
    """Finds requests in what it is fed. The `on_` methods are called by the parser.

    The parser gets one head at a time. Bodies are read here, so that the first byte of every
    request is known, and its line can be checked as it was sent.
    """

    def __init__(self, begin: Callable[[RequestHead], Body]) -> None:
        self._begin = begin
        self._parser = httptools.HttpRequestParser(self)
        self._target = b""
        self._headers: list[tuple[bytes, bytes]] = []
        # Bytes of the head that is being read, and of empty lines before it; 0 between requests.
        self.head_bytes = 0
        self._seen = b""
        self.body: Body | None = None
        self._framing: BodyReader | None = None
        self._is_chunked = False
        self._length = 0
        # Those of the last request, which need no second check.
        self._valid_hosts: list[bytes] | None = None
        # No other request follows.
        self._is_last = False
        self._refusal: Refusal | None = None

    @property
    def headers(self) -> Sequence[tuple[bytes, bytes]]:
        """The headers of the request that is being read, as far as they have arrived."""
        return self._headers

    @property
    def path(self) -> str:
        """The path of the request that is being read, as far as it has arrived."""
        try:
            return split(self._target)[0]
        except BadTarget:
            return ""

    def feed(self, data: bytes) -> None:
        """Raises Refusal if the data is not a request, or one that is too large."""
        at = 0
        while at < len(data):
            if self.body is not None:
                at = self._read_body(self.body, data, at)
            elif self._is_last:
                return
            else:
                at = self._read_head(data, at)

    def _read_head(self, data: bytes, at: int) -> int:
        if not self._seen:
            if data[at] in _LINE_BREAKS:
                return self._skip_empty_lines(data, at)
            self._target, self._headers = b"", []
        piece = data[at:]
        start = len(self._seen)
        self._seen += piece
        # The end may have begun in what came before.
        end = self._seen.find(_END_OF_HEAD, start and max(start - 3, 0))
        if end >= 0:
            piece = piece[: end + len(_END_OF_HEAD) - start]
        self.head_bytes += len(piece)
        self._parse(piece)
        if self.body is not None:
            self._end_head(self.body)
        self._check_size()
        return at + len(piece)

    def _skip_empty_lines(self, data: bytes, at: int) -> int:
        end = len(data) - len(data[at:].lstrip(_LINE_BREAKS))
        self.head_bytes += end - at
        self._check_size()
        return end

    def _parse(self, piece: bytes) -> None:
        try:
            self._parser.feed_data(piece)
        except httptools.HttpParserUpgrade:
            # The offer is ignored. This parser would take what follows for another protocol.
            self._parser = httptools.HttpRequestParser(self)
        except httptools.HttpParserError as error:
            self._target = self._target or refusals.target_after_unknown_method(self._seen)
            raise self._refusal or refusals.not_http(error, self._seen) from None

    def _check_size(self) -> None:
        if self.head_bytes > bounds.MAX_HEAD_BYTES:
            raise refusals.too_large_head()

    def _end_head(self, body: Body) -> None:
        self.head_bytes, self._seen = 0, b""
        if self._is_chunked:
            self._framing = ChunkReader(body.add_body)
        elif self._length:
            self._framing = SizedReader(body.add_body, self._length)
        else:
            self.body = None
            body.end_body()
            return
        # This parser would expect the body.
        self._parser = httptools.HttpRequestParser(self)

    def _read_body(self, body: Body, data: bytes, at: int) -> int:
        assert self._framing is not None
        at = self._framing.read(data, at)
        if self._framing.is_whole:
            self.body = self._framing = None
            body.end_body()
        return at

    def on_url(self, url: bytes) -> None:
        # Called once for each part of a URL that arrives in several pieces.
        self._target += url

    def on_header(self, name: bytes, value: bytes) -> None:
        if len(self._headers) >= bounds.MAX_HEADERS:
            self._stop(refusals.too_many_headers())
        # The parser leaves blanks after a value, which are not part of it.
        self._headers.append((name.lower(), value.rstrip(b" \t")))

    def on_headers_complete(self) -> None:
        try:
            if self.body is not None:
                raise refusals.invalid("The request's headers must end with an empty line.")
            head = self._head()
            self.body = self._begin(head)
        except Refusal as refusal:
            self._stop(refusal)
        self._is_last = head.closes

    def _stop(self, refusal: Refusal) -> NoReturn:
        """Ends the parsing. The parser replaces exceptions of its callbacks by its own."""
        self._refusal = refusal
        raise refusal

    def _head(self) -> RequestHead:
        if self.head_bytes > bounds.MAX_HEAD_BYTES:
            raise refusals.too_large_head()
        method = self._parser.get_method()
        version = self._version(len(method) + 1 + len(self._target))
        expects_continue = self._check_headers(version)
        closes = version == "1.0" or not self._parser.should_keep_alive()
        return RequestHead(self._scope(version, method.decode()), closes, expects_continue)

    def _version(self, at: int) -> str:
        """`at`: the end of the method and the target, with one space between them."""
        # llhttp also accepts several spaces, and the protocols RTSP and ICE.
        if self._seen.startswith(b" HTTP/1.1\r\n", at):
            return "1.1"
        if self._seen.startswith(b" HTTP/1.0\r\n", at):
            return "1.0"
        raise refusals.invalid(
            "The first line of a request must be a method, a path and HTTP/1.1, with single spaces "
            "between them."
        )

    def _check_headers(self, version: str) -> bool:
        """Whether the client waits for "100 Continue"."""
        hosts, codings, expects_continue = [], [], False
        self._length = 0
        # One pass, because every request takes it.
        for name, value in self._headers:
            if name == b"host":
                hosts.append(value)
            elif name == b"content-length":
                # The parser has checked that it is a number, and the only one.
                self._length = int(value)
            elif name == b"transfer-encoding":
                codings.append(value.lower())
            elif name == b"expect":
                expects_continue |= value.lower() == b"100-continue"
        self._is_chunked = bool(codings)
        if codings and (codings != [b"chunked"] or version == "1.0"):
            raise refusals.invalid("The only Transfer-Encoding is chunked, in HTTP/1.1.")
        if hosts != self._valid_hosts:
            self._check_hosts(hosts, version)
        # HTTP/1.0 has no such answer.
        return expects_continue and version == "1.1"

    def _check_hosts(self, hosts: list[bytes], version: str) -> None:
        # HTTP/1.0 does not require the header.
        if len(hosts) != 1 and (hosts or version == "1.1"):
            raise refusals.invalid("The request must have exactly one Host header.")
        if hosts and not is_host(hosts[0]):
            raise refusals.invalid("The Host header must be a name or an address, with its port.")
        self._valid_hosts = hosts

    def _scope(self, version: str, method: str) -> Scope:
        try:
            path, raw_path, query = split(self._target)
        except BadTarget:
            raise refusals.invalid("The request's URL must be a path that starts with /.") from None
        if not self._target.startswith(b"/") and (host := authority_of(self._target)):
            # RFC 9112, 3.2.2: the URL counts, and not the header.
            others = [header for header in self._headers if header[0] != b"host"]
            self._headers = [(b"host", host), *others]
        return {
            "type": "http",
            "asgi": {"version": "3.0", "spec_version": "2.3"},
            "http_version": version,
            "method": method,
            "scheme": "http",
            "root_path": "",
            "path": path,
            "raw_path": raw_path,
            "query_string": query,
            "headers": self._headers,
        }
