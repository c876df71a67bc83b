"""An embedding service for tests: OpenAI's protocol over HTTP, including its failures."""

import hashlib
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from tests.support.hosts.loopback import Handler, on_thread

WIDTH = 24


@dataclass
class EmbeddingService:
    """`behave` selects the responses: normal ones, or one of the failures below."""

    url: str = ""
    behave: str = "well"
    key: str = "sesame"
    longest: int = 100_000
    # Texts that contain this word are refused with this status.
    refused: str | None = None
    status: int = 400
    asked: list[dict[str, Any]] = field(default_factory=list)
    # Ends slow responses at the end of a test.
    is_over: threading.Event = field(default_factory=threading.Event)

    def answer(self, body: dict[str, Any], authorization: str | None) -> tuple[int, bytes]:
        self.asked.append(body)
        if authorization != f"Bearer {self.key}":
            return 401, b'{"error": "no"}'
        if self.behave in _ODD:
            return _ODD[self.behave]
        if any(self._is_refused(text) for text in body["input"]):
            return self.status, b'{"error": "no such text"}'
        data = [
            {"index": n, "object": "embedding", "embedding": vector_of(text)}
            for n, text in enumerate(body["input"])
        ]
        if self.behave == "short":
            data.pop()
        # Reversed, because the protocol does not guarantee the order.
        return 200, json.dumps({"object": "list", "data": data[::-1]}).encode()

    def _is_refused(self, text: str) -> bool:
        return len(text) > self.longest or (self.refused is not None and self.refused in text)


# Longer than the request timeout of any test.
_SLOW_S = 30
_ODD = {
    "down": (503, b"busy"),
    "limited": (429, b"{}"),
    "garbage": (200, b"<html>It works!</html>"),
    "empty": (200, b'{"data": []}'),
    "zeroes": (200, json.dumps({"data": [{"index": 0, "embedding": [0.0] * WIDTH}]}).encode()),
    "words": (200, b'{"data": [{"index": 0, "embedding": ["a"]}]}'),
}


def vector_of(text: str) -> list[float]:
    """Texts that share words get similar vectors, which is enough for tests."""
    vector = [0.01] * WIDTH
    for word in text.lower().split():
        vector[_place(word)] += 1.0
    return vector


@lru_cache(maxsize=10_000)
def _place(word: str) -> int:
    return hashlib.sha256(word.encode()).digest()[0] % WIDTH


@contextmanager
def embedding_service() -> Iterator[EmbeddingService]:
    service = EmbeddingService()

    class Embeddings(Handler):
        def reply(self) -> None:
            body = json.loads(self.body())
            if service.behave == "slow":
                service.is_over.wait(_SLOW_S)
            status, raw = service.answer(body, self.headers.get("Authorization"))
            if self.path != "/v1/embeddings":
                status, raw = 404, b"{}"
            self.answer(raw, status)

    with on_thread(Embeddings) as port:
        service.url = f"http://127.0.0.1:{port}/v1"
        try:
            yield service
        finally:
            service.is_over.set()
