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
_ENTRY_BYTES: Final = 1_000


class Asked(Struct, frozen=True):
    """The part of a request that decides about its answer."""

    path: str
    query_string: bytes
    accept_encoding: bytes
    if_none_match: bytes | None


class AnswerCache:
    """The latest answers, bounded by their bytes. Of 0 bytes it keeps nothing."""

    def __init__(self, most_bytes: int) -> None:
        self._most_bytes = most_bytes
        self._bytes = 0
        self._kept: OrderedDict[bytes, Reply] = OrderedDict()

    async def answer(self, account: Account, asked: Asked, build: Build) -> Reply:
        encoding = compression.chosen(asked.accept_encoding)
        tag = _tag(account, asked, encoding)
        if asked.if_none_match is not None and tag in asked.if_none_match:
            return Reply(304, [(b"etag", tag), *PRIVATE])
        kept = self._kept.get(tag)
        if kept is not None:
            self._kept.move_to_end(tag)
            return kept
        reply = _reply(await build(), tag, encoding)
        self._keep(tag, reply)
        return reply

    def _keep(self, tag: bytes, reply: Reply) -> None:
        size = len(reply.body) + _ENTRY_BYTES
        # One answer may not push out half of the others.
        if size * 2 > self._most_bytes or tag in self._kept:
            return
        self._kept[tag] = reply
        self._bytes += size
        while self._bytes > self._most_bytes:
            _, oldest = self._kept.popitem(last=False)
            self._bytes -= len(oldest.body) + _ENTRY_BYTES


def _tag(account: Account, asked: Asked, encoding: str) -> bytes:
    key = (
        account.account_id,
        account.epoch,
        account.version,
        account.plan,
        __version__,
        asked.path,
        asked.query_string,
        encoding,
    )
    return b'"%b"' % hashlib.blake2b(repr(key).encode(), digest_size=16).hexdigest().encode()


def _reply(body: bytes, tag: bytes, encoding: str) -> Reply:
    headers: list[Header] = [JSON, (b"etag", tag), *PRIVATE]
    if encoding and len(body) >= compression.LEAST_BYTES:
        body = compression.compressed(body, encoding)
        headers.append((b"content-encoding", encoding.encode()))
    headers.append((b"content-length", b"%d" % len(body)))
    return Reply(200, headers, body)
