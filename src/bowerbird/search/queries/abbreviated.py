"""What the words of a query mean by an abbreviation, and the abbreviations of its phrases."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import Final

from msgspec.structs import replace

from bowerbird.model.words import STEM_WEIGHT, Either, Form, Part, Term, WordQuery
from bowerbird.search.words.abbreviations import COMMON, LENGTHS, key_of

# A library may have learnt several meanings of one abbreviation.
_MOST_MEANINGS: Final = 3
_SIGILS: Final = "#@"
_Run = Sequence[Term]


def asked(query: WordQuery) -> list[str]:
    """The words and phrases that may be an abbreviation, or have one."""
    found = chain.from_iterable(map(_phrases, _runs(query.parts)))
    return list(dict.fromkeys(key for _, keys in found for key in keys))


def expanded(query: WordQuery, learnt: Mapping[str, Sequence[str]]) -> WordQuery:
    """The query with other forms of its words. `learnt` has what a library knows of `asked`."""
    forms: defaultdict[Term, dict[Form, None]] = defaultdict(dict)
    for run in _runs(query.parts):
        for terms, keys in _phrases(run):
            of_library = chain.from_iterable(learnt.get(key, ()) for key in keys)
            common = chain.from_iterable(COMMON.get(key, ()) for key in keys if " " in key)
            for meaning in [*of_library, *common][:_MOST_MEANINGS]:
                # An abbreviation is learnt in the singular.
                found = [
                    Form(tuple(text.split()), STEM_WEIGHT) for text in (meaning, f"{meaning}s")
                ]
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
            more = dict.fromkeys((*part.forms, *forms[part]))
            found.append(replace(part, forms=tuple(more)))
        else:
            found.append(part)
    return tuple(found)


def _phrases(run: _Run) -> Iterator[tuple[_Run, list[str]]]:
    """The neighbours that together may be a phrase, and the keys that stand for it."""
    for first in range(len(run)):
        for end in range(first + 1, min(first + LENGTHS.stop, len(run) + 1)):
            terms = run[first:end]
            key = key_of(chain.from_iterable(term.tokens for term in terms))
            singular = key.removesuffix("s")
            if " " in key or len(singular) in LENGTHS:
                yield terms, list(dict.fromkeys((key, singular)))


def _runs(parts: Sequence[Part]) -> Iterator[_Run]:
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
