"""A keyword query and a post's tokens in the syntax of FTS5 and of PostgreSQL.

The syntax consists of our own quoted tokens and fixed operators, so user input cannot inject any.
"""

from collections import defaultdict
from collections.abc import Callable, Sequence

from bowerbird.model.words import GAP, Match, Term, WordQuery


def for_fts5(query: WordQuery) -> Match:
    """Queries for `MATCH`."""
    return _match(query, _fts5_term, every=" AND ", any=" OR ")


def _quoted(token: str) -> str:
    return f'"{token}"'


def for_tsquery(query: WordQuery) -> Match:
    """Queries for `CAST(... AS tsquery)`."""
    return _match(query, _tsquery_term, every=" & ", any=" | ")


def counting_in_fts5(words: Sequence[str]) -> str:
    """Matches posts with any of the words. The words are its first phrases, then gaps follow."""
    any_word = " OR ".join(map(_quoted, words))
    return f"({any_word} OR {_quoted(GAP)}) AND ({any_word})"


def counting_in_tsquery(words: Sequence[str]) -> str:
    """Matches posts with any of the words."""
    return " | ".join(f"'{word}'" for word in words)


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
