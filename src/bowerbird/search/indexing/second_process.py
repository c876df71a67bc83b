"""Index texts from a second process, so that an import uses a second core."""

import os
import select
import subprocess
import sys
import threading
from collections.abc import Sequence
from typing import Final

import msgspec

from bowerbird.search.words.tokens import INDEX_FORM, index_text
from bowerbird.settings import without_settings

LENGTH_BYTES: Final = 4
# An upgrade during an import may start a process of another release, which must not be used if it
# makes other index texts.
READY: Final = bytes((INDEX_FORM & 0xFF,))

# The texts and the names of a post, as `index_text` takes them.
Fields = tuple[list[str], list[str]]

encode_fields: Final = msgspec.msgpack.Encoder().encode
decode_fields: Final = msgspec.msgpack.Decoder(list[Fields]).decode
decode_texts: Final = msgspec.msgpack.Decoder(list[str]).decode


def frame(data: bytes) -> bytes:
    return len(data).to_bytes(LENGTH_BYTES, "big") + data


_MODULE: Final = "bowerbird.search.indexing"
# Starting a process takes as long as indexing this many posts.
_POSTS_BEFORE_START: Final = 2_000
# Far more than the texts of a transaction take. A process may be stopped, and then never answers.
_ANSWER_LIMIT_S: Final = 30.0
_END_LIMIT_S: Final = 2.0
_READ_BYTES: Final = 1 << 20


def index_texts(posts: Sequence[Fields]) -> list[str]:
    return [index_text(texts, names) for texts, names in posts]


def is_useful() -> bool:
    """Whether there is a second core, and a system whose pipes can be polled."""
    # The process may have fewer cores than the machine. Limits of time, as of a container, do not
    # show here; then a second process costs a little and gains nothing.
    is_limited = hasattr(os, "sched_getaffinity")
    cores = len(os.sched_getaffinity(0)) if is_limited else os.cpu_count() or 1
    return os.name == "posix" and cores > 1


class SecondProcess:
    """Threads may share it. Close it at the end."""

    def __init__(
        self,
        posts_before_start: int = _POSTS_BEFORE_START,
        answer_limit_s: float = _ANSWER_LIMIT_S,
    ) -> None:
        self._lock = threading.Lock()
        self._remaining = posts_before_start
        self._limit_s = answer_limit_s
        self._process: subprocess.Popen[bytes] | None = None
        self._has_failed = False
        self.is_ready = False

    @property
    def process_id(self) -> int | None:
        return None if self._process is None else self._process.pid

    def index_texts(self, posts: Sequence[Fields]) -> list[str]:
        """In the process if it is running, otherwise here."""
        with self._lock:
            found = self._from_process(posts) if posts and not self._has_failed else None
        return index_texts(posts) if found is None else found

    def close(self) -> None:
        with self._lock:
            self._has_failed = True
            self._end(_END_LIMIT_S)

    def _from_process(self, posts: Sequence[Fields]) -> list[str] | None:
        try:
            if not self._can_answer(len(posts)):
                return None
            return self._answer(posts)
        except (OSError, EOFError, UnicodeError, msgspec.MsgspecError):
            self._has_failed = True
            self._end(0)
            return None

    def _can_answer(self, posts: int) -> bool:
        if self._process is None:
            self._remaining -= posts
            if self._remaining < 0:
                self._process = _start()
            return False
        if not self.is_ready and _is_readable(_output(self._process), 0):
            if os.read(_output(self._process), len(READY)) != READY:
                raise EOFError
            self.is_ready = True
        return self.is_ready

    def _answer(self, posts: Sequence[Fields]) -> list[str]:
        assert self._process is not None
        _send(_input(self._process), frame(encode_fields(posts)), self._limit_s)
        output = _output(self._process)
        length = int.from_bytes(_receive(output, LENGTH_BYTES, self._limit_s), "big")
        texts = decode_texts(_receive(output, length, self._limit_s))
        if len(texts) != len(posts):
            raise EOFError
        return texts

    def _end(self, limit_s: float) -> None:
        process, self._process = self._process, None
        self.is_ready = False
        if process is None:
            return
        for pipe in (process.stdin, process.stdout):
            assert pipe is not None
            pipe.close()
        try:
            process.wait(limit_s)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _start() -> "subprocess.Popen[bytes]":
    # It needs no settings, so it does not see the database password. A group of its own: Ctrl-C
    # stops the import, which still completes its last posts.
    process = subprocess.Popen(  # noqa: S603 - our own module
        (sys.executable, "-P", "-m", _MODULE),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        bufsize=0,
        env=without_settings(),
        process_group=0,
    )
    os.set_blocking(_input(process), False)
    return process


def _input(process: "subprocess.Popen[bytes]") -> int:
    assert process.stdin is not None
    return process.stdin.fileno()


def _output(process: "subprocess.Popen[bytes]") -> int:
    assert process.stdout is not None
    return process.stdout.fileno()


def _send(descriptor: int, data: bytes, limit_s: float) -> None:
    rest = memoryview(data)
    poll = select.poll()
    poll.register(descriptor, select.POLLOUT)
    while rest:
        if not poll.poll(limit_s * 1000):
            raise TimeoutError
        rest = rest[os.write(descriptor, rest) :]


def _receive(descriptor: int, count: int, limit_s: float) -> bytes:
    received = bytearray()
    while len(received) < count:
        if not _is_readable(descriptor, limit_s):
            raise TimeoutError
        data = os.read(descriptor, min(count - len(received), _READ_BYTES))
        if not data:
            raise EOFError
        received += data
    return bytes(received)


def _is_readable(descriptor: int, limit_s: float) -> bool:
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    return bool(poll.poll(limit_s * 1000))
