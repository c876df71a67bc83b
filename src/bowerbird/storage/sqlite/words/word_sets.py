"""Evaluates an FTS5 query with sets of posts instead of one hit after another.

The sets of common words are in memory. FTS5 reads the other alternatives of an OR.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import apsw
import msgspec

from bowerbird.model.accounts import Account
from bowerbird.model.words import Term, WordQuery
from bowerbird.storage.database import WordSearch
from bowerbird.storage.keyword_queries import FTS5, for_fts5
from bowerbird.storage.places import place_values
from bowerbird.storage.queries import Queries
from bowerbird.storage.sqlite.words.common_words import CommonWords
from bowerbird.storage.sqlite.words.number_sets import set_in
from bowerbird.storage.sqlite.words.word_prefixes import without_words

_TOKEN: Final = re.compile(r'"[^"]*"|[()*+]|AND|OR|NOT')
_OR, _AND, _NOT = "OR", "AND", "NOT"
# FTS5 binds NOT tighter than AND, and AND tighter than OR.
_OPERATORS: Final = (_OR, _AND, _NOT)
_EVERY: Final = -1
# So many hits are joined with their flags, which takes less than a set.
_FEW: Final = 5_000


@dataclass(frozen=True, slots=True)
class Leaf:
    """A word, the beginning of words, or a phrase."""

    tokens: Sequence[str]
    is_prefix: bool

    @property
    def word(self) -> str | None:
        return self.tokens[0] if len(self.tokens) == 1 and not self.is_prefix else None

    @property
    def prefix(self) -> str | None:
        return self.tokens[0] if len(self.tokens) == 1 and self.is_prefix else None


@dataclass(frozen=True, slots=True)
class Operation:
    operator: str
    operands: Sequence["Node"]


Node = Leaf | Operation


def parse(expression: str) -> Node:
    """A query that `keyword_queries` has written."""
    return _Parser(_TOKEN.findall(expression)).node(_OPERATORS)


class _Parser:
    def __init__(self, tokens: list[str]) -> None:
        self._tokens = [*reversed(tokens)]

    def node(self, operators: Sequence[str]) -> Node:
        """Operands that the first operator joins; they have the others, which bind tighter."""
        if not operators:
            return self._operand()
        operator, *tighter = operators
        operands = [self.node(tighter)]
        while self._takes(operator):
            operands.append(self.node(tighter))
        if len(operands) == 1:
            return operands[0]
        if operator == _OR:
            operands = [part for operand in operands for part in _alternatives(operand)]
        return Operation(operator, operands)

    def _operand(self) -> Node:
        if self._takes("("):
            node = self.node(_OPERATORS)
            self._takes(")")
            return node
        tokens = [self._tokens.pop()[1:-1]]
        while self._takes("+"):
            tokens.append(self._tokens.pop()[1:-1])
        return Leaf(tokens, self._takes("*"))

    def _takes(self, token: str) -> bool:
        if self._tokens and self._tokens[-1] == token:
            self._tokens.pop()
            return True
        return False


def _alternatives(node: Node) -> Sequence[Node]:
    if isinstance(node, Operation) and node.operator == _OR:
        return node.operands
    return (node,)


def _is_word(node: Node) -> bool:
    return isinstance(node, Leaf) and node.word is not None


def _has_phrase(node: Node) -> bool:
    if isinstance(node, Leaf):
        return len(node.tokens) > 1
    return any(map(_has_phrase, node.operands))


class SetReader:
    """The sets of one search, within one transaction."""

    def __init__(
        self, connection: apsw.Connection, sql: Queries, account: Account, common: CommonWords
    ) -> None:
        self._connection = connection
        self._sql = sql
        self._account = account
        self._common = common
        self._sets = common.sets
        # Those that were read, and those in memory that were used.
        self.used_prefixes: dict[str, int] = {}

    def matching(self, expression: str) -> int | None:
        """All posts that match; None if FTS5 should evaluate the whole query."""
        if not self._common.is_valid(self._connection, self._sql):
            return None
        node = parse(expression)
        # A phrase takes as long as all its words.
        return None if _has_phrase(node) else self._set(node)

    def selected(self, search: WordSearch) -> int | None:
        """What the filter selects whatever the flags; None if it needs columns of bookmarks."""
        found = _EVERY
        if not search.filter.is_flags_only:
            if search.numbers is None:
                return None
            found = self._numbers(
                self._sql["numbers_selected"].format(numbers=search.numbers), search.values
            )
        for part in search.labelled:
            if not isinstance(part, Term):
                return None
            more = self._set_of_term(part)
            if more is None:
                return None
            found &= ~more if part.is_excluded else more
        return found

    def _set_of_term(self, term: Term) -> int | None:
        """The posts with a term, or with one of its labels."""
        plain = Term(term.tokens, is_prefix=term.is_prefix, forms=term.forms)
        wanted = for_fts5(WordQuery((plain,))).wanted
        found = None if wanted is None else self._set(parse(wanted), needs_common=False)
        if found is None:
            return None
        values = {
            "account_id": self._account.account_id,
            "labels": msgspec.json.encode(term.label_ids).decode(),
        }
        return found | self._numbers(self._sql["numbers_with_labels"], values)

    def _numbers(self, sql: str, values: Mapping[str, Any]) -> int:
        rows: Iterable[Any] = self._connection.execute(sql, values)
        return set_in(row[0] for row in rows if row[0])

    def _set(self, node: Node, *, needs_common: bool = True) -> int | None:
        if isinstance(node, Leaf) or node.operator == _OR:
            return self._union(_alternatives(node), needs_common=needs_common)
        first, *others = node.operands
        found = self._set(first)
        for other in others:
            if found is None:
                return None
            # What FTS5 excludes, it reads completely too.
            more = self._set(other, needs_common=node.operator == _AND)
            if more is None:
                return None
            found &= more if node.operator == _AND else ~more
        return found

    def _union(self, alternatives: Sequence[Node], *, needs_common: bool) -> int | None:
        found = 0
        is_large = not needs_common
        rare: list[str] = []
        # Words first: if one is common, prefixes need not be.
        for node in sorted(alternatives, key=_is_word, reverse=True):
            if isinstance(node, Leaf) and node.word is not None and node.word not in self._sets:
                rare.append(FTS5.quoted(node.word))
                continue
            if isinstance(node, Leaf):
                more = self._set_of_leaf(node, needs_common=not is_large)
            else:
                more = self._set(node)
            if more is None:
                return None
            found |= more
            is_large = is_large or more.bit_count() > _FEW
        if not is_large:
            return None
        return found | self._read(rare) if rare else found

    def _set_of_leaf(self, leaf: Leaf, *, needs_common: bool) -> int | None:
        if leaf.word is not None:
            return self._sets[leaf.word]
        if leaf.prefix is None:
            return None
        return self._set_of_prefix(leaf.prefix, needs_common=needs_common)

    def _set_of_prefix(self, prefix: str, *, needs_common: bool) -> int | None:
        found = self.used_prefixes.get(prefix, self._common.prefixes.get(prefix))
        if found is None:
            known = [*self._sets]
            others = without_words(self._connection, self._sql, self._account, prefix, known)
            if others is None or (needs_common and others.posts <= _FEW):
                return None
            found = self._read(others.phrases)
            for word in others.known:
                found |= self._sets[word]
        self.used_prefixes[prefix] = found
        return found

    def _read(self, phrases: Sequence[str]) -> int:
        # One by one: FTS5 takes longer to merge them.
        values = {"queries": msgspec.json.encode(phrases).decode(), **place_values(self._account)}
        return self._numbers(self._sql["hits_of_each"], values)
