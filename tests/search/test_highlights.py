"""A highlight marks the words of a post that another form of a query's word matched."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bowerbird.model.words import Term, WordQuery
from bowerbird.search.highlights import highlight
from bowerbird.search.query_language import parse
from bowerbird.search.tokens import words
from bowerbird.search.word_forms import others_of, own_word
from tests.search.test_index_tokens import TEXTS


def query(text: str) -> WordQuery:
    terms = [
        Term(own_word(word) or tuple(words(word)), forms=others_of(word)) for word in text.split()
    ]
    return WordQuery(tuple(term for term in terms if term.tokens))


@pytest.mark.parametrize(
    ("text", "searched", "marked"),
    [
        ("We use Node.js here", "nodejs", ["Node.js"]),
        ("We use NodeJS here", "node.js", ["NodeJS"]),
        ("Send an e-mail", "emails", ["e-mail"]),
        ("It costs 1,250,000 dollars", "1250000", ["1,250,000"]),
        ("Prendre l'avion", "lavion", ["l'avion"]),
        ("İstanbul'da güzel bir gün", "istanbul", ["İstanbul'da"]),
        ("Two herons were running", "heron run", ["herons", "running"]),
        ("The colours of OpenAI", "color open", ["colours", "Open"]),
        ("Die Häuser sind nicht alt", "Haus", ["Häuser"]),
        ("Müller and Mueller", "müller", ["Müller", "Mueller"]),
        ("Learning C++ and C# in C", "C++ C#", ["C++", "C#"]),
        ("오늘 날씨가 좋습니다", "날씨", ["날씨"]),
        ("한국어를 공부합니다", "한국어", ["한국어"]),
        ("ذهبت إلى المدرسة", "مدرسة", ["المدرسة"]),
        ("by @ada_lovelace today", "lovelace", ["@ada_lovelace"]),
        ("long " * 400 + "two herons", "heron", ["herons"]),
    ],
)
def test_marks_the_form_that_matched(text: str, searched: str, marked: list[str]) -> None:
    found = highlight([("text", text)], query(searched))

    assert found
    assert re.findall("<mark>(.*?)</mark>", found.html) == marked


def test_a_prefix_marks_joined_words() -> None:
    prefix = WordQuery((Term(("nodej",), is_prefix=True, forms=others_of("nodej*")),))

    found = highlight([("text", "We use Node.js")], prefix)

    assert found
    assert found.html == "We use <mark>Node.js</mark>"


@pytest.mark.parametrize(
    ("searched", "marked"),
    [
        ("heron OR owl", ["herons", "owl"]),
        ("(heron OR crow) water", ["herons", "water"]),
        ("water OR (owl -moved)", ["owl", "water"]),
        ("heron -(owl OR water)", ["herons"]),
    ],
)
def test_marks_the_words_of_alternatives(searched: str, marked: list[str]) -> None:
    found = highlight([("text", "Two herons near an owl in the water")], parse(searched))

    assert found
    assert re.findall("<mark>(.*?)</mark>", found.html) == marked


@given(TEXTS, TEXTS)
def test_any_text_and_query_work(text: str, searched: str) -> None:
    found = highlight([("text", text)], query(searched))

    assert found is None or "<mark>" in found.html


@given(st.lists(st.sampled_from(["Node.js", "herons", "colour", "날씨가"]), min_size=1))
def test_every_word_can_be_marked_by_another_form(pieces: list[str]) -> None:
    others = {"Node.js": "nodejs", "herons": "heron", "colour": "color", "날씨가": "날씨"}

    assert highlight([("text", " ".join(pieces))], query(others[pieces[-1]]))
