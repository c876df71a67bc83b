"""What a post explains by brackets, and what the words of a query ask for."""

import pytest

from bowerbird.model.words import ABBREVIATION, Form
from bowerbird.search.queries.abbreviated import expanded, phrases
from bowerbird.search.queries.query_language import parse
from bowerbird.search.words.abbreviations import tokens_of
from bowerbird.search.words.word_forms import MAX_FORMS

EXPLAINED = {
    "Machine learning (ML) is fun": "ml = machine learning",
    "about ML (machine learning)": "ml = machine learning",
    "Kubernetes (k8s) rocks": "k8s = kubernetes",
    "Large Language Models (LLMs)": "llm = large language model",
    "a Department of Defense (DoD) report": "dod = department of defense",
    "retrieval-augmented generation (RAG)": "rag = retrieval augmented generation",
    "Künstliche Intelligenz (KI)": "ki = kunstliche intelligenz",
    "Организация Объединённых Наций (ООН)": "оон = организация объединенных нации",  # noqa: RUF001 - Russian
}
NOT_EXPLAINED = [
    "see this (PDF) (video)",
    "I like it (LOL)",
    "(ML)",
    "Kubernetes (k9s)",
    "machine learning (ml)",
    "a b (a b)",
    "IT (interesting things, and more)",
    "The Verge (TV)",
    "I am Out Of Office (OOO)",
    "(" * 200_000,
    "a b (AB)" * 20_000 + "(",
]


@pytest.mark.parametrize(("text", "expected"), EXPLAINED.items(), ids=EXPLAINED.values())
def test_an_abbreviation_beside_words_with_its_letters_is_explained(
    text: str, expected: str
) -> None:
    typed, _, meaning = tokens_of([text])[0][1:].partition(2 * ABBREVIATION)
    assert f"{typed} = {meaning.replace(ABBREVIATION, ' ')}" == expected


@pytest.mark.parametrize("text", NOT_EXPLAINED, ids=range(len(NOT_EXPLAINED)))
def test_other_brackets_explain_nothing(text: str) -> None:
    assert len(tokens_of([text])) <= 2


def test_few_tokens_come_from_one_post() -> None:
    letters = "bcdfghjklmnp"
    text = " ".join(f"{one}ear {one}ow ({one.upper() * 2})" for one in letters)
    assert len(tokens_of([text, text])) == 8


@pytest.mark.parametrize(
    ("q", "expected"),
    [
        ("kubernetes", []),
        ("ml", ["ml"]),
        ("models", ["models"]),
        ("department of defense", ["department defense"]),
        ('"ml" -ml #ml ml* from:ml', []),
        ("ml OR blue pens", ["ml", "blue", "pens"]),
    ],
)
def test_short_words_and_phrases_are_asked_for(q: str, expected: list[str]) -> None:
    keys = [key for phrase in phrases(parse(q)) for key in phrase.keys]
    assert list(dict.fromkeys(keys)) == expected


def test_one_explained_in_the_plural_is_learnt_in_both_numbers() -> None:
    found = [token[1:].replace(ABBREVIATION, " ") for token in tokens_of(["Blue Nests (BNs)"])]
    assert found == ["bn  blue nest", "blue nest  bn", "bns  blue nest", "blue nest  bns"]


def test_what_one_word_means_is_explained_by_no_article() -> None:
    assert tokens_of(["The Verge (TV)", "Out Of Office (OOO)"]) == []


@pytest.mark.parametrize("q", ["css", "gps", "bus"])
def test_an_s_is_no_plural_of_an_abbreviation(q: str) -> None:
    query = parse(q)
    known = {q[:-1]: ["blue nest"]}
    assert expanded(query, phrases(query), known) == query


def test_the_abbreviation_of_a_phrase_gets_no_s() -> None:
    query = parse("machine learning")
    query = expanded(query, phrases(query), {})
    assert all(
        [form.tokens for form in term.forms if form.tokens[0] in {"ml", "mls"}] == [("ml",)]
        for term in query.wanted_terms
    )


def test_forms_of_a_word_are_bounded() -> None:
    query = parse("bear bee boar bird bat owl")
    asked = phrases(query)
    known = {key: [f"{n} of {key}" for n in range(9)] for one in asked for key in one.keys}
    of_word = [len(term.forms) for term in expanded(query, asked, known).wanted_terms]
    assert max(of_word) == MAX_FORMS
    one = parse("bp")
    many = expanded(one, phrases(one), {"bp": [f"blue pen {n}" for n in range(9)]})
    (term,), (before,) = many.wanted_terms, one.wanted_terms
    assert len(term.forms) == len(before.forms) + 3 * 2


def test_both_words_of_a_phrase_have_its_abbreviation() -> None:
    query = parse("blue pens found")
    query = expanded(query, phrases(query), {"blue pen": ["bp"]})
    of_word = [{form.tokens for form in term.forms} for term in query.wanted_terms]
    assert [("bp",) in of_word[0], ("bp",) in of_word[1], ("bp",) in of_word[2]] == [1, 1, 0]


def test_what_is_learnt_counts_less_than_what_is_typed() -> None:
    query = parse("bp")
    (term,) = expanded(query, phrases(query), {"bp": ["blue pen"]}).wanted_terms
    assert Form(("blue", "pen"), 0.8) in term.forms
    assert all(form.weight < 1 for form in term.forms if len(form.tokens) > 1)
