"""Says why a search found nothing or only similar posts, and what was probably meant."""

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice, zip_longest
from typing import Final

from bowerbird.library.bookmarks.authors import NearNames
from bowerbird.library.bookmarks.searching.ranking import Ranking
from bowerbird.library.bookmarks.searching.word_reading import words_of
from bowerbird.model.accounts import Account
from bowerbird.model.posts.filters import BookmarkFilter
from bowerbird.model.words import TITLE, Condition, Field, WordQuery
from bowerbird.search.queries.query_pieces import EXCLUDING_SIGNS
from bowerbird.search.words import tokens
from bowerbird.storage.stores import Service

_SOME_WORDS: Final = "No post has all of these words. These have some of them."
SOME_HAVE_ALL: Final = "The first posts have all of these words, the others some of them."
NOT_CLOSE: Final = "Nothing matches closely. The nearest:"
NOT_LOOKED_AT: Final = (
    "Posts that an earlier version stored are still being looked at, so some may be missing."
)
_NAMED_MAX: Final = 3
_SHOWN_CHARACTERS: Final = 40
_PIECE: Final = re.compile(r"\S+")
_QUOTES: Final = '"\u201c\u201d\u201e\uff02'
_QUOTED: Final = re.compile(f"[{_QUOTES}][^{_QUOTES}]*[{_QUOTES}]?")
# The letters of a piece, between signs and punctuation.
_LETTERS: Final = re.compile(r"^(\W*)(.*?)(\W*)$", re.DOTALL)


def relaxed(words: WordQuery, ranking: Ranking) -> str:
    """What the posts have instead of all words."""
    if not ranking.unknown or len(ranking.unknown) < len(words_of(words)):
        return _SOME_WORDS
    similar = "a similar one" if len(ranking.unknown) == 1 else "similar ones"
    return f"No post has {_named(ranking.unknown)}. These have {similar}."


def nothing_found(account: Account, filter: BookmarkFilter, ranking: Ranking) -> str:
    """Why a search has no result."""
    if not account.total:
        return "The library is empty."
    has_no_letters = filter.meaning is not None and not any(map(str.isalnum, filter.meaning))
    if has_no_letters or (filter.words is not None and filter.words.is_empty):
        return "The search has no words."
    if filter.meaning is not None and (filter.words is None or filter.words.limits is None):
        words = "" if filter.words is None else "has these words or "
        return f"No post {words}is close enough in meaning."
    if ranking.unknown:
        return f"No post has {_named(ranking.unknown)}."
    filters = "" if filter.is_flags_and_words_only else " with these filters"
    return f"No post matches the whole search{filters}."


def _named(words: Sequence[str]) -> str:
    named = [_quoted(word) for word in words[:_NAMED_MAX]]
    if len(words) == 1:
        return f"the phrase {named[0]}" if " " in words[0] else f"the word {named[0]}"
    if (more := len(words) - _NAMED_MAX) > 0:
        named.append(f"{more} more")
    return f"the words {', '.join(named[:-1])} and {named[-1]}"


def _quoted(word: str) -> str:
    """Without the mark that a word of a title has in the index."""
    text = word.replace(TITLE, "")
    return f'"{text[:_SHOWN_CHARACTERS]}"{" in a title" if text != word else ""}'


def corrected(text: str, corrections: Iterable[tuple[str, str]]) -> str | None:
    """The query with other words in place of unknown ones; None if nothing changes."""
    meant = dict(corrections)
    if not meant:
        return None
    result, end = "", 0
    pieces = list(_PIECE.finditer(text))
    quoted = [found.span() for found in _QUOTED.finditer(text)]
    for piece, following in zip_longest(pieces, pieces[1:]):
        if piece.start() < end:
            continue
        is_kept = _is_excluded(piece) or any(a <= piece.start() < b for a, b in quoted)
        both = f"{_word(piece)} {_word(following)}" if following else ""
        last = following if both in meant and not is_kept else piece
        word = None if is_kept else meant.get(both) or meant.get(_word(piece))
        result += text[end : piece.start()]
        result += _in_place_of(text[piece.start() : last.end()], word) if word else last[0]
        end = last.end()
    result += text[end:]
    return result if result != text else None


def _is_excluded(piece: re.Match[str]) -> bool:
    return piece[0].startswith(EXCLUDING_SIGNS)


def _word(piece: re.Match[str]) -> str:
    return tokens.lone_sigil_word(piece[0]) or " ".join(tokens.words(piece[0]))


def _in_place_of(old: str, word: str) -> str:
    found = _LETTERS.match(old)
    return f"{found[1]}{word.lstrip('#@')}{found[3]}" if found else word


# Each takes a read.
_MOST: Final = 3
_SENTENCES: Final[Mapping[Field, str]] = {
    Field.AUTHOR: 'No post is by "{}".',
    Field.LABEL: 'No post has the label "{}".',
}


class Reasons(Service):
    async def of_nothing(self, account: Account, filter: BookmarkFilter, ranking: Ranking) -> str:
        """Why a search found nothing; empty if the list is not a search."""
        if filter.words is None and filter.meaning is None:
            return ""
        missing = await self._missing(account, filter.words) if filter.words is not None else ""
        return missing or nothing_found(account, filter, ranking)

    async def _missing(self, account: Account, query: WordQuery) -> str:
        """One sentence per name that no bookmark has."""
        names = [
            part
            for part in query.parts
            if isinstance(part, Condition) and part.field in _SENTENCES and not part.is_excluded
        ]
        return " ".join(
            [
                _SENTENCES[name.field].format(name.value[:_SHOWN_CHARACTERS])
                + await self._meant(account, name)
                for name in islice(names, _MOST)
                if not await self._stores.bookmarks.count(account, _filter(name))
            ]
        )

    async def _meant(self, account: Account, name: Condition) -> str:
        """The label or author that was probably meant."""
        names = NearNames(self._database)
        find = names.label if name.field is Field.LABEL else names.author
        near = await find(account, name.value)
        return f' Did you mean "{near[:_SHOWN_CHARACTERS]}"?' if near else ""


def _filter(name: Condition) -> BookmarkFilter:
    return BookmarkFilter(
        unread_only=False,
        hide_archived=False,
        author=name.value if name.field is Field.AUTHOR else None,
        tag=name.value if name.field is Field.LABEL else None,
    )
