"""Compresses answers, computes their ETags, and keeps them until the library changes.

The key contains everything that an answer depends on: account, epoch, version, plan, path, query
and encoding. So a cached answer is never outdated, and the ETag is known before the answer.
"""

import asyncio
import gzip
import hashlib
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from typing import Final

import zstandard
from msgspec import Struct

from bowerbird import __version__
from bowerbird.model.accounts import Account
from bowerbird.wire.responses import envelope
from bowerbird.wire.responses.replies import JSON, PRIVATE, Finished, Reply, State, Unsettled

# Smaller answers save too few bytes.
LEAST_BYTES: Final = 1_024
_ZSTD: Final = zstandard.ZstdCompressor(level=3)
_SMALLEST: Final = zstandard.ZstdCompressor(level=19)


def chosen(accept_encoding: bytes) -> str:
    """The best encoding a client accepts: zstd, gzip, or "" for none."""
    weights: dict[str, float] = {}
    for part in accept_encoding.decode("latin-1").lower().split(","):
        name, _, parameter = part.strip().partition(";")
        weights[name.strip()] = _weight(parameter)
    everything = weights.get("*", 0.0)
    best = max(("zstd", "gzip"), key=lambda name: weights.get(name, everything))
    return best if weights.get(best, everything) > 0 else ""


def compressed(body: bytes, encoding: str) -> bytes:
    if encoding == "zstd":
        return _ZSTD.compress(body)
    return gzip.compress(body, compresslevel=4, mtime=0)


def compressed_quickly(body: bytes, encoding: str) -> bytes:
    """Compresses a page that nobody gets again: about 6 % larger, and much faster."""
    if encoding == "zstd":
        return _ZSTD.compress(body)
    return gzip.compress(body, compresslevel=2, mtime=0)


def compressed_once(body: bytes, encoding: str) -> bytes:
    """Compresses a document that is compressed only once: smaller, and takes longer."""
    if encoding == "zstd":
        return _SMALLEST.compress(body)
    return gzip.compress(body, compresslevel=9, mtime=0)


def _weight(parameter: str) -> float:
    name, _, value = parameter.strip().partition("=")
    if name.strip() != "q":
        return 1.0
    try:
        return float(value)
    except ValueError:
        return 0.0


_Key = tuple[int, int, int, str, str, bytes, str, int, str, tuple[str, ...]]
_ENTRY_BYTES: Final = 1_000
# Compressing more than this takes several milliseconds, so it is done on a thread.
_LARGE: Final = 512 * 1024
_ANY: Final = b"*"


class RequestTarget(Struct, frozen=True):
    """The part of a request that its answer depends on."""

    path: str
    query_string: bytes
    accept_encoding: bytes
    if_none_match: bytes | None
    # The current minute, for an answer that changes over time; 0 for all others.
    minute: int = 0
    # The state of the vectors, for an answer to a search by meaning; empty for all others.
    vectors: str = ""
    # The parameters that were sent and have no effect. They are not in the query string.
    ignored: tuple[str, ...] = ()


Build = Callable[[], Awaitable[bytes | Unsettled | Finished]]


class One(Struct, frozen=True):
    """The answer with one resource, and the state of the resource for its ETag."""

    body: bytes
    state: State
    is_settled: bool = True


