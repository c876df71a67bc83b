"""Finds the current embedding model, and older models for vectors that still need them.

The second model, the multilingual Universal Sentence Encoder, was trained on 15 languages: those
below and English. In English the first model finds more (ADR 0016), so accounts whose posts are all
in English have no vectors of the second.
"""

import sys
import unicodedata
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from bowerbird.search.meaning.embedding import CURRENT, MULTILINGUAL, Embedder, local_model
from bowerbird.search.meaning.remote_embedding import RemoteEmbedder
from bowerbird.search.words.languages import language_of, likely_languages
from bowerbird.search.words.word_lists import ENGLISH
from bowerbird.settings import Settings

MISSING: Final = "the embedding model is not installed; the operator can build it: bowerbird model"
_LANGUAGES: Final = frozenset(
    ("ar", "de", "es", "fr", "it", "ja", "ko", "nl", "pl", "pt", "ru", "th", "tr", "zh")
)

_DENSE: Final = frozenset(("ja", "ko", "zh"))
# In nonsense, and in words of a language that a model was not trained on.
_SHORT_PIECE, _SHORT_PIECE_OTHER_SCRIPT = 2.3, 1.3


class Models:
    def __init__(self, settings: Settings, *, is_low_priority: bool = True) -> None:
        self._settings = settings
        self._is_low_priority = is_low_priority
        self._folder = model_folder(settings)
        self._known: dict[bytes, Embedder] = {}
        self._current: Embedder | None = None
        self._second: Embedder | None = None

    @property
    def current(self) -> Embedder | None:
        """None if no model was built. Looks again each time, so a new model needs no restart."""
        if self._current is None:
            found: Embedder | None = self._endpoint(self._settings.embedding_model)
            found = found or local_model(
                self._folder, CURRENT, is_low_priority=self._is_low_priority
            )
            self._current = found and self._known.setdefault(found.identity, found)
        return self._current

    @property
    def second(self) -> Embedder | None:
        """The multilingual model, for accounts with posts in other languages than English.

        None if it was not built, or if another service embeds.
        """
        if self._second is None and not self._settings.embedding_url:
            found = local_model(self._folder, MULTILINGUAL, is_low_priority=self._is_low_priority)
            self._second = found and self._known.setdefault(found.identity, found)
        return self._second

    @property
    def is_second_missing(self) -> bool:
        """Whether the second model was not built, or is lost, where it is used."""
        return self.second is None and not self._settings.embedding_url

    @property
    def identities(self) -> tuple[bytes, bytes]:
        """The hashes of the current and the second model; empty for a model that was not built."""
        current, second = (model and model.identity for model in (self.current, self.second))
        return current or b"", second or b""

    @property
    def problem(self) -> str | None:
        return MISSING if self.current is None else self.current.problem

    def of(self, identity: bytes, name: str) -> Embedder | None:
        """The model with which some vectors were created, if it is still available."""
        current = self.current
        if current is not None and current.identity == identity:
            return current
        if identity not in self._known:
            endpoint = self._endpoint(name)
            if endpoint is not None and endpoint.identity == identity:
                self._known[identity] = endpoint
            elif local := local_model(self._folder, identity=identity.hex()):
                self._known[identity] = local
        return self._known.get(identity)

    async def close(self) -> None:
        for embedder in self._known.values():
            await embedder.close()

    def _endpoint(self, model: str) -> RemoteEmbedder | None:
        if not self._settings.embedding_url:
            return None
        return RemoteEmbedder(self._settings.embedding_url, self._settings.embedding_key, model)


def model_folder(settings: Settings) -> Path:
    """The folder of this Python environment, unless a setting names another one."""
    return Path(settings.model_dir or Path(sys.prefix) / "share/bowerbird/model")


def needs_second_model(text: str) -> bool:
    """Whether the text of a post is in a language that only the second model was trained on."""
    likely = likely_languages(language_of(text))
    return likely[0] in _LANGUAGES and ENGLISH not in likely


def first_share(query: str) -> float:
    """The share of the first model in the score of both.

    In other scripts than Latin it sees little more than the language.
    """
    return 0.3 if is_in_other_script(query) else 0.5


def is_understood(text: str, *, has_second: bool) -> bool:
    """Whether the models were trained on the language of a post in another script than Latin."""
    return not is_in_other_script(text) or (has_second and needs_second_model(text))


def is_known(query: str, letters_per_piece: Sequence[float]) -> bool:
    """Whether a model knows words of a query, by the length of the pieces of each model."""
    if not is_in_other_script(query):
        return max(letters_per_piece) > _SHORT_PIECE
    # The pieces of a script of syllables are short in the second model too.
    is_dense = language_of(query) in _DENSE and len(letters_per_piece) > 1
    return is_dense or letters_per_piece[-1] > _SHORT_PIECE_OTHER_SCRIPT


def is_in_other_script(query: str) -> bool:
    """Whether most letters of a query are not Latin."""
    letters = [character for character in query if character.isalpha()]
    others = sum(not _is_latin(letter) for letter in letters)
    return 2 * others > len(letters)


def _is_latin(letter: str) -> bool:
    return letter.isascii() or unicodedata.name(letter, "").startswith(("LATIN", "FULLWIDTH LATIN"))
