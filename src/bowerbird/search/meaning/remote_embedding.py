"""Embeds texts with a service that uses OpenAI's protocol, instead of the local model."""

import asyncio
import hashlib
import math
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

import msgspec
from msgspec import Struct

from bowerbird import errors
from bowerbird.search.meaning.embedding import NO_FLOOR, Problem, described
from bowerbird.storage.database import observed

if TYPE_CHECKING:
    from bowerbird.search.meaning.arrays import Floats

MAX_PIECES: Final = 8
# In characters. Short enough for models with 512 tokens, in every script.
_PIECE, _OVERLAP = 1_000, 100
_BATCH: Final = 32
_MAX_ANSWER_BYTES: Final = 32 * 1024 * 1024
_CONNECT_S: Final = 5.0
_QUERY_S: Final = 10.0
_POSTS_S: Final = 60.0
_RETRY_DELAYS_S: Final = (0.5, 2.0)
_RETRY_S: Final = 30
_RETRYABLE: Final = frozenset({408, 409, 425, 429})
_REJECTED: Final = frozenset({400, 413, 422})
_SERVER_FAULT: Final = 500
_SUCCESS: Final = 200
_MIN_TEXT_CHARACTERS: Final = 100
_TEST_TEXT: Final = "bird"
_COOLDOWN_S: Final = 5.0


class _Item(Struct):
    embedding: list[float]
    index: int = -1


class _Answer(Struct):
    data: list[_Item]


class _Rejected(Exception):  # noqa: N818 - named for what it is
    """The service rejects this input; a retry would not help."""


class _Failed(Exception):  # noqa: N818 - named for what it is
    """The service gave no usable answer; a retry may help."""


_decode: Final = msgspec.json.Decoder(_Answer).decode