class AnswerCache:
    """The most recently used answers, up to a total size. A size of 0 caches nothing."""

    def __init__(self, max_bytes: int, finish: Callable[[bytes], bytes] | None = None) -> None:
        """`finish` changes each new body before it is compressed and cached."""
        self._max_bytes = max_bytes
        self._finish = finish
        self._bytes = 0
        self._answers: OrderedDict[_Key, Reply] = OrderedDict()

    async def answer(self, account: Account, target: RequestTarget, build: Build) -> Reply:
        key = _key_of(account, target)
        if target.if_none_match is None:
            return await self._found(key, target, build)
        tag = _tag(key)
        # "*" matches any answer, so build it first: the request may be refused instead.
        if _ANY in target.if_none_match:
            await self._found(key, target, build)
        if is_among(tag, target.if_none_match):
            return Reply(304, [(b"etag", tag), *PRIVATE])
        return await self._found(key, target, build)

    async def answer_one(
        self,
        account: Account,
        target: RequestTarget,
        build: Callable[[], Awaitable[One]],
    ) -> Reply:
        """One resource, whose ETag begins with its state (wire/writes.py)."""
        key = _key_of(account, target)
        reply = self._answers.get(key)
        if reply is None:
            built = await build()
            body = built.body if self._finish is None else self._finish(built.body)
            body = envelope.naming_ignored(body, target.ignored)
            rest = hashlib.blake2b(key[6].encode() + body, digest_size=8).hexdigest()
            tag = b'"%b.%b"' % (built.state.tag, rest.encode())
            reply = await _compressed_reply(_of_api(body, tag, built.state), key[6])
            if built.is_settled:
                self._store(key, reply)
        else:
            self._answers.move_to_end(key)
        tag = next(value for name, value in reply.headers if name == b"etag")
        if is_among(tag, target.if_none_match):
            return Reply(304, [(b"etag", tag), *PRIVATE])
        return reply

    async def _found(self, key: _Key, target: RequestTarget, build: Build) -> Reply:
        cached = self._answers.get(key)
        if cached is not None:
            self._answers.move_to_end(key)
            return cached
        built = await build()
        if isinstance(built, Finished):
            reply = await _compressed_reply(built, key[6])
            self._store(key, reply)
            return reply
        body = built.body if isinstance(built, Unsettled) else built
        if self._finish is not None:
            body = self._finish(body)
        if isinstance(built, Unsettled):
            return await self.uncached(target, body)
        body = envelope.naming_ignored(body, target.ignored)
        reply = await _compressed_reply(_of_api(body, _tag(key)), key[6])
        self._store(key, reply)
        return reply

    async def uncached(
        self, target: RequestTarget, body: bytes, state: State | None = None
    ) -> Reply:
        """An answer that depends on more than the library. Its ETag is a hash of its bytes.

        That of one resource begins with its state (wire/writes.py).
        """
        encoding = chosen(target.accept_encoding)
        body = envelope.naming_ignored(body, target.ignored)
        rest = hashlib.blake2b(encoding.encode() + body, digest_size=8 if state else 16).hexdigest()
        tag = b'"%b"' % (b"%b.%b" % (state.tag, rest.encode()) if state else rest.encode())
        if is_among(tag, target.if_none_match):
            return Reply(304, [(b"etag", tag), *PRIVATE])
        return await _compressed_reply(_of_api(body, tag, state), encoding)

    def _store(self, key: _Key, reply: Reply) -> None:
        size = _size(key, reply)
        # One answer must not replace half of the cache.
        if size * 2 > self._max_bytes or key in self._answers:
            return
        self._answers[key] = reply
        self._bytes += size
        while self._bytes > self._max_bytes:
            self._bytes -= _size(*self._answers.popitem(last=False))


def is_among(tag: bytes, if_none_match: bytes | None) -> bool:
    """Whether the client already has the answer with this ETag."""
    if if_none_match is None:
        return False
    sent = {part.strip().removeprefix(b"W/") for part in if_none_match.split(b",")}
    return tag in sent or _ANY in sent


def _size(key: _Key, reply: Reply) -> int:
    # A query string may be longer than its answer.
    return len(reply.body) + len(key[4]) + len(key[5]) + _ENTRY_BYTES


def _key_of(account: Account, target: RequestTarget) -> _Key:
    return (
        account.account_id,
        account.epoch,
        account.version,
        account.plan,
        target.path,
        target.query_string,
        chosen(target.accept_encoding),
        target.minute,
        target.vectors,
        target.ignored,
    )


def _tag(key: _Key) -> bytes:
    text = repr((__version__, key)).encode()
    return b'"%b"' % hashlib.blake2b(text, digest_size=16).hexdigest().encode()


def _of_api(body: bytes, tag: bytes, state: State | None = None) -> Finished:
    modified = [] if state is None else [state.last_modified]
    return Finished(body, [JSON, (b"etag", tag), *modified, *PRIVATE])


async def _compressed_reply(built: Finished, encoding: str) -> Reply:
    if len(built.body) < _LARGE:
        return _reply(built, encoding)
    return await asyncio.to_thread(_reply, built, encoding)


def _reply(built: Finished, encoding: str) -> Reply:
    body, headers = built.body, list(built.headers)
    if encoding and len(body) >= LEAST_BYTES:
        body = compressed(body, encoding)
        headers.append((b"content-encoding", encoding.encode()))
    headers.append((b"content-length", b"%d" % len(body)))
    return Reply(200, headers, body)
