"""Models whose calls are recorded as parts of the current request or job."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from opentelemetry.trace import SpanKind

from bowerbird.search.meaning.embedding import Embedder
from bowerbird.search.meaning.models import Models
from bowerbird.settings import Settings
from bowerbird.telemetry.spans import Attributes, Spans

if TYPE_CHECKING:
    from bowerbird.search.meaning.arrays import Floats


class TracedModels(Models):
    def __init__(self, settings: Settings, recorded: Spans) -> None:
        super().__init__(settings)
        self._spans = recorded
        self._traced: dict[bytes, TracedEmbedder] = {}

    @property
    def current(self) -> Embedder | None:
        return self._recorded(super().current)

    @property
    def second(self) -> Embedder | None:
        return self._recorded(super().second)

    def of(self, identity: bytes, name: str) -> Embedder | None:
        return self._recorded(super().of(identity, name))

    def _recorded(self, embedder: Embedder | None) -> Embedder | None:
        if embedder is None or isinstance(embedder, TracedEmbedder):
            return embedder
        found = self._traced.get(embedder.identity)
        if found is None or not found.is_of(embedder):
            found = self._traced[embedder.identity] = TracedEmbedder(embedder, self._spans)
        return found


class TracedEmbedder:
    def __init__(self, embedder: Embedder, recorded: Spans) -> None:
        self._embedder = embedder
        self._spans = recorded
        self.close = embedder.close

    def is_of(self, embedder: Embedder) -> bool:
        return self._embedder is embedder

    @property
    def name(self) -> str:
        return self._embedder.name

    @property
    def identity(self) -> bytes:
        return self._embedder.identity

    @property
    def floor(self) -> float:
        return self._embedder.floor

    @property
    def problem(self) -> str | None:
        return self._embedder.problem

    async def embed_query(self, text: str) -> "Floats":
        with self._spans.part("embed query", SpanKind.INTERNAL, self._attributes(1)):
            return await self._embedder.embed_query(text)

    async def letters_per_piece(self, text: str) -> float:
        return await self._embedder.letters_per_piece(text)

    async def embed_posts(self, texts: Sequence[str]) -> "list[Floats]":
        with self._spans.part("embed posts", SpanKind.INTERNAL, self._attributes(len(texts))):
            return await self._embedder.embed_posts(texts)

    def _attributes(self, texts: int) -> Attributes:
        return {"gen_ai.request.model": self.name, "bowerbird.texts": texts}
