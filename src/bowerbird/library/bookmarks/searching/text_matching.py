"""Whether the texts of a post match a query. Reads the texts instead of an index."""

from collections.abc import Callable, Iterable, Sequence
from typing import Final

from bowerbird.library.bookmarks.searching.label_words import hashtag_of
from bowerbird.model.posts.media import DOMAIN
from bowerbird.model.words import Condition, Either, Part, Term
from bowerbird.search.words import tokens

_NAMES: Final = (DOMAIN, "author_username", "author_details.name")
_TITLE: Final = ".title"


def indexed(
    fields: Sequence[tuple[str, str]], labels: Sequence[str] = (), addresses: Sequence[str] = ()
) -> str:
    """The tokens of a post as the index has them, between spaces."""
    names = [text for name, text in fields if name.endswith(_NAMES)]
    texts = [text for name, text in fields if not name.endswith(_NAMES)]
    titles = [text for name, text in fields if name.endswith(_TITLE)]
    texts = [*labels, *map(hashtag_of, labels), *texts]
    return f" {tokens.index_text(texts, names, addresses, titles)} "


def matches(text: str, parts: Iterable[Part], meets: Callable[[Condition], bool]) -> bool:
    """`meets` says whether the post meets a condition, as if it excluded nothing."""
    return all(_has(text, part, meets) is not part.is_excluded for part in parts)


def _has(text: str, part: Part, meets: Callable[[Condition], bool]) -> bool:
    if isinstance(part, Condition):
        return meets(part)
    if isinstance(part, Either):
        return any(matches(text, branch, meets) for branch in part.branches)
    return _has_term(text, part)


def _has_term(text: str, term: Term) -> bool:
    if _contains(text, term.tokens, is_prefix=term.is_prefix):
        return True
    return any(
        _contains(text, form.tokens, is_prefix=form.is_prefix)
        if form.is_phrase
        else all(_contains(text, (one,)) for one in form.tokens)
        for form in term.forms
    )


def _contains(text: str, words: Sequence[str], *, is_prefix: bool = False) -> bool:
    return f" {' '.join(words)}{'' if is_prefix else ' '}" in text
