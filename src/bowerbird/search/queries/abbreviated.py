"""What the words of a query mean by an abbreviation, and the abbreviations of its phrases."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Final, NamedTuple

from msgspec.structs import replace

from bowerbird.model.words import STEM_WEIGHT, Either, Form, Part, Term, WordQuery
from bowerbird.search.words.abbreviations import COMMON, LENGTHS, key_of
from bowerbird.search.words.word_forms import MAX_FORMS

_SIGILS: Final = "#@"
# Those of a library, of one phrase.
_MOST_MEANINGS: Final = 3


class Phrase(NamedTuple):
    """Neighbours in a query that may be an abbreviation, or have one."""

    terms: Sequence[Term]
    # As it is typed; of several words also in the singular.
    keys: tuple[str, ...]


def phrases(query: WordQuery) -> list[Phrase]:
    return [phrase for run in _runs(query.parts) for phrase in _phrases(run)]


def expanded(
    query: WordQuery, asked: Iterable[Phrase], learnt: Mapping[str, Sequence[str]]
) -> WordQuery:
    """The query with other forms of its words. `learnt` has what a library knows of the keys."""
    forms: defaultdict[Term, dict[Form, None]] = defaultdict(dict)
    for terms, keys in asked:
        # The parser knows what common abbreviations mean, but not those of phrases.
        common = [text for key in keys if " " in key for text in COMMON.get(key, ())]
        of_library = list(chain.from_iterable(learnt.get(key, ()) for key in keys))
        for meaning in [*common, *of_library[:_MOST_MEANINGS]]:
            # Words are learnt in the singular. CSS is not the plural of CS.
            texts = (meaning, f"{meaning}s") if " " in meaning else (meaning,)
            found = [Form(tuple(text.split()), STEM_WEIGHT) for text in texts]
            for term in terms:
                forms[term].update(dict.fromkeys(found))
    return replace(query, parts=_with_forms(query.parts, forms)) if forms else query


def _with_forms(
    parts: tuple[Part, ...], forms: Mapping[Term, Mapping[Form, None]]
) -> tuple[Part, ...]:
    found: list[Part] = []
    for part in parts:
        if isinstance(part, Either):
            branches = tuple(_with_forms(branch, forms) for branch in part.branches)
            found.append(Either(branches, part.is_excluded))
        elif isinstance(part, Term) and part in forms:
            more = tuple(dict.fromkeys((*part.forms, *forms[part])))
            found.append(replace(part, forms=more[: max(MAX_FORMS, len(part.forms))]))
        else:
            found.append(part)
    return tuple(found)


def _phrases(run: Sequence[Term]) -> Iterator[Phrase]:
    words = [key_of(term.tokens) for term in run]
    for first in range(len(run)):
        key = ""
        for end in range(first, min(first + LENGTHS[-1], len(run))):
            key = f"{key} {words[end]}".strip()
            if " " in key:
                keys = dict.fromkeys((key, key.removesuffix("s")))
                yield Phrase(run[first : end + 1], tuple(keys))
            elif len(key) in LENGTHS or len(key.removesuffix("s")) in LENGTHS:
                yield Phrase(run[first : end + 1], (key,))


def _runs(parts: Sequence[Part]) -> Iterator[Sequence[Term]]:
    """The neighbours among the words that are typed as they are."""
    run: list[Term] = []
    for part in parts:
        if isinstance(part, Term) and _is_plain(part):
            run.append(part)
            continue
        if run:
            yield run
            run = []
        if isinstance(part, Either) and not part.is_excluded:
            yield from chain.from_iterable(map(_runs, part.branches))
    if run:
        yield run


def _is_plain(term: Term) -> bool:
    is_special = term.is_excluded or term.is_quoted or term.is_field or term.is_prefix
    return not is_special and not any(token[0] in _SIGILS for token in term.tokens)
