"""The tokenizer splits texts as documented, and both engines index its tokens unchanged."""

import re

import apsw
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bowerbird.model.words import GAP, OTHER_FORM, STEM, UNCOUNTED, UNCOUNTED_END
from bowerbird.search.words import index_forms, tokens
from bowerbird.search.words.index_forms import marked_tokens
from bowerbird.search.words.languages import language_of_words
from bowerbird.search.words.token_folding import MAX_TOKEN_CHARACTERS, fold
from bowerbird.search.words.tokens import (
    MAX_CHARACTERS,
    MAX_OTHER_TOKENS,
    MAX_TOKENS,
    index_text,
    words,
)
from bowerbird.storage.queries import vector_text

# st.text alone rarely combines these characters, each of which has a special rule.
_TRICKY = "aZ09_#@'\u2019\"\\-!* \t\n\x00\x1c\u00a0\u0301\u0130\u00df\u0345\u200b\u200d\ufe0f\u20e3"
_TRICKY += "\u6771\u4eac\u304b\u3099\u0e17\u0e35\u0915\u093f\u0627\u064e\ud55c\U0001f469\U0001f3fd"
MARKS = {OTHER_FORM, STEM, *UNCOUNTED, UNCOUNTED_END}
TEXTS = (
    st.text() | st.text(st.sampled_from(_TRICKY)) | st.text(st.characters(categories=["L", "M"]))
)


def as_written(indexed: str) -> str:
    """The index text without the other forms of its words."""
    written = [token for token in indexed.split() if token[0] not in MARKS]
    return " ".join(written).removesuffix(f" {GAP}") if MARKS & set(indexed) else indexed


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("Hello, World!", "hello world"),
        ("snake_case and __init__", "snake_case and __init__"),
        ("Caf\u00e9 cafe\u0301 NA\u00cfVE", "cafe cafe naive"),
        ("Stra\u00dfe STRASSE", "strasse strasse"),
        ("\u0130stanbul ISPARTA \u0131sparta", "istanbul isparta isparta"),
        ("\u0141\u00f3d\u017a K\u00f8benhavn", "lodz kobenhavn"),
        ("don't Don\u2019t", "dont dont"),
        ("Apple's l\u2019homme dell'arte o'clock", "apple l homme dell arte oclock"),
        ("\uff26\uff55\uff4c\uff4c \U0001d41b\U0001d428\U0001d425\U0001d41d", "full bold"),
        ("brand\u2122 soft\u00adware", "brand software"),
        ("\u0391\u03b8\u03ae\u03bd\u03b1\u03c2", "\u03b1\u03b8\u03b7\u03bd\u03b1\u03c3"),
        ("\u05e9\u05b8\u05c1\u05dc\u05d5\u05b9\u05dd", "\u05e9\u05dc\u05d5\u05dd"),
        ("\u0645\u064f\u062d\u064e\u0645\u0651\u062f", "\u0645\u062d\u0645\u062f"),
        ("\u0661\u0662\u0663", "123"),
        ("हिन्दी में", "हिन्दी में"),
        ("한국어 입니다", "한국어 입니다"),
        ("東京都", "東京 京都 都"),
        ("東", "東"),
        ("ｶﾞラス", "ガラ ラス ス"),
        ("iPhone15を買う", "iphone15 を買 買う う"),
        ("กาแฟ", "กา าแ แฟ ฟ"),
        ("👩\u200d💻👍🏽❤\ufe0f", "👩 💻 👍 ❤"),
        ("ask @Ada_L's #Python, now", "ask ada_l python now # @ada_l #python"),
        ("#東京タワー", "東京 京タ タワ ワー ー # #東京タワー"),
        ("mail ada@example.com, C# #1", "mail ada example com c 1 # #1"),
        ("?! ... #@ \x00\ud800", ""),
    ],
)
def test_splits_a_text_into_tokens(text: str, tokens: str) -> None:
    assert as_written(index_text([text])) == tokens


def test_separates_fields_by_a_gap_and_skips_empty_ones() -> None:
    assert index_text(["one two", "", "!", "three"]) == f"one two {GAP} three"


def test_shortens_a_long_word_to_the_same_length_with_and_without_its_sigil() -> None:
    assert as_written(index_text(["#" + "a" * 70])) == f"{'a' * 64} {GAP} #{'a' * 63}"


