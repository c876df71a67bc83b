"""Reads named statements from storage/sql.

A statement is in sql/<room>/<resource>.sql, for both databases. It may use the few words below that
only one of them knows: for the other, they are replaced or left out. Statements that differ in more
are beside it in <resource>.sqlite.sql and <resource>.postgres.sql; a test checks that the names
match. Write parameters as :name and casts as CAST(x AS t), never x::t. The name of another
statement of the resource, in braces, stands for its text; stores fill in what other braces mean.

Also writes a keyword query and a post's tokens in the syntax of FTS5 and of PostgreSQL.

The syntax consists of our own quoted tokens and fixed operators, so user input cannot inject any.
"""

import re
from collections import defaultdict
from collections.abc import Sequence
from functools import cache, lru_cache
from importlib import resources
from importlib.resources.abc import Traversable
from typing import Final

from msgspec import Struct

from bowerbird.model.words import GAP, UNCOUNTED_END, Either, Form, Match, Part, Term, WordQuery

_NAME: Final = re.compile(r"^-- name: (\w+)\n", re.MULTILINE)
_PART: Final = re.compile(r"\{(\w+)\}")
_COMMENT: Final = re.compile(r"^--.*\n", re.MULTILINE)
_PARAMETER: Final = re.compile(r"(?<![:\w]):([a-z_]+)")

_VALUE: Final = r"(:\w+|\{\w+\})"
_REPLACED: Final = {
    "sqlite": (
        # A list is one parameter: SQLite gets it as JSON.
        (rf"= ANY\(CAST\({_VALUE} AS \w+\[\]\)\)", r"IN (SELECT value FROM json_each(\1))"),
        # SQLite has the account of a post in the key of its content.
        (r"\bc\.account_id = (\w+)\.account_id AND c\.number = \1\.", r"c.place = :place + \1."),
        # Only one transaction writes, and it has locked the whole file.
        (r"= ANY\(ARRAY\(((?:.|\n)*?)\)\)\nRETURNING", r"IN (\1)\nRETURNING"),
        (r"\s+FOR UPDATE( SKIP LOCKED)?", ""),
        (r"\bstrpos\(", "instr("),
        (r" AS bytea\)", " AS BLOB)"),
    ),
    "postgres": (
        # PostgreSQL has statistics, and needs to be told neither an index nor an order of tables.
        (r" INDEXED BY [\w{}]+", ""),
        (r"\bCROSS JOIN (\w+ AS \w+)(?=\s+ON\b)", r"JOIN \1"),
    ),
}

Queries = dict[str, str]


@cache
def load(resource: str, dialect: str) -> Queries:
    own = parts(resource, dialect)

    def whole(text: str) -> str:
        return _PART.sub(lambda part: whole(own[part[1]]) if part[1] in own else part[0], text)

    return {name: whole(text) for name, text in own.items()}


def parts(resource: str, dialect: str) -> Queries:
    """The statements as they are in the files."""
    queries: Queries = {}
    for name in (f"{resource}.sql", f"{resource}.{dialect}.sql"):
        if file := files().get(name):
            queries |= parse(adapted(file.read_text(encoding="utf-8"), dialect))
    return queries


def adapted(text: str, dialect: str) -> str:
    for pattern, replacement in _REPLACED[dialect]:
        text = re.sub(pattern, replacement, text)
    return text


def every(dialect: str) -> dict[str, Queries]:
    """The statements of all resources, by resource."""
    names = {name.partition(".")[0] for name in files()}
    return {name: found for name in sorted(names) if (found := load(name, dialect))}


@cache
def files() -> dict[str, Traversable]:
    """Every file of statements by its name, whichever room it is in."""
    folder = resources.files("bowerbird.storage") / "sql"
    return {file.name: file for room in folder.iterdir() for file in room.iterdir()}


def parse(text: str) -> Queries:
    _, *pairs = _NAME.split(text)
    return {
        name: _COMMENT.sub("", body).strip()
        for name, body in zip(pairs[::2], pairs[1::2], strict=True)
    }


