"""The words of a query that count when posts are ranked."""

import pytest

from bowerbird.library.bookmarks.searching.query_words import words_of
from bowerbird.search.queries.query_language import parse


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("How do I read the WHO report", ["read", "who", "report"]),
        ("the economy of the US", ["economy", "us"]),
        ("what is it", ["what", "is", "it"]),
        ('"what is" art', ["what is", "art"]),
        ("la* art", ["la", "art"]),
    ],
)
def test_stop_words_are_left_out_but_not_abbreviations(text: str, words: list[str]) -> None:
    assert [word.text for word in words_of(parse(text))] == words
