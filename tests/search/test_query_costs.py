"""What a query may cost: how many words are looked for."""

import pytest

from bowerbird.model.words import Term, with_terms
from bowerbird.search.queries.query_language import TOO_MANY_PREFIXES, parse


@pytest.mark.parametrize(
    ("text", "counted"),
    [
        ("owl -ba* -ca* -da*", ["owl", "ba"]),
        ("owl* -ba* crow", ["owl", "crow"]),
        ("bar* OR cat* OR dog* OR owl", ["bar", "cat", "owl"]),
        (" ".join(f"word{letter}*" for letter in "abcdefghij"), [f"word{n}" for n in "abcdefgh"]),
        ("人 我 你 他 她 它 们 是 的 了", list("人我你他她它们是")),
    ],
)
def test_words_with_a_star_share_what_a_query_may_cost(text: str, counted: list[str]) -> None:
    query, found = parse(text), list[str]()

    def noted(term: Term) -> Term:
        found.append(term.tokens[0])
        return term

    with_terms(query.parts, noted)
    assert found == counted
    assert query.hints == (TOO_MANY_PREFIXES,)