def test_stops_at_the_maximum_number_of_tokens() -> None:
    indexed = index_text([" ".join(str(number) for number in range(20_000)), "never"]).split()

    assert indexed == [str(number) for number in range(MAX_TOKENS)]


def test_stops_after_a_whole_token_below_the_maximum_of_characters() -> None:
    long_words = [f"{number:064}" for number in range(10_000)]

    indexed = index_text([" ".join(long_words)])

    assert MAX_CHARACTERS - 65 <= len(indexed) <= MAX_CHARACTERS
    assert indexed.split() == long_words[: len(indexed.split())]


def test_replaces_occurrences_above_the_limit_by_gaps() -> None:
    indexed = index_text([" ".join(["again"] * 300 + ["end"])]).split()

    assert indexed == ["again"] * 255 + [GAP] * 45 + ["end"]


def test_writes_a_vector_with_positions_and_without_gaps() -> None:
    assert vector_text(index_text(["to be or", "to do"])) == "'to':1,5 'be':2 'or':3 'do':6"
    assert vector_text("") == ""


@given(st.lists(TEXTS, max_size=4))
def test_other_forms_come_once_after_the_words_as_written(fields: list[str]) -> None:
    indexed = index_text(fields).split()
    marked = [token[0] in MARKS for token in indexed]
    assert marked == sorted(marked)
    others = [token for token in indexed if token[0] in MARKS]
    assert len(others) == len(set(others))


def test_a_text_that_folding_makes_much_longer_is_cut_first(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    written: list[int] = []

    def counting(text: str) -> str:
        folded = fold(text)
        written.append(len(folded))
        return folded

    for module in (tokens, index_forms):
        monkeypatch.setattr(module, "fold", counting)
    # Each of these becomes 18 characters, which are four words.
    hostile = "\ufdfa" * 100_000
    found = index_text([hostile, hostile], ["@ada"], (), [hostile])

    assert sum(written) < 6 * MAX_CHARACTERS
    assert len(found.partition(f"{UNCOUNTED_END} ")[2].split()) >= MAX_TOKENS


def test_a_long_text_keeps_its_words_and_a_part_of_the_other_forms() -> None:
    text = " ".join(f"wi{n}-fi{n}" for n in range(10_000))

    indexed = index_text([text]).split()

    assert as_written(" ".join(indexed)).split()[:MAX_TOKENS] == words(text)[:MAX_TOKENS]
    others = [token for token in indexed if token[0] in MARKS]
    assert 0 < len(others) <= MAX_OTHER_TOKENS
    assert len(" ".join(indexed)) <= MAX_CHARACTERS


@given(st.lists(TEXTS, max_size=4))
def test_fts5_splits_no_token(fts5: apsw.Connection, fields: list[str]) -> None:
    indexed = index_text(fields)

    fts5.execute("DELETE FROM post")
    fts5.execute("INSERT INTO post (tokens) VALUES (?)", (indexed,))

    rows = fts5.execute("SELECT term FROM token_position ORDER BY offset").fetchall()
    assert [term for (term,) in rows] == indexed.split(" ") * bool(indexed)


# PostgreSQL refuses a lexeme of more than 2,046 bytes.
LONG_WORDS = [
    "\u0436" * 1500 + "1",
    "\u00e9" + "a" * 3000 + "1",
    "\u0430" * 1500 + "'" + "\u0431" * 1500,
    "@" + "a" * 3000 + "_b",
    "a" * 61 + "ise",
    "\ufdf2" * 30 + "-a",
]


@pytest.mark.parametrize("word", LONG_WORDS)
def test_no_token_is_longer_than_the_maximum(word: str) -> None:
    indexed = index_text([word]).split()

    assert indexed
    assert max(map(len, indexed)) <= MAX_TOKEN_CHARACTERS
    assert set(indexed) >= {one.token for one in marked_tokens(word, language_of_words([], [word]))}


@given(st.lists(TEXTS, max_size=4))
def test_every_text_gives_a_valid_tsvector_literal(fields: list[str]) -> None:
    lexeme = re.compile(r"'[^\s'\\\x00]{1,64}':[1-9][0-9]*(,[1-9][0-9]*)*")

    literal = vector_text(index_text(fields))

    assert all(lexeme.fullmatch(part) for part in literal.split())


@given(TEXTS)
def test_no_word_equals_the_gap(text: str) -> None:
    assert GAP not in words(text)


@given(TEXTS)
def test_folding_a_folded_word_changes_nothing(text: str) -> None:
    assert all(words(word)[0] == word for word in words(text))
