"""The index text of a post, computed field by field and piece by piece: slow and plain."""

import re
from collections.abc import Iterator, Sequence

from bowerbird.model.words import GAP, UNCOUNTED_END
from bowerbird.search.words import abbreviations, compounds, sounds
from bowerbird.search.words.index_forms import marked_tokens
from bowerbird.search.words.languages import language_of_words, likely_languages
from bowerbird.search.words.token_folding import MAX_TOKEN_CHARACTERS, fold
from bowerbird.search.words.tokens import SIGIL_WORD, words

_UNUSUAL = re.compile(
    r"(?<=[a-z])[A-Z]|(?<=[A-Z])[A-Z](?=[a-z])|(?<=[A-Za-z])[0-9]|[0-9](?=[A-Za-z])"
    r"|(?<=[A-Za-z0-9])['.&/,\-](?=[A-Za-z0-9])|[_@+]|(?<=[CFcf])#|\.(?=[Nn][Ee][Tt])|[^\x00-\x7f]"
)
_NAME_WITH_UMLAUT = re.compile(r"\b[A-Z][a-z]*(?:[aou]e|aa)[a-z]*")


def reference_index_text(texts: Sequence[str], names: Sequence[str] = ()) -> str:
    """For texts far below the limits of the index."""
    tokens: list[str] = []
    begin = 0
    for number, field in enumerate([*names, *texts]):
        if number == len(names):
            begin = len(tokens)
        sigils = [piece[:MAX_TOKEN_CHARACTERS] for piece in SIGIL_WORD.findall(fold(field))]
        found = [*words(field), *([GAP, *sigils] if sigils else [])]
        tokens += [GAP, *found] if tokens and found else found
    language = language_of_words(tokens[begin:], texts)
    pieces = [word for word in tokens if word.isalpha() and word.isascii()]
    pieces += [piece for field in [*names, *texts] for piece in _pieces(field)]
    others = dict.fromkeys(
        marked.token
        for one in likely_languages(language)
        for piece in pieces
        for marked in marked_tokens(piece, one)
    )
    text = " ".join([*tokens, GAP, *others] if others else tokens)
    uncounted = abbreviations.tokens_of(texts)
    uncounted += compounds.tokens_of(tokens, language, has_hashtags=True)
    for field in [*names, *texts]:
        uncounted += sounds.tokens_of(field)
    return f"{' '.join(uncounted)} {UNCOUNTED_END} {text}" if uncounted else text


def _pieces(field: str) -> Iterator[str]:
    for piece in field.replace(". ", " ").replace(", ", " ").split():
        if _UNUSUAL.search(piece):
            yield piece
    yield from _NAME_WITH_UMLAUT.findall(field)
