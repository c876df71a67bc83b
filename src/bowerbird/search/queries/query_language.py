"""Parses search queries into a tree. Every query is valid; hints say what was not understood.

Words, "phrases", -exclusions, NOT, prefix*, OR, parentheses, and fields such as author:ada. OR
joins its two neighbours: `cats OR dogs food` means `(cats OR dogs) food`.
"""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Final

from msgspec.structs import replace

from bowerbird.clock import MICROSECONDS
from bowerbird.model.instants import with_offset
from bowerbird.model.words import (
    TITLE,
    TRASH,
    Condition,
    Either,
    Field,
    Part,
    Term,
    WordQuery,
    with_terms,
)
from bowerbird.search.queries import query_fields
from bowerbird.search.queries.query_pieces import (
    OPERATOR_WORDS,
    Kind,
    Piece,
    pieces,
    reads_like_a_sentence,
    settled,
)
from bowerbird.search.words import addresses, tokens, word_forms
from bowerbird.search.words.languages import language_of
from bowerbird.search.words.token_folding import MAX_TOKEN_CHARACTERS
from bowerbird.search.words.word_lists import STOP_WORDS

MAX_TERMS: Final = 32
# The event loop parses queries, so their length has a limit. Nobody types more than this.
MAX_CHARACTERS: Final = 4_000
# Limits the work for the database when somebody pastes a page; the first words decide.
MAX_TERM_TOKENS: Final = 64
# Deeper parentheses are ignored.
MAX_DEPTH: Final = 8
MAX_HINTS: Final = 4
# The index reads every word that begins with a prefix: hundreds of words if it is short. So each
# takes a part of what a query may cost, by its number of letters.
_PREFIX_COSTS: Final = {2: 8, 3: 4}
_LONGER_PREFIX_COST: Final = 1
MAX_PREFIX_COST: Final = 8
TOO_MANY_PREFIXES: Final = (
    "Not all words with * count: only the first eight of four letters or more, two of three "
    "letters, or one of two."
)
# In a sentence with so many other words.
_LEAST_BESIDE_QUOTES: Final = 3
QUOTES_IN_A_SENTENCE: Final = (
    "The query reads like a sentence, so its quotation marks do not ask for exact words."
)

_STRAIGHT_QUOTES: Final = str.maketrans("\u201c\u201d\u201e\uff02", '""""')
_PAIR_LENGTH: Final = 2
_CACHED: Final = 512
_MINUTE: Final = 60 * MICROSECONDS


