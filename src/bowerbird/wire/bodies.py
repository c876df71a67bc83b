"""Reads the body of a request: limits its size, inflates it, and refuses JSON with an excess.

A large body is inflated and decoded on a thread, where the event loop still serves others between
two steps. Accounts take turns there. All strangers together count as one, the sandbox's account.
"""

import asyncio
import zlib
from collections.abc import Callable
from typing import Final, TypeVar
from weakref import WeakKeyDictionary

from starlette.types import Receive

from bowerbird import errors
from bowerbird.errors import Code, Refusal
from bowerbird.requests import decoding
from bowerbird.requests.decoding import LARGE_BYTES
from bowerbird.requests.limits import JSON_VALUES_MAX
from bowerbird.storage.fair_queue import Bounds, FairQueue

T = TypeVar("T")

_KIB: Final = 1024
_MIB: Final = 1024 * 1024
MAX_BYTES: Final = _MIB
# Decoding holds the interpreter, so more threads would only take it from the event loop.
_THREADS: Final = 2
_THREADS_PER_ACCOUNT: Final = 1
MAX_WAITING: Final = 100
"""Large bodies of an account that wait for their turn."""
_turns: Final[WeakKeyDictionary[asyncio.AbstractEventLoop, FairQueue]] = WeakKeyDictionary()


async def read(receive: Receive, most: int = MAX_BYTES) -> bytes:
    """The whole body, as it was sent."""
    parts: list[bytes] = []
    size = 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            # The client disconnected, so the body is incomplete and must not take effect.
            raise errors.invalid("body", "is shorter than its Content-Length")
        part = message.get("body", b"")
        size += len(part)
        if size > most:
            raise too_large(most)
        parts.append(part)
        if not message.get("more_body", False):
            return b"".join(parts)


async def read_json(
    receive: Receive,
    content_encoding: bytes,
    account_id: int,
    most: int = MAX_BYTES,
    max_values: int = JSON_VALUES_MAX,
) -> bytes:
    """The body of a request that is decoded as JSON. Bytes are counted after inflating."""

    def checked(body: bytes) -> bytes:
        decoding.check_excess(body, max_values=max_values)
        return body

    sent = await read(receive, most)
    encoding = content_encoding.strip().lower()
    if encoding in (b"", b"identity"):
        return await off_loop(len(sent), account_id, lambda: checked(sent))
    if encoding != b"gzip":
        raise errors.invalid("Content-Encoding", "must be gzip or absent")
    if (small := _inflated(sent, min(most, LARGE_BYTES))) is not None:
        return checked(small)
    if most <= LARGE_BYTES:
        raise too_large(most)

    def work() -> bytes:
        inflated = _inflated(sent, most)
        if inflated is None:
            raise too_large(most)
        return checked(inflated)

    return await off_loop(most, account_id, work)


async def off_loop(
    size: int, account_id: int, work: Callable[[], T], *, is_continuing: bool = False
) -> T:
    """Runs `work` on a body of this size: on a thread if it is large, in the account's turn.

    `is_continuing`: the request had a turn before, so it goes first and is not refused.
    """
    if size <= LARGE_BYTES:
        return work()
    loop = asyncio.get_running_loop()
    if (turns := _turns.get(loop)) is None:
        bounds = Bounds(per_account=MAX_WAITING)
        turns = FairQueue("place to decode a large body", _THREADS, _THREADS_PER_ACCOUNT, bounds)
        _turns[loop] = turns
    await turns.acquire(account_id, in_background=is_continuing)
    running = loop.run_in_executor(None, work)
    # A thread cannot be stopped, so its place is taken until it ends, even if nobody waits for it.
    running.add_done_callback(lambda _: turns.release(account_id))
    return await asyncio.shield(running)


def _inflated(body: bytes, most: int) -> bytes | None:
    """None if it has more than `most` bytes."""
    inflater = zlib.decompressobj(wbits=31)
    try:
        inflated = inflater.decompress(body, most + 1)
    except zlib.error:
        raise errors.invalid("body", "is not valid gzip, but Content-Encoding is gzip") from None
    if len(inflated) > most:
        return None
    if not inflater.eof or inflater.unused_data:
        raise errors.invalid("body", "must be exactly one complete gzip stream")
    return inflated


def too_large(most: int = MAX_BYTES) -> Refusal:
    if most % _MIB == 0:
        size = f"{most // _MIB} MiB"
    else:
        size = f"{most // 1_000_000} MB" if most >= _MIB else f"{most // _KIB} KiB"
    return Refusal(Code.PAYLOAD_TOO_LARGE, f"The body is larger than {size}.")
