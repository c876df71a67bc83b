"""Queries on a small library: tokenizer, query language and FTS5 together."""

from collections.abc import Iterator

import apsw
import pytest

from bowerbird.search.queries.query_language import parse
from bowerbird.search.words.tokens import index_text
from bowerbird.storage.queries import for_fts5

# Each post as its fields: author handle, author name, text, quoted text.
LIBRARY: dict[str, list[str]] = {
    "cafe": ["@ada_l", "Ada Lovelace", "Caf\u00e9 cr\u00e8me at the OPERA, don\u2019t miss it"],
    "tokyo": ["@kenji", "健二", "昨日は東京タワーへ行きました。関東は晴れ"],
    "kyoto": ["@yuki", "雪", "京都のお寺"],
    "thai": ["@nok", "นก", "ฉันชอบกินข้าวผัดมาก"],
    "hindi": ["@asha", "आशा", "मुझे हिन्दी में किताबें पसंद हैं"],
    "korean": ["@minji", "민지", "오늘 날씨가 좋습니다"],
    "arabic": [
        "@omar",
        "Omar",
        "\u0645\u064f\u062d\u064e\u0645\u0651\u062f \u0623\u062d\u0645\u062f",
    ],
    "german": ["@karl", "Karl", "Die Stra\u00dfe ist gesperrt. \u00dcber M\u00fcnchen hinaus"],
    "turkish": ["@deniz", "Deniz", "\u0130STANBUL ve ISPARTA, \u0131\u015f\u0131k"],
    "release": [
        "@guido",
        "Guido",
        "New #Python release: state-of-the-art, see https://example.com/a/b?c=1",
    ],
    "snake": [
        "@zoo",
        "The Zoo",
        "A python is a snake. Read https://example.org/a",
        "quoted fast cats",
    ],
    "party": ["@pop", "Pop", "We shipped it 🎉🎉 👍🏽 thanks @ada_l"],
    "cats": ["@cats", "Cats", "fast big cats are not big fast dogs"],
    "french": ["@lise", "Lise", "L\u2019homme qu\u2019on aime; Apple\u2019s chip"],
}


@pytest.fixture(scope="module")
def library() -> Iterator[apsw.Connection]:
    connection = apsw.Connection(":memory:")
    connection.execute(
        """CREATE VIRTUAL TABLE post
           USING fts5(name UNINDEXED, tokens, tokenize="ascii tokenchars '#@_'")"""
    )
    rows = [(name, index_text(fields)) for name, fields in LIBRARY.items()]
    connection.executemany("INSERT INTO post (name, tokens) VALUES (?, ?)", rows)
    yield connection
    connection.close()


def _found(library: apsw.Connection, text: str) -> set[str]:
    match = for_fts5(parse(text))
    found = set(LIBRARY) if match.wanted is None else _matching(library, match.wanted)
    return found if match.unwanted is None else found - _matching(library, match.unwanted)


def _matching(library: apsw.Connection, expression: str) -> set[str]:
    rows = library.execute("SELECT name FROM post WHERE post MATCH ?", (expression,))
    return {name for (name,) in rows}


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("cafe creme", "cafe"),
        ("CAF\u00c9 cre\u0300me", "cafe"),
        ("opera", "cafe"),
        ("don't", "cafe"),
        ("dont", "cafe"),
        ("lovelace", "cafe"),
        ("東京", "tokyo"),
        ("東京タワー", "tokyo"),
        ("東京 京都", ""),
        ("京都", "kyoto"),
        ("東", "tokyo"),
        ("京", "tokyo kyoto"),
        ("れ", "tokyo"),
        ("雪", "kyoto"),
        ("ﾀﾜｰ", "tokyo"),
        ("ข้าวผัด", "thai"),
        ("กินข้าว", "thai"),
        ("ข้าวกิน", ""),
        ("हिन्दी", "hindi"),
        # The same stem.
        ("हिन्द", "hindi"),
        ("हिन", ""),
        ("हिन्द*", "hindi"),
        ("날씨가", "korean"),
        ("날씨*", "korean"),
        ("\u0645\u062d\u0645\u062f \u0627\u062d\u0645\u062f", "arabic"),
        ("strasse", "german"),
        ("STRA\u1e9eE", "german"),
        ("uber munchen", "german"),
        ("istanbul isparta", "turkish"),
        ("\u0131sparta \u0130stanbul isik", "turkish"),
        ('"big cats"', "cats"),
        ('"cats big"', ""),
        ('"fast cats"', "snake"),
        ("fast cats", "snake cats"),
        ('"a quoted"', ""),
        ("fast -dogs", "snake"),
        ('cats -"big cats"', "snake"),
        ("sna*", "snake"),
        ("s*", ""),
        ("sna", ""),
        ("python", "release snake"),
        ("#python", "release"),
        ("#PYTH*", "release"),
        ("python -#python", "snake"),
        ('"new #python release"', "release"),
        ("ada_l", "cafe party"),
        ("@ada_l", "cafe party"),
        ("@ada_l thanks", "party"),
        ("@python", ""),
        ("🎉", "party"),
        ("👍", "party"),
        ("👍🏿", "party"),
        ("state-of-the-art", "release"),
        ("art", "release"),
        ("the-state", ""),
        ("https://example.com/a/b?c=1", "release"),
        ("example.com", "release"),
        ("exam*", "release snake"),
        ("https://example", "release snake"),
        ("homme", "french"),
        ("l'homme", "french"),
        ("apple", "french"),
        ('"never closed', ""),
    ],
)
def test_a_query_finds_exactly_its_posts(library: apsw.Connection, text: str, names: str) -> None:
    assert _found(library, text) == set(names.split())


def test_a_query_of_exclusions_finds_everything_else(library: apsw.Connection) -> None:
    assert _found(library, "-python !東京") == set(LIBRARY) - {"release", "snake", "tokyo"}