def parse(text: str, now: int | None = None) -> WordQuery:
    """The tree of a query. Without `now`, relative dates have no instant."""
    found = _parsed(text[:MAX_CHARACTERS], None)
    # To the minute, as relative dates are, so that the tree is cached.
    if now is None or not any(map(_is_moving, found.conditions)):
        return found
    return _parsed(text[:MAX_CHARACTERS], now // _MINUTE * _MINUTE)


def moves(text: str) -> bool:
    """Whether the query has a date that is relative to the current time."""
    return any(map(_is_moving, parse(text).conditions))


@lru_cache(maxsize=_CACHED)
def _parsed(text: str, now: int | None) -> WordQuery:
    return _Parser(straight(text), now).query()


def _is_moving(condition: Condition) -> bool:
    return condition.instant is None and condition.field in (Field.BEFORE, Field.AFTER)


def with_fixed_dates(text: str, now: int) -> str:
    """The query with absolute dates instead of relative ones."""
    fixed, end = "", 0
    for piece in pieces(text := straight(text)):
        if piece.field in (Field.BEFORE, Field.AFTER) and query_fields.is_relative(piece.text):
            found = query_fields.condition(piece.field, piece.text, now)
            assert found is not None
            assert found.instant is not None
            fixed += text[end : piece.span[0]] + with_offset(found.instant)
            end = piece.span[1]
    return fixed + text[end:]


def plain_text(text: str) -> str:
    """The wanted words and phrases without operators and fields, for a search by meaning."""
    wanted, excluded = [], 0
    for piece in pieces(straight(text)):
        if piece.kind is Kind.OPEN and (excluded or piece.is_excluded):
            excluded += 1
        elif piece.kind is Kind.CLOSE and excluded:
            excluded -= 1
        elif piece.kind in (Kind.WORD, Kind.PHRASE) and not (excluded or piece.is_excluded):
            wanted.append(piece.text.strip())
    return " ".join(wanted)


def limits_of(text: str, now: int | None = None) -> WordQuery | None:
    """The fields and exclusions of a text that is searched by meaning; None if it has none."""
    found = parse(text, now)
    if not plain_text(text):
        return None if found.is_empty else found
    return found.limits and replace(found.limits, hints=found.hints)


def joined(texts: Sequence[str]) -> str:
    """One query that matches what all of them match: nothing, if one of them has no words."""
    if empty := [text for text in texts if parse(text).is_empty]:
        return empty[0]
    return " ".join([_enclosed(text) for text in texts] if len(texts) > 1 else texts)


def _enclosed(text: str) -> str:
    """A query that does not change the meaning of the words after it."""
    text = settled(straight(text))
    if [piece.text for piece in pieces(f"{text} x")][-1] != "x":
        text += '"'
    kinds = [piece.kind for piece in pieces(text)]
    # Beside other words, stop words would be left out.
    is_stopped = not (parse(text).left_out or STOP_WORDS.isdisjoint(text.lower().split()))
    if not {Kind.OR, Kind.OPEN} & {*kinds} and "NOT" not in text and not is_stopped:
        return text
    return f"({text}{')' * (kinds.count(Kind.OPEN) - kinds.count(Kind.CLOSE))})"


def straight(text: str) -> str:
    """The part of a query that is read, with straight quotation marks."""
    return text[:MAX_CHARACTERS].translate(_STRAIGHT_QUOTES)


class _Group:
    """The parts between two parentheses. Each item has the alternatives that OR joins."""

    def __init__(self, *, is_excluded: bool = False) -> None:
        self._items: list[list[tuple[Part, ...]]] = []
        self._is_excluded = is_excluded
        self.has_open_or = False
        # Words that are not all in capitals, such as the WHO.
        self.plain: set[Term] = set()

    @property
    def has_items(self) -> bool:
        return bool(self._items)

    def add(self, parts: tuple[Part, ...]) -> None:
        if not parts:
            return
        if self.has_open_or:
            self._items[-1] += _alternatives(parts)
        else:
            self._items.append([parts])
        self.has_open_or = False

    def parts(self) -> tuple[Part, ...]:
        found = tuple(dict.fromkeys(part for item in self._items for part in _either(item)))
        if not self._is_excluded or not found:
            return found
        found = with_terms(found, _strict)
        if len(found) == 1 and not found[0].is_excluded:
            return (replace(found[0], is_excluded=True),)
        return (Either((found,), is_excluded=True),)

    def without_stop_words(self, parts: tuple[Part, ...]) -> tuple[Part, ...]:
        """No post has to have a stop word beside other words."""
        plain = [part for part in parts if isinstance(part, Term) and part in self.plain]
        texts = {term: " ".join(term.tokens) for term in plain if not term.is_prefix}
        if len(parts) < _PAIR_LENGTH or not texts:
            return parts
        left = tuple(p for p in parts if not isinstance(p, Term) or texts.get(p) not in STOP_WORDS)
        return left if any(map(_is_wanted, left)) else parts


class _Parser:
    def __init__(self, text: str, now: int | None) -> None:
        self._pieces = list(pieces(text))
        self._is_sentence = reads_like_a_sentence(self._pieces)
        self._now = now
        self._left = MAX_TERMS
        self._left_for_prefixes = MAX_PREFIX_COST
        self._groups = [_Group()]
        # Open parentheses that are too deep.
        self._ignored = 0
        self._hints: dict[str, None] = {}
        self._left_out = 0
        words = sum(piece.kind is Kind.WORD for piece in self._pieces)
        if self._is_sentence and words >= _LEAST_BESIDE_QUOTES:
            self._take_off_quotes()

    def query(self) -> WordQuery:
        for piece in self._pieces:
            self._take(piece)
        while len(self._groups) > 1:
            self._close()
        parts = self._end(self._groups[0])
        # Folded terms have no accents, and stop words are left out: both show a language.
        typed = [piece.text for piece in self._pieces if piece.kind in (Kind.WORD, Kind.PHRASE)]
        language = language_of(" ".join(typed))
        return WordQuery(parts, tuple(self._hints)[:MAX_HINTS], self._left_out, language)

    def _take_off_quotes(self) -> None:
        """A pasted sentence quotes what posts about the same say in other words."""
        pieces = [each for piece in self._pieces for each in _unquoted(piece)]
        if len(pieces) > len(self._pieces):
            self._hint(QUOTES_IN_A_SENTENCE)
        self._pieces = pieces

    def _take(self, piece: Piece) -> None:
        group = self._groups[-1]
        match piece.kind:
            case Kind.OPEN:
                self._open(piece)
            case Kind.CLOSE:
                self._close()
            case Kind.OR if group.has_items:
                group.has_open_or = True
            case Kind.AND if group.has_items:
                pass
            case _:
                group.add(self._part(piece))

    def _open(self, piece: Piece) -> None:
        if len(self._groups) > MAX_DEPTH:
            self._ignored += 1
        else:
            self._groups.append(_Group(is_excluded=self._excludes(piece)))

    def _close(self) -> None:
        if self._ignored:
            self._ignored -= 1
        else:
            parts = self._end(self._groups.pop())
            self._groups[-1].add(parts)

    def _end(self, group: _Group) -> tuple[Part, ...]:
        if group.has_open_or and self._left:
            self._hint("OR needs a word on both sides.")
        parts = group.parts()
        left = group.without_stop_words(parts)
        self._left_out += len(parts) - len(left)
        return left

    def _excludes(self, piece: Piece) -> bool:
        if piece.is_excluded and self._is_sentence:
            self._hint("The query reads like a sentence, so a dash does not exclude a word.")
            return False
        return piece.is_excluded

    def _part(self, piece: Piece) -> tuple[Part, ...]:
        if not self._left:
            self._hint(f"Only the first {MAX_TERMS} words and fields count.")
            return ()
        if piece.kind is Kind.PHRASE:
            terms = tuple(filter(self._affords, _quoted(piece.text)[: self._left]))
            self._left -= len(terms)
            return _excluded(terms) if piece.is_excluded else terms
        part = self._condition(piece) if piece.kind is Kind.FIELD else self._text(piece)
        if part is None or (isinstance(part, Term) and not self._affords(part)):
            return ()
        self._left -= 1
        return (part,)

    def _condition(self, piece: Piece) -> Part | None:
        assert piece.field is not None
        found = query_fields.condition(piece.field, piece.text, self._now)
        if found is not None:
            if (found.field, found.value) == (Field.IS, TRASH) and not piece.is_excluded:
                self._hint(query_fields.TRASH_ELSEWHERE)
            if term := _of_field(piece):
                # A domain of a network: its posts, and posts with a link to it.
                term = _strict(term) if piece.is_excluded else term
                return Either(((found,), (term,)), is_excluded=piece.is_excluded)
            return replace(found, is_excluded=piece.is_excluded)
        if term := _of_field(piece):
            return _term(term, is_excluded=piece.is_excluded)
        name = piece.written.partition(":")[0].lower()
        self._hint(query_fields.about_value(name, piece.field, piece.text))
        return _term(_word(piece.written), is_excluded=piece.is_excluded)

    def _text(self, piece: Piece) -> Term | None:
        if hint := query_fields.about_word(piece.text):
            self._hint(hint)
        term = _word(piece.text)
        if not piece.text.isupper() or len(piece.text) == 1 or piece.text in OPERATOR_WORDS:
            self._groups[-1].plain.add(term)
        return _term(term, is_excluded=bool(term.tokens) and self._excludes(piece))

    def _affords(self, term: Term) -> bool:
        cost = _prefix_cost(term)
        if cost > self._left_for_prefixes:
            self._hint(TOO_MANY_PREFIXES)
            return False
        self._left_for_prefixes -= cost
        return True

    def _hint(self, sentence: str) -> None:
        self._hints[sentence] = None


def _unquoted(piece: Piece) -> list[Piece]:
    if piece.kind is not Kind.PHRASE or piece.is_excluded:
        return [piece]
    return [Piece(Kind.WORD, word, written=word) for word in piece.text.split()]


def _term(term: Term, *, is_excluded: bool) -> Term | None:
    if not term.tokens:
        return None
    return replace(_strict(term), is_excluded=True) if is_excluded else term


def _is_wanted(part: Part) -> bool:
    return isinstance(part, Term | Either) and not part.is_excluded


def _alternatives(parts: tuple[Part, ...]) -> list[tuple[Part, ...]]:
    if len(parts) == 1 and isinstance(parts[0], Either) and not parts[0].is_excluded:
        return list(parts[0].branches)
    return [parts]


def _either(item: list[tuple[Part, ...]]) -> Iterator[Part]:
    branches = tuple(dict.fromkeys(one for parts in item for one in _alternatives(parts)))
    if len(branches) == 1:
        yield from branches[0]
    else:
        yield Either(branches)


def _strict(term: Term) -> Term:
    """A term that excludes posts: only other spellings of the same word count."""
    return replace(term, forms=tuple(form for form in term.forms if form.weight == 1))


def _word(text: str) -> Term:
    if address := addresses.typed(text):
        return _linked(address, is_pasted=True)
    own, sigil_word = word_forms.own_word(text), tokens.lone_sigil_word(text)
    if own is not None:
        term = Term(own)
    elif sigil_word is not None:
        term = Term((sigil_word,))
    else:
        term = _phrase(text)
    is_prefix = term.is_prefix or (text.endswith("*") and _may_be_prefix(term))
    forms = word_forms.others_of(text) if term.tokens else ()
    return replace(term, is_prefix=is_prefix, forms=forms)


def _linked(address: str, *, is_pasted: bool) -> Term:
    """An address, which a post has as a link or in its text."""
    forms = addresses.forms_of_address(address, is_pasted=is_pasted)
    return replace(_phrase(addresses.plain(address)), is_quoted=True, forms=forms, address=address)


def _of_field(piece: Piece) -> Term | None:
    """The hashtag, address or title that a field looks for."""
    assert piece.field is not None
    if hashtag := query_fields.hashtag(piece.written):
        term = _word(hashtag)
    elif address := query_fields.address(piece.field, piece.text):
        term = _linked(address, is_pasted=False)
    elif piece.field is Field.TITLE:
        term = _phrase(piece.text)
        marked = tuple(f"{TITLE}{token}"[:MAX_TOKEN_CHARACTERS] for token in term.tokens)
        term = replace(term, tokens=marked)
    else:
        return None
    return replace(term, is_quoted=True, is_field=True) if term.tokens else None


def _quoted(text: str) -> tuple[Term, ...]:
    """The phrase, and the names such as C++ in it, whose letters alone mean something else."""
    words = text.split()
    names = dict.fromkeys(own for word in words if (own := word_forms.own_word(word)))
    phrases = [] if len(words) == 1 and names else [_phrase(text)]
    terms = [*phrases, *map(Term, names)]
    return tuple(replace(term, is_quoted=True) for term in terms if term.tokens)


def _excluded(terms: tuple[Term, ...]) -> tuple[Part, ...]:
    if len(terms) > 1:
        return (Either((terms,), is_excluded=True),)
    return tuple(replace(term, is_excluded=True) for term in terms)


def _may_be_prefix(term: Term) -> bool:
    may_be_cut = len(term.tokens) == MAX_TERM_TOKENS
    if not term.tokens or may_be_cut or tokens.is_unspaced(term.tokens[-1]):
        return False
    return len(term.tokens[-1].lstrip("#@")) >= word_forms.MIN_PREFIX_LETTERS


def _prefix_cost(term: Term) -> int:
    if not term.is_prefix:
        return 0
    last = term.tokens[-1]
    # A character of a script without spaces is a prefix, but begins few words.
    if tokens.is_unspaced(last):
        return _LONGER_PREFIX_COST
    return _PREFIX_COSTS.get(len(last.lstrip("#@")), _LONGER_PREFIX_COST)


def _phrase(text: str) -> Term:
    words = tuple(tokens.words(text))
    if len(words) > MAX_TERM_TOKENS:
        return Term(words[:MAX_TERM_TOKENS])
    if not words or not tokens.is_unspaced(words[-1]):
        return Term(words)
    # Scripts without spaces are indexed as pairs of characters, and the last character of a run
    # is a token alone. In a post the run may continue where the query ends, so there the query's
    # last character begins a pair. After a pair it is redundant, and we drop it. On its own it
    # becomes a prefix, which matches both the pair and the single character at the end of a run.
    if len(words) > 1 and _is_pair(words[-2]):
        return Term(words[:-1])
    return Term(words, is_prefix=True)


def _is_pair(token: str) -> bool:
    return len(token) == _PAIR_LENGTH and tokens.is_unspaced(token)
