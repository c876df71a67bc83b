"""Ready answers of unchanged libraries, and the entity tags that name them.

The key holds all that an answer depends on: account, epoch, version, plan, release, path, query
and encoding. So a hit is exact, and a tag is known before the answer is made.
"""

import hashlib
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from typing import Final

from msgspec import Struct

from bowerbird import __version__
from bowerbird.model.accounts import Account
from bowerbird.wire import compression
from bowerbird.wire.replies import JSON, PRIVATE, Header, Reply

Build = Callable[[], Awaitable[bytes]]
_Key = tuple[int, int, int, str, str, bytes, str, int, str]
_ENTRY_BYTES: Final = 1_000
_ANY: Final = b"*"


class RequestTarget(Struct, frozen=True):
    """The part of a request that decides about its answer."""

    path: str
    query_string: bytes
    accept_encoding: bytes
    if_none_match: bytes | None
    # The minute of an answer that changes by itself as time goes by; 0 for all others.
    minute: int = 0
    # The state of the vectors that an answer by meaning was made from; empty for all others.
    vectors: str = ""


class AnswerCache:
    """The latest answers, bounded by their bytes. Of 0 bytes it keeps nothing."""

    def __init__(self, most_bytes: int, finish: Callable[[bytes], bytes] | None = None) -> None:
        """`finish` is the last word on what was built, before it is compressed and kept."""
        self._most_bytes = most_bytes
        self._finish = finish
        self._bytes = 0
        self._kept: OrderedDict[_Key, Reply] = OrderedDict()

    async def answer(self, account: Account, asked: RequestTarget, build: Build) -> Reply:
        encoding = compression.chosen(asked.accept_encoding)
        key = (
            account.account_id,
            account.epoch,
            account.version,
            account.plan,
            asked.path,
            asked.query_string,
            encoding,
            asked.minute,
            asked.vectors,
        )
        if asked.if_none_match is None:
            return await self._found(key, build)
        tag = _tag(key)
        # "*" means any answer that there is, so it has to be made before it is known to be one.
        if _ANY in asked.if_none_match:
            await self._found(key, build)
        if is_among(tag, asked.if_none_match):
            return Reply(304, [(b"etag", tag), *PRIVATE])
        return await self._found(key, build)

    async def _found(self, key: _Key, build: Build) -> Reply:
        kept = self._kept.get(key)
        if kept is not None:
            self._kept.move_to_end(key)
            return kept
        built = await build()
        reply = _reply(self._finish(built) if self._finish else built, _tag(key), key[6])
        self._keep(key, reply)
        return reply

    def unkept(self, asked: RequestTarget, body: bytes) -> Reply:
        """An answer that depends on more than the library: made each time, named by its bytes."""
        encoding = compression.chosen(asked.accept_encoding)
        tag = (
            b'"%b"' % hashlib.blake2b(encoding.encode() + body, digest_size=16).hexdigest().encode()
        )
        if is_among(tag, asked.if_none_match):
            return Reply(304, [(b"etag", tag), *PRIVATE])
        return _reply(body, tag, encoding)

    def _keep(self, key: _Key, reply: Reply) -> None:
        size = _size(key, reply)
        # One answer may not push out half of the others.
        if size * 2 > self._most_bytes or key in self._kept:
            return
        self._kept[key] = reply
        self._bytes += size
        while self._bytes > self._most_bytes:
            self._bytes -= _size(*self._kept.popitem(last=False))


def is_among(tag: bytes, if_none_match: bytes | None) -> bool:
    """Whether a client says that it has the answer with this tag."""
    if if_none_match is None:
        return False
    sent = {part.strip().removeprefix(b"W/") for part in if_none_match.split(b",")}
    return tag in sent or _ANY in sent


def _size(key: _Key, reply: Reply) -> int:
    # A query string may be longer than its answer.
    return len(reply.body) + len(key[4]) + len(key[5]) + _ENTRY_BYTES


def _tag(key: _Key) -> bytes:
    text = repr((__version__, key)).encode()
    return b'"%b"' % hashlib.blake2b(text, digest_size=16).hexdigest().encode()


def _reply(body: bytes, tag: bytes, encoding: str) -> Reply:
    headers: list[Header] = [JSON, (b"etag", tag), *PRIVATE]
    if encoding and len(body) >= compression.LEAST_BYTES:
        body = compression.compressed(body, encoding)
        headers.append((b"content-encoding", encoding.encode()))
    headers.append((b"content-length", b"%d" % len(body)))
    return Reply(200, headers, body)
