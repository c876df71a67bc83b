"""Embeddings by a service that speaks OpenAI's protocol, instead of the model that comes along."""

import asyncio
import hashlib
import math
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

import msgspec
from msgspec import Struct

from bowerbird import errors
from bowerbird.search.problems import Problem

if TYPE_CHECKING:
    from bowerbird.search.arrays import Floats

MOST_PIECES: Final = 8
# Fits models that look at 512 tokens, whatever the script.
_PIECE, _OVERLAP = 1_000, 100
_BATCH: Final = 32
_MOST_BYTES: Final = 32 * 1024 * 1024
_CONNECT_S: Final = 5.0
_QUESTION_S: Final = 10.0
_POSTS_S: Final = 60.0
_PAUSES_S: Final = (0.5, 2.0)
_RETRY_S: Final = 30
_BUSY: Final = frozenset({408, 409, 425, 429})
_TOO_LONG: Final = frozenset({400, 413, 422})
_SERVER_FAULT: Final = 500
_SUCCESS: Final = 200
_LEAST_TEXT: Final = 100
_ANY_TEXT: Final = "bird"
_FRESH_S: Final = 5.0


class _Item(Struct):
    embedding: list[float]
    index: int = -1


class _Answer(Struct):
    data: list[_Item]


class _Refused(Exception):  # noqa: N818 - named for what it is
    """The service will not take this input, whenever it is sent."""


class _Away(Exception):  # noqa: N818 - named for what it is
    """The service gives no usable answer; a later try may get one."""


_decode: Final = msgspec.json.Decoder(_Answer).decode


