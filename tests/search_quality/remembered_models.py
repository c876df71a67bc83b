"""The real models, which embed each text once per test process.

The tests search the same library on two databases, and embedding it takes longer than all else.
"""

from collections.abc import Sequence
from typing import Any, cast

from bowerbird.search.meaning.models import Models


class _RememberedEmbedder:
    """Passes everything on to a model, except the texts that it has embedded before."""

    def __init__(self, embedder: Any) -> None:
        self._embedder = embedder
        self._posts: dict[str, Any] = {}
        self._queries: dict[str, Any] = {}

    def __getattr__(self, name: str) -> Any:
        return getattr(self._embedder, name)

    async def embed_posts(self, texts: Sequence[str]) -> list[Any]:
        new = [text for text in dict.fromkeys(texts) if text not in self._posts]
        if new:
            vectors = await self._embedder.embed_posts(new)
            self._posts.update(zip(new, vectors, strict=True))
        return [self._posts[text] for text in texts]

    async def embed_query(self, text: str) -> Any:
        if text not in self._queries:
            self._queries[text] = await self._embedder.embed_query(text)
        return self._queries[text]


class _RememberedModels:
    """Replaces each model that is read from, or returned by, the models it stands for."""

    def __init__(self, models: Models) -> None:
        self._models = models
        self._remembered: dict[int, _RememberedEmbedder] = {}

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._models, name)
        if callable(found):
            return lambda *given, **named: self._replaced(found(*given, **named))
        return self._replaced(found)

    def _replaced(self, found: Any) -> Any:
        if isinstance(found, list | tuple):
            return type(found)(map(self._replaced, found))
        if not hasattr(found, "embed_posts"):
            return found
        return self._remembered.setdefault(id(found), _RememberedEmbedder(found))


def remembered(models: Models) -> Models:
    return cast("Models", _RememberedModels(models))
