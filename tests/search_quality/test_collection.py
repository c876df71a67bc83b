"""The labelled library is large enough, and its queries are of the kind that they claim."""

from collections import Counter

from bowerbird.library.bookmarks.writing.bookmark_row import searchable_texts
from bowerbird.search.words import tokens
from bowerbird.sources.own_json import read
from tests.search_quality.collection import LabelledLibrary
from tests.support import make

# Each of these must be measured, by at least as many queries.
KINDS = {
    "exact word": 30,
    "handle": 10,
    "handle part": 10,
    "rare token": 10,
    "sentence": 20,
    "one wrong word": 20,
    "inflected word": 30,
    "typo": 20,
    "joined or split": 20,
    "part of a name": 10,
    "apostrophe": 20,
    "accents left out": 20,
    "Korean particle": 10,
    "US or UK spelling": 10,
    "umlaut digraph or ß": 10,
    "Arabic form": 10,
    "name with signs": 10,
    "label": 5,
    "link title": 5,
    "link description": 5,
    "link domain": 5,
    "alt text": 5,
    "poll choice": 5,
    "quoted post": 5,
    "article": 5,
    "note": 5,
    "compound": 10,
    "address": 10,
    "hashtag": 5,
    "abbreviation": 5,
    "transliteration": 5,
    "by meaning": 30,
    "by meaning in other languages": 40,
    "across languages": 40,
}


def words_of(library: LabelledLibrary, key: str) -> set[str]:
    """The words of a post as its author wrote them."""
    record = read(make.raw(library.posts[key])).incoming.record
    return {
        word for texts in searchable_texts(record) for text in texts for word in tokens.words(text)
    }


def whole_words(text: str) -> list[str]:
    """Without the last character of a run in a script without spaces, which ends differently."""
    return [word for word in tokens.words(text) if len(word) > 1 or not tokens.is_unspaced(word)]


def test_the_library_is_large_and_in_many_languages(library: LabelledLibrary) -> None:
    assert len(library.posts) >= 400
    assert len(library.queries) >= 150
    assert len({query.language for query in library.queries}) >= 15
    assert len(library.absent) >= 30


def test_every_kind_has_enough_queries(library: LabelledLibrary) -> None:
    counts = Counter(query.kind for query in library.queries)

    assert counts.keys() == KINDS.keys()
    assert {kind: counts[kind] for kind, least in KINDS.items() if counts[kind] < least} == {}


def test_every_relevant_post_exists_and_no_query_repeats(library: LabelledLibrary) -> None:
    texts = Counter(query.text for query in library.queries)
    texts.update(query.text for query in library.absent)

    assert {key for query in library.queries for key in query.relevant} <= library.posts.keys()
    assert [text for text, count in texts.items() if count > 1] == []


def test_no_two_posts_have_the_same_text(library: LabelledLibrary) -> None:
    texts = Counter(str(post["tweet_details"]) for post in library.posts.values())

    assert [text for text, count in texts.items() if count > 1] == []


def test_queries_for_exact_words_use_words_of_their_posts(library: LabelledLibrary) -> None:
    strange = [
        query.text
        for query in library.queries
        if query.kind == "exact word"
        for key in query.relevant
        if not set(whole_words(query.text)) <= words_of(library, key)
    ]

    assert strange == []


def test_forms_and_typos_use_a_word_that_their_posts_do_not_have(library: LabelledLibrary) -> None:
    easy = [
        query.text
        for query in library.queries
        if query.kind in {"inflected word", "typo", "one wrong word", "US or UK spelling"}
        for key in query.relevant
        if set(tokens.words(query.text)) <= words_of(library, key)
    ]

    assert easy == []


def test_nonsense_has_no_word_of_the_library(library: LabelledLibrary) -> None:
    known = {word for key in library.posts for word in words_of(library, key)}
    nonsense = [query.text for query in library.absent if query.kind == "nonsense"]

    assert [text for text in nonsense if set(tokens.words(text)) & known] == []