@lru_cache(maxsize=1024)
def numbered(sql: str) -> tuple[str, tuple[str, ...]]:
    """The statement with $1, $2 … instead of :names, and the names in that order."""
    names: list[str] = []

    def place(match: re.Match[str]) -> str:
        name = match[1]
        if name not in names:
            names.append(name)
        return f"${names.index(name) + 1}"

    return _PARAMETER.sub(place, sql), tuple(names)


class Syntax(Struct, frozen=True):
    """The operators of a search engine."""

    quote: str
    then: str
    prefix: str
    every: str
    any: str
    but_not: str

    def quoted(self, token: str) -> str:
        return f"{self.quote}{token}{self.quote}"


FTS5: Final = Syntax('"', " + ", " *", " AND ", " OR ", " NOT ")
TSQUERY: Final = Syntax("'", " <-> ", ":*", " & ", " | ", " & !")


def for_fts5(query: WordQuery) -> Match:
    """Queries for `MATCH`."""
    return Match(*_texts(query, FTS5))


def for_tsquery(query: WordQuery) -> Match:
    """Queries for `CAST(... AS tsquery)`."""
    return Match(*_texts(query, TSQUERY))


def counting_in_fts5(words: Sequence[str]) -> str:
    """Matches posts with any of the words. The words are its first phrases, then gaps follow."""
    any_word = FTS5.any.join(map(FTS5.quoted, words))
    return f"({any_word}{FTS5.any}{FTS5.quoted(GAP)}) AND ({any_word})"


def counting_in_tsquery(words: Sequence[str]) -> str:
    """Matches posts with any of the words."""
    return TSQUERY.any.join(map(TSQUERY.quoted, words))


def expression(parts: Sequence[Part], syntax: Syntax) -> str | None:
    """What matches all parts; None if the engine cannot express it."""
    wanted, unwanted, rest = _texts(WordQuery(tuple(parts)), syntax)
    if rest or wanted is None:
        return None
    return wanted if unwanted is None else f"({wanted}){syntax.but_not}({unwanted})"


def vector_text(index_text: str) -> str:
    """An index text as a tsvector literal. Gaps are left out, but positions count them."""
    positions: defaultdict[str, list[str]] = defaultdict(list)
    escaped = index_text.replace("\\", "\\\\").replace("'", "''")
    for position, token in enumerate(escaped.split(), start=1):
        positions[token].append(str(position))
    positions.pop(GAP, None)
    positions.pop(UNCOUNTED_END, None)
    return " ".join(f"'{token}':{','.join(places)}" for token, places in positions.items())


def _texts(query: WordQuery, syntax: Syntax) -> tuple[str | None, str | None, tuple[Part, ...]]:
    """What a post must match, what it must not match, and what the engine cannot express."""
    wanted: list[str] = []
    unwanted: list[str] = []
    rest: list[Part] = []
    for part in query.parts:
        text = _part(part, syntax)
        if text is None:
            rest.append(part)
        else:
            (unwanted if part.is_excluded else wanted).append(text)
    return syntax.every.join(wanted) or None, syntax.any.join(unwanted) or None, tuple(rest)


def _part(part: Part, syntax: Syntax) -> str | None:
    """What matches a part, or what it excludes."""
    if isinstance(part, Term):
        return None if part.label_ids or part.post_id else _term(part, syntax)
    if isinstance(part, Either):
        branches = [expression(branch, syntax) for branch in part.branches]
        texts = [text for text in branches if text is not None]
        return _grouped(texts, syntax.any) if len(texts) == len(branches) else None
    return None


def _term(term: Term, syntax: Syntax) -> str:
    phrase = _phrase(term, syntax)
    if not term.forms:
        return phrase
    return _grouped([phrase, *(_form(form, syntax) for form in term.forms)], syntax.any)


def _form(form: Form, syntax: Syntax) -> str:
    if form.is_phrase or len(form.tokens) == 1:
        return _phrase(form, syntax)
    return _grouped([syntax.quoted(token) for token in form.tokens], syntax.every)


def _phrase(term: Term | Form, syntax: Syntax) -> str:
    phrase = syntax.then.join(map(syntax.quoted, term.tokens))
    return f"{phrase}{syntax.prefix}" if term.is_prefix else phrase


def _grouped(texts: Sequence[str], operator: str) -> str:
    return f"({operator.join(texts)})"