class RemoteEmbedder:
    """One model of a service. The answers show how many dimensions its vectors have."""

    def __init__(
        self,
        url: str,
        key: str,
        model: str,
        retry_delays_s: Sequence[float] = _RETRY_DELAYS_S,
        cooldown_s: float = _COOLDOWN_S,
    ) -> None:
        """After a failure, queries fail immediately for `cooldown_s` instead of waiting again."""
        self._url = url.rstrip("/")
        if not self._url.endswith("/embeddings"):
            self._url += "/embeddings"
        self._headers = {"Authorization": f"Bearer {key}"} if key else {}
        self._retry_delays_s, self._cooldown_s = retry_delays_s, cooldown_s
        self._client: Any = None
        self.name = model
        # Does not include the address: the same model may move to another machine.
        self.identity = hashlib.sha256(f"openai\n{model}".encode()).digest()[:16]
        self._problem = Problem()
        self._cooldown: tuple[float, str] = (0.0, "")

    @property
    def floor(self) -> float:
        return NO_FLOOR

    @property
    def problem(self) -> str | None:
        return self._problem.text

    @observed("embed query", described)
    async def embed_query(self, text: str) -> "Floats":
        until, reason = self._cooldown
        if time.monotonic() < until:
            raise _unavailable(reason)
        (vector,) = await self._embed([text[:_PIECE]], _QUERY_S)
        if vector is None:
            raise _unavailable("it rejected this text")
        return vector

    async def letters_per_piece(self, text: str) -> float:  # noqa: ARG002 - its pieces are unknown
        return math.inf

    @observed("embed posts", described)
    async def embed_posts(self, texts: Sequence[str]) -> "list[Floats]":
        pieces_by_post = [_pieces(text) for text in texts]
        pieces = [piece for post in pieces_by_post for piece in post]
        vectors: list[Floats | None] = []
        for start in range(0, len(pieces), _BATCH):
            vectors += await self._embed(pieces[start : start + _BATCH], _POSTS_S)
        if len({len(vector) for vector in vectors if vector is not None}) > 1:
            raise self._note_problem("its vectors have different lengths")
        remaining = iter(vectors)
        return [_stack([next(remaining) for _ in post]) for post in pieces_by_post]

    async def close(self) -> None:
        if self._client is not None:
            await self._client.aclose()

    async def _embed(self, texts: list[str], limit_s: float) -> "list[Floats | None]":
        """Splits a rejected batch, and shortens a single rejected text.

        A text that the service rejects at any length gets no vector.
        """
        try:
            return [*await self._vectors(texts, limit_s)]
        except _Rejected:
            if len(texts) > 1:
                half = len(texts) // 2
                first = await self._embed(texts[:half], limit_s)
                return first + await self._embed(texts[half:], limit_s)
            if len(texts[0]) > _MIN_TEXT_CHARACTERS:
                return await self._embed([texts[0][: len(texts[0]) // 2]], limit_s)
        await self._check_service(limit_s)
        return [None]

    async def _check_service(self, limit_s: float) -> None:
        """Raises if the service rejects every text, not only the previous one."""
        try:
            await self._vectors([_TEST_TEXT], limit_s)
        except _Rejected as rejected:
            raise self._note_problem(str(rejected)) from rejected

    async def _vectors(self, texts: list[str], limit_s: float) -> "list[Floats]":
        for delay in (*self._retry_delays_s, None):
            try:
                async with asyncio.timeout(limit_s):
                    raw = await self._request(texts)
                    # On a thread: parsing megabytes of digits would block the event loop.
                    vectors = await asyncio.to_thread(_parse_answer, raw, len(texts))
            except (_Failed, TimeoutError) as error:
                if delay is None:
                    reason = str(error) or f"it did not answer within {limit_s:g} s"
                    self._cooldown = (time.monotonic() + self._cooldown_s, reason)
                    raise self._note_problem(reason) from error
                await asyncio.sleep(delay)
            else:
                self._problem.clear()
                self._cooldown = (0.0, "")
                return vectors
        raise AssertionError

    async def _request(self, texts: list[str]) -> bytes:
        import httpx2  # noqa: PLC0415 - takes 60 ms and is needed only here

        if self._client is None:
            timeout = httpx2.Timeout(_POSTS_S, connect=_CONNECT_S)
            self._client = httpx2.AsyncClient(timeout=timeout, headers=self._headers)
        body = {"model": self.name, "input": texts, "encoding_format": "float"}
        try:
            async with self._client.stream("POST", self._url, json=body) as response:
                raw = await _read_limited(response)
        except httpx2.TimeoutException as error:
            raise _Failed("it did not answer in time") from error
        except httpx2.HTTPError as error:
            raise _Failed("it cannot be reached") from error
        return self._check_status(response.status_code, raw)

    def _check_status(self, status: int, raw: bytes) -> bytes:
        if status == _SUCCESS:
            return raw
        if status in _RETRYABLE or status >= _SERVER_FAULT:
            raise _Failed(f"it returned status {status}")
        if status in _REJECTED:
            raise _Rejected(f"it returned status {status}")
        # A wrong key, address or model: only the operator can fix it, so there is no retry.
        raise self._note_problem(f"it returned status {status}; check its address, key and model")

    def _note_problem(self, reason: str) -> errors.Refusal:
        self._problem.note(f"the embedding service is not usable: {reason}")
        return _unavailable(reason)


def _unavailable(reason: str) -> errors.Refusal:
    return errors.unavailable(
        f"Search by meaning: the embedding service is not usable: {reason}.",
        _RETRY_S,
    )


async def _read_limited(response: Any) -> bytes:
    raw = bytearray()
    async for part in response.aiter_bytes():
        raw += part
        if len(raw) > _MAX_ANSWER_BYTES:
            raise _Failed("its answer is too large")
    return bytes(raw)


def _parse_answer(raw: bytes, count: int) -> "list[Floats]":
    from bowerbird.search.meaning.arrays import np  # noqa: PLC0415 - numpy loads late

    try:
        items = _decode(raw).data
    except msgspec.MsgspecError as error:
        raise _Failed("its answer contains no embeddings") from error
    if all(item.index >= 0 for item in items):
        items.sort(key=lambda item: item.index)
    widths = {len(item.embedding) for item in items}
    if len(items) != count or len(widths) != 1 or 0 in widths:
        raise _Failed("its answer contains the wrong number of embeddings")
    vectors = []
    for item in items:
        vector = np.array(item.embedding, np.float32)
        length = float(np.linalg.norm(vector))
        if not math.isfinite(length) or length == 0:
            raise _Failed("its answer contains invalid numbers")
        vectors.append(vector / np.float32(length))
    return vectors


def _pieces(text: str) -> list[str]:
    text = text.strip()
    starts = range(0, max(len(text) - _OVERLAP, min(len(text), 1)), _PIECE - _OVERLAP)
    return [text[start : start + _PIECE] for start in starts[:MAX_PIECES]]


def _stack(vectors: "Sequence[Floats | None]") -> "Floats":
    from bowerbird.search.meaning.arrays import np  # noqa: PLC0415 - numpy loads late

    present = [vector for vector in vectors if vector is not None]
    return np.stack(present) if present else np.zeros((0, 0), np.float32)
