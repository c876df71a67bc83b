"""A keyword query and a post's tokens in the two engines' own languages.

Made of our own tokens in quotes and of fixed operators: no character of the user's reaches an
engine's syntax.
"""

from collections import defaultdict
from collections.abc import Callable

from bowerbird.model.words import GAP, Match, Term, WordQuery


def for_fts5(query: WordQuery) -> Match:
    """Texts for `MATCH`."""
    return _match(query, _fts5_term, every=" AND ", any=" OR ")


def for_tsquery(query: WordQuery) -> Match:
    """Texts for `CAST(... AS tsquery)`."""
    return _match(query, _tsquery_term, every=" & ", any=" | ")


def vector_text(index_text: str) -> str:
    """An index text as a tsvector literal. Gaps are left out but keep their places."""
    positions: defaultdict[str, list[str]] = defaultdict(list)
    escaped = index_text.replace("\\", "\\\\").replace("'", "''")
    for position, token in enumerate(escaped.split(), start=1):
        positions[token].append(str(position))
    positions.pop(GAP, None)
    return " ".join(f"'{token}':{','.join(places)}" for token, places in positions.items())


def _match(query: WordQuery, render: Callable[[Term], str], *, every: str, any: str) -> Match:
    wanted = [render(term) for term in query.terms if not term.is_excluded]
    unwanted = [render(term) for term in query.terms if term.is_excluded]
    return Match(every.join(wanted) or None, any.join(unwanted) or None)


def _fts5_term(term: Term) -> str:
    phrase = " + ".join(f'"{token}"' for token in term.tokens)
    return f"{phrase} *" if term.is_prefix else phrase


def _tsquery_term(term: Term) -> str:
    phrase = " <-> ".join(f"'{token}'" for token in term.tokens)
    return f"{phrase}:*" if term.is_prefix else phrase
