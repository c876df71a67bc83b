"""The words of a query that count when posts are ranked, and the forms in which posts have them."""

from collections.abc import Collection, Iterator
from typing import Final

import msgspec
from msgspec import Struct

from bowerbird.model.words import Either, Form, Term, WordQuery
from bowerbird.search.words.languages import language_of_words
from bowerbird.search.words.latin_languages import likely_languages
from bowerbird.search.words.tokens import is_unspaced
from bowerbird.search.words.word_lists import FUNCTION_WORDS, OTHER_FUNCTION_WORDS, STOP_WORDS

_FUNCTION_WORDS: Final = {**FUNCTION_WORDS, **OTHER_FUNCTION_WORDS}
# Of a word that punctuation splits: both parts apart from each other, and one of them.
_APART_WEIGHT, _PART_WEIGHT = 0.9, 0.4


class QueryWord(Struct, frozen=True):
    # As it is compared: folded, the tokens separated by spaces.
    text: str
    # The first one is the word as it was typed.
    forms: tuple[Form, ...]
    is_quoted: bool = False
    # Whether the name of a label has it, or a post is at this address.
    is_label: bool = False
    # Alternatives have one group, and count as one word.
    group: int = 0

    @property
    def is_telling(self) -> bool:
        """Whether it counts even if it is spelled like a stop word, as in `he*`."""
        return self.is_quoted or self.forms[0].is_prefix

    @property
    def may_be_misspelled(self) -> bool:
        typed = self.forms[0]
        return not self.is_quoted and not typed.is_prefix and len(typed.tokens) == 1


def words_of(query: WordQuery) -> list[QueryWord]:
    """Stop words are left out unless there are no others."""
    words: dict[str, QueryWord] = {}
    for part in query.parts:
        group = len(words)
        for term in WordQuery((part,)).wanted_terms:
            for word in _words(term):
                of = group if isinstance(part, Either) else len(words)
                words.setdefault(word.text, msgspec.structs.replace(word, group=of))
    stop_words = STOP_WORDS | _function_words(words)
    telling = [word for word in words.values() if word.is_telling or word.text not in stop_words]
    return telling or list(words.values())


def _function_words(words: Collection[str]) -> frozenset[str]:
    """The function words of the language of the query, if it can be recognized."""
    tokens = [token for text in words for token in text.split()]
    likely = likely_languages(language_of_words(tokens, tokens))
    lists = [_FUNCTION_WORDS.get(language, frozenset()) for language in likely]
    return lists[0].intersection(*lists[1:])


def _words(term: Term) -> Iterator[QueryWord]:
    typed = Form(term.tokens, is_prefix=term.is_prefix)
    text = " ".join(term.tokens)
    is_label = bool(term.label_ids or term.post_id)
    if term.is_quoted:
        yield QueryWord(text, (typed, *term.forms), is_quoted=True, is_label=is_label)
    elif len(term.tokens) > 1 and any(map(is_unspaced, term.tokens)):
        # A run of a script without spaces may be a sentence, of which a post has only some words.
        pairs = [token for token in term.tokens if len(token) > 1 or not is_unspaced(token)]
        yield from (QueryWord(pair, (Form((pair,)),), is_label=is_label) for pair in pairs)
    else:
        yield QueryWord(text, (typed, *term.forms, *_parts(term)), is_label=is_label)


def _parts(term: Term) -> Iterator[Form]:
    telling = [token for token in term.tokens if token not in STOP_WORDS]
    if len(term.tokens) > 1 and telling and not term.is_prefix:
        yield Form(term.tokens, _APART_WEIGHT, is_phrase=False)
        yield from (Form((token,), _PART_WEIGHT) for token in telling)


def query_for(form: Form) -> WordQuery:
    """Matches the posts that have a form."""
    if form.is_phrase:
        return WordQuery((Term(form.tokens, is_prefix=form.is_prefix),))
    return WordQuery(tuple(Term((token,)) for token in form.tokens))
