"""A keyword query and a post's tokens in the syntax of FTS5 and of PostgreSQL.

The syntax consists of our own quoted tokens and fixed operators, so user input cannot inject any.
"""

from collections import defaultdict
from collections.abc import Callable

from msgspec.structs import replace

from bowerbird.model.words import GAP, Match, Term, WordQuery


def for_fts5(query: WordQuery) -> Match:
    """Queries for `MATCH`. The ranking query ends with the ranked words and the gap token."""
    match = _match(query, _fts5_term, every=" AND ", any=" OR ")
    counted = query.ranking_tokens
    if not counted or match.wanted is None:
        return match
    wanted = [term for term in query.terms if not term.is_excluded]
    # If the terms are single words, their own phrases are counted; else the words are added again.
    is_simple = [term.tokens for term in wanted] == [(token,) for token in counted]
    again = counted[:1] if is_simple else counted
    ranking = f"({match.wanted}) AND ({' OR '.join(map(_quoted, [*again, GAP]))})"
    return replace(match, ranking=ranking, ranking_start=0 if is_simple else len(wanted))


def _quoted(token: str) -> str:
    return f'"{token}"'


def for_tsquery(query: WordQuery) -> Match:
    """Queries for `CAST(... AS tsquery)`."""
    match = _match(query, _tsquery_term, every=" & ", any=" | ")
    return replace(
        match, ranking=" | ".join(f"'{token}'" for token in query.ranking_tokens) or None
    )


def vector_text(index_text: str) -> str:
    """An index text as a tsvector literal. Gap tokens are left out, but positions count them."""
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
    phrase = " + ".join(map(_quoted, term.tokens))
    return f"{phrase} *" if term.is_prefix else phrase


def _tsquery_term(term: Term) -> str:
    phrase = " <-> ".join(f"'{token}'" for token in term.tokens)
    return f"{phrase}:*" if term.is_prefix else phrase
