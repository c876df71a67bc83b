"""The query language: how it is parsed, and the expressions for both engines."""

import apsw
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bowerbird.model.words import Match, Term, WordQuery
from bowerbird.search.query_language import parse
from bowerbird.storage.keyword_queries import for_fts5, for_tsquery


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("Fast cats", [Term(("fast",)), Term(("cats",))]),
        ('"Fast cats" run', [Term(("fast", "cats"), is_quoted=True), Term(("run",))]),
        ("\u201cFast cats\u201d", [Term(("fast", "cats"), is_quoted=True)]),
        ("-dog !cow", [Term(("dog",), is_excluded=True), Term(("cow",), is_excluded=True)]),
        ('-"big dog"', [Term(("big", "dog"), is_excluded=True, is_quoted=True)]),
        ("ca*", [Term(("ca",), is_prefix=True)]),
        ("c*", [Term(("c",))]),
        ("-ca*", [Term(("ca",), is_prefix=True, is_excluded=True)]),
        ("foo-bar*", [Term(("foo", "bar"), is_prefix=True)]),
        ("don't", [Term(("dont",))]),
        ("https://example.com/a?b=1", [Term(("https", "example", "com", "a", "b", "1"))]),
        ("#Python", [Term(("#python",))]),
        ("(@Ada_L),", [Term(("@ada_l",))]),
        ("#py*", [Term(("#py",), is_prefix=True)]),
        ("#p*", [Term(("#p",))]),
        ('"#python"', [Term(("python",), is_quoted=True)]),
        ("#東京タワー", [Term(("#東京タワー",))]),
        ("東京", [Term(("東京",))]),
        ("東京*", [Term(("東京",))]),
        ("東京都", [Term(("東京", "京都"))]),
        ("東", [Term(("東",), is_prefix=True)]),
        ("2024年", [Term(("2024", "年"), is_prefix=True)]),
        ("🎉", [Term(("🎉",))]),
        ("cat Cat CAT", [Term(("cat",))]),
        ('5" disk', [Term(("5",)), Term(("disk",))]),
        ('"never closed', [Term(("never", "closed"), is_quoted=True)]),
        ("a - b", [Term(("a",)), Term(("b",))]),
        ("--a", [Term(("a",), is_excluded=True)]),
        ("AND OR NOT NEAR", [Term(("and",)), Term(("or",)), Term(("not",)), Term(("near",))]),
    ],
)
def test_parses_a_query(text: str, terms: list[Term]) -> None:
    assert parse(text) == WordQuery(tuple(terms))


@pytest.mark.parametrize(
    "text", ["", "   ", '"', '""', "-", "!!!", "*", '-"" ?', "#", "@ #", "\x00"]
)
def test_a_query_of_punctuation_has_no_terms(text: str) -> None:
    assert parse(text).is_empty
    assert for_fts5(parse(text)) == for_tsquery(parse(text)) == Match(None, None)


def test_uses_only_the_first_terms() -> None:
    query = parse(" ".join(f"? w{number}" for number in range(100)))

    assert [term.tokens for term in query.terms] == [(f"w{number}",) for number in range(32)]


def test_uses_only_the_first_words_of_a_long_phrase() -> None:
    (term,) = parse("-".join(["word"] * 1000) + "*").terms

    assert term == Term(("word",) * 64)


def test_writes_the_expressions_of_both_engines() -> None:
    query = parse('cat "big dog" ru* -cow -"old owl"')

    wanted = '"cat" AND "big" + "dog" AND "ru" *'
    assert for_fts5(query) == Match(
        wanted=wanted,
        unwanted='"cow" OR "old" + "owl"',
    )
    assert for_tsquery(query) == Match(
        wanted="'cat' & 'big' <-> 'dog' & 'ru':*",
        unwanted="'cow' | 'old' <-> 'owl'",
    )


def test_a_query_of_exclusions_requires_no_term() -> None:
    assert for_fts5(parse("-cow")) == Match(wanted=None, unwanted='"cow"')


def test_equal_queries_are_equal_keys() -> None:
    assert len({parse("CAT -dog"), parse("cat  !dog")}) == 1


@given(st.text() | st.text(st.sampled_from("""ab"-!*#@ \x00\\'東\u201c"""), max_size=200))
def test_every_query_is_valid(fts5: apsw.Connection, text: str) -> None:
    match = for_fts5(parse(text))

    for expression in (match.wanted or '"x"', match.unwanted or '"x"'):
        assert fts5.execute(
            "SELECT count(*) FROM post WHERE post MATCH ?", (expression,)
        ).fetchone()


@pytest.mark.parametrize(
    "text", ["a" * 10_000, '"' * 10_000, "a-" * 5_000, "東" * 10_000, "🎉" * 10_000]
)
def test_a_query_of_ten_thousand_characters_is_valid(fts5: apsw.Connection, text: str) -> None:
    wanted = for_fts5(parse(text)).wanted or '"x"'

    assert fts5.execute("SELECT count(*) FROM post WHERE post MATCH ?", (wanted,)).fetchone()
