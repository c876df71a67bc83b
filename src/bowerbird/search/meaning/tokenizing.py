"""Splits texts into the pieces that a model knows.

The second model has 128,000 pieces. A tree of all takes 120 MB and a third of a second, so each
call makes a tokenizer of those that its texts contain. No other piece fits, so it finds the same,
except of a word that can be split in two equally likely ways, such as aaaaaa.
"""

from collections.abc import Sequence
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import msgspec
from msgspec import Struct

if TYPE_CHECKING:
    from tokenizers import Tokenizer

# The kind of model that chooses the likeliest pieces by their scores.
_SCORED: Final = "Unigram"
# How many of its first bytes find the list of pieces: no other value begins with these.
_BEGINNING: Final = 1_000


class Encoded(NamedTuple):
    tokens: Sequence[int]
    # Of each token: its word, and its place in the text.
    words: Sequence[int | None]
    offsets: Sequence[tuple[int, int]]


class _Model(Struct, frozen=True):
    type: str
    unk_id: int | None = None
    vocab: msgspec.Raw = msgspec.Raw(b"")


class _File(Struct, frozen=True):
    model: _Model


# So many that the garbage collector should not look at them.
class _Piece(Struct, frozen=True, array_like=True, gc=False):
    text: str
    score: float


class _Scored:
    """The pieces of a model that chooses by score."""

    def __init__(self, model: _Model) -> None:
        self._pieces = msgspec.json.decode(model.vocab, type=list[_Piece])
        self._places = {piece.text: place for place, piece in enumerate(self._pieces)}
        # By first character: few pieces begin with most Chinese ones, so long texts without spaces
        # take an eighth of the time.
        self._longest: dict[str, int] = {}
        for text in self._places:
            if len(text) > self._longest.get(text[:1], 0):
                self._longest[text[:1]] = len(text)
        # What an unknown character costs depends on the lowest score of all pieces.
        lowest = min(self._pieces, key=attrgetter("score"))
        self._always = dict.fromkeys((self._pieces[model.unk_id or 0].text, lowest.text))

    def those_in(self, words: set[str]) -> tuple[list[tuple[str, float]], list[int]]:
        """The pieces that may be part of the words, with their scores, and their tokens.

        The one for what is unknown comes first.
        """
        parts = {
            part
            for word in words
            for start, first in enumerate(word)
            for end in range(start + 1, min(start + self._longest.get(first, 0), len(word)) + 1)
            if (part := word[start:end]) in self._places
        }
        found = dict.fromkeys((*self._always, *parts))
        tokens = [self._places[text] for text in found]
        return [
            (text, self._pieces[token].score) for text, token in zip(found, tokens, strict=True)
        ], tokens


class Tokenizing:
    """Reads tokenizer.json. Its methods are safe to call from several threads."""

    def __init__(self, file: Path) -> None:
        # Imported late, as the model is.
        from tokenizers import Tokenizer  # noqa: PLC0415 - see above

        raw = file.read_bytes()
        model = msgspec.json.decode(raw, type=_File).model
        self._scored = _Scored(model) if model.type == _SCORED else None
        if self._scored is not None:
            vocab = bytes(model.vocab)
            # Looking for all of it takes as long as reading it.
            start = raw.index(vocab[:_BEGINNING])
            raw = b'%b[["",0.0]]%b' % (raw[:start], raw[start + len(vocab) :])
        self._whole = Tokenizer.from_buffer(raw)
        self._whole.no_truncation()
        self._whole.no_padding()
        self.first, self.last = self._whole.encode("").ids

    def encode(self, text: str) -> Encoded:
        tokenizer, tokens = self._of([text])
        found = tokenizer.encode(text, add_special_tokens=False)
        return Encoded(_mapped(found.ids, tokens), found.word_ids, found.offsets)

    def tokens(self, texts: list[str]) -> list[Sequence[int]]:
        """In one call: each call waits for the lock of Python, and the event loop for its end.

        With one call per text, lists lost a third of their rate while posts were embedded.
        """
        tokenizer, tokens = self._of(texts)
        encoded = tokenizer.encode_batch_fast(texts, add_special_tokens=False)
        return [_mapped(each.ids, tokens) for each in encoded]

    def _of(self, texts: Sequence[str]) -> "tuple[Tokenizer, list[int] | None]":
        """A tokenizer for these texts, and what its tokens stand for."""
        if self._scored is None:
            return self._whole, None
        from tokenizers import Tokenizer, models  # noqa: PLC0415 - imported by then

        normalizer: Any = self._whole.normalizer
        splitter: Any = self._whole.pre_tokenizer
        words = {
            word
            for text in texts
            for word, _ in splitter.pre_tokenize_str(normalizer.normalize_str(text))
        }
        pieces, tokens = self._scored.those_in(words)
        tokenizer = Tokenizer(models.Unigram(pieces, 0, False))  # noqa: FBT003 - its parameters
        tokenizer.normalizer, tokenizer.pre_tokenizer = normalizer, splitter
        return tokenizer, tokens


def _mapped(ids: Sequence[int], tokens: Sequence[int] | None) -> Sequence[int]:
    return ids if tokens is None else [tokens[each] for each in ids]