class RemoteEmbedder:
    """One model of a service. Its vectors' dimension is learned from the answers."""

    def __init__(
        self,
        url: str,
        key: str,
        model: str,
        pauses_s: Sequence[float] = _PAUSES_S,
        fresh_s: float = _FRESH_S,
    ) -> None:
        """For `fresh_s` after it gave no answer, it is asked no question: people need not wait."""
        self._url = url.rstrip("/")
        if not self._url.endswith("/embeddings"):
            self._url += "/embeddings"
        self._headers = {"Authorization": f"Bearer {key}"} if key else {}
        self._pauses_s, self._fresh_s = pauses_s, fresh_s
        self._client: Any = None
        self.name = model
        # Not of the address: the same model may move to another machine.
        self.identity = hashlib.sha256(f"openai\n{model}".encode()).digest()[:16]
        self._problem = Problem()
        self._away: tuple[float, str] = (0.0, "")

    @property
    def problem(self) -> str | None:
        return self._problem.text

    async def question(self, text: str) -> "Floats":
        until, reason = self._away
        if time.monotonic() < until:
            raise _unavailable(reason)
        (vector,) = await self._taken([text[:_PIECE]], _QUESTION_S)
        if vector is None:
            raise _unavailable("it does not take this text")
        return vector

    async def posts(self, texts: Sequence[str]) -> "list[Floats]":
        pieces = [_pieces(text) for text in texts]
        flat = [piece for of_one in pieces for piece in of_one]
        vectors: list[Floats | None] = []
        for start in range(0, len(flat), _BATCH):
            vectors += await self._taken(flat[start : start + _BATCH], _POSTS_S)
        if len({len(vector) for vector in vectors if vector is not None}) > 1:
            raise self._troubled("its vectors are not of one length")
        made = iter(vectors)
        return [_stacked([next(made) for _ in of_one]) for of_one in pieces]

    async def close(self) -> None:
        if self._client is not None:
            await self._client.aclose()

    async def _taken(self, texts: list[str], limit_s: float) -> "list[Floats | None]":
        """Parts a batch that is refused, and shortens a text that is refused alone.

        A text that the service takes in no length has no vector.
        """
        try:
            return [*await self._vectors(texts, limit_s)]
        except _Refused:
            if len(texts) > 1:
                half = len(texts) // 2
                first = await self._taken(texts[:half], limit_s)
                return first + await self._taken(texts[half:], limit_s)
            if len(texts[0]) > _LEAST_TEXT:
                return await self._taken([texts[0][: len(texts[0]) // 2]], limit_s)
        await self._require_answer(limit_s)
        return [None]

    async def _require_answer(self, limit_s: float) -> None:
        """Tells a text that is refused from a service that refuses every text."""
        try:
            await self._vectors([_ANY_TEXT], limit_s)
        except _Refused as refused:
            raise self._troubled(str(refused)) from refused

    async def _vectors(self, texts: list[str], limit_s: float) -> "list[Floats]":
        for pause in (*self._pauses_s, None):
            try:
                async with asyncio.timeout(limit_s):
                    raw = await self._asked(texts)
                    # Megabytes of digits, which others need not wait for.
                    vectors = await asyncio.to_thread(_read, raw, len(texts))
            except (_Away, TimeoutError) as error:
                if pause is None:
                    reason = str(error) or f"no answer within {limit_s:g} s"
                    self._away = (time.monotonic() + self._fresh_s, reason)
                    raise self._troubled(reason) from error
                await asyncio.sleep(pause)
            else:
                self._problem.clear()
                self._away = (0.0, "")
                return vectors
        raise AssertionError

    async def _asked(self, texts: list[str]) -> bytes:
        import httpx2  # noqa: PLC0415 - 60 ms that only those with an endpoint need

        if self._client is None:
            timeout = httpx2.Timeout(_POSTS_S, connect=_CONNECT_S)
            self._client = httpx2.AsyncClient(timeout=timeout, headers=self._headers)
        body = {"model": self.name, "input": texts, "encoding_format": "float"}
        try:
            async with self._client.stream("POST", self._url, json=body) as response:
                raw = await _bounded(response)
        except httpx2.TimeoutException as error:
            raise _Away("it does not answer in time") from error
        except httpx2.HTTPError as error:
            raise _Away("it cannot be reached") from error
        return self._checked(response.status_code, raw)

    def _checked(self, status: int, raw: bytes) -> bytes:
        if status == _SUCCESS:
            return raw
        if status in _BUSY or status >= _SERVER_FAULT:
            raise _Away(f"it answers {status}")
        if status in _TOO_LONG:
            raise _Refused(f"it answers {status}")
        # A wrong key, address or model: no try mends it before the operator does.
        raise self._troubled(f"it answers {status}; check its address, key and model")

    def _troubled(self, reason: str) -> errors.Refusal:
        self._problem.note(f"the embedding service is not usable: {reason}")
        return _unavailable(reason)


def _unavailable(reason: str) -> errors.Refusal:
    return errors.unavailable(
        f"Search by meaning: the embedding service is not usable: {reason}.", _RETRY_S
    )


async def _bounded(response: Any) -> bytes:
    raw = bytearray()
    async for part in response.aiter_bytes():
        raw += part
        if len(raw) > _MOST_BYTES:
            raise _Away("its answer is too large")
    return bytes(raw)


def _read(raw: bytes, count: int) -> "list[Floats]":
    from bowerbird.search.arrays import np  # noqa: PLC0415 - at first need

    try:
        items = _decode(raw).data
    except msgspec.MsgspecError as error:
        raise _Away("its answer holds no embeddings") from error
    if all(item.index >= 0 for item in items):
        items.sort(key=lambda item: item.index)
    widths = {len(item.embedding) for item in items}
    if len(items) != count or len(widths) != 1 or 0 in widths:
        raise _Away("its answer holds another number of embeddings than asked for")
    vectors = []
    for item in items:
        vector = np.array(item.embedding, np.float32)
        length = float(np.linalg.norm(vector))
        if not math.isfinite(length) or length == 0:
            raise _Away("its answer holds no usable numbers")
        vectors.append(vector / np.float32(length))
    return vectors


def _pieces(text: str) -> list[str]:
    text = text.strip()
    starts = range(0, max(len(text) - _OVERLAP, min(len(text), 1)), _PIECE - _OVERLAP)
    return [text[start : start + _PIECE] for start in starts[:MOST_PIECES]]


def _stacked(vectors: "Sequence[Floats | None]") -> "Floats":
    from bowerbird.search.arrays import np  # noqa: PLC0415 - at first need

    made = [vector for vector in vectors if vector is not None]
    return np.stack(made) if made else np.zeros((0, 0), np.float32)
