"""The fast index text is that of a slow reference, byte by byte, so no post is indexed again."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bowerbird.search.words.tokens import index_text
from tests.search.index_reference import reference_index_text
from tests.search.test_index_tokens import TEXTS

# Each has a rule of its own, and together they cross every branch for whole posts.
_MANY_RULES = (
    "the of colours travelling libraries Mueller Goethe guest node.js Node.js e-mail AT&T U.S. "
    "3.14 1,250,000 gpt4 GPT-4 iPhone15 snake_case C++ c++20 C# F# .NET ASP.NET don't it's "
    "l'homme dell'arte o'clock O'Brien https://t.co/1a2b3c example.com/a/b @ada_lovelace "
    "@Mueller @x. #Rust #rustLang #100 camelCase HTTPServer URLs und der die H\u00e4user "
    "Stra\u00dfe ann\u00e9es \u0153uvre \u0130stanbul'da kitaplar\u0131 это книги библиотека "
    "слово المكتبة والكتاب הספרים 한국어를 날씨가 東京都 ガラス ｶﾞﾗｽ กรุงเทพ हिन्दी में "
    "\U0001f469\U0001f3fd\u200d\U0001f4bb \u2122 brand\u2122 \uff03tag \uff20name \u200b \u00ad "
    "\u2019 it\u2019s l\u2019avion \u2026 \u2013 \u201cquoted\u201d ! ... , . # @ _ __init__ "
    "\u2167 \ufb01ne \u00f7 \u0301 a\u0301 x\u0345 9a a9 A1B2 \u00c6ON \u00feorn \u00df"
)
PIECES = _MANY_RULES.split()
SPACES = st.sampled_from(
    [" ", "  ", "\n", "\n\n", "\t", "\x1c", "\u00a0", "\u2028", "", ". ", ", "]
)
FIELDS = st.lists(st.tuples(st.sampled_from(PIECES), SPACES), max_size=12).map(
    lambda parts: "".join(piece + space for piece, space in parts)
)
HANDLES = st.sampled_from(
    ["@ada", "@Ada_Lovelace", "@___", "@" + "a" * 63, "@" + "a" * 64, "@a b", "@é", "@a'b", "@", ""]
)


@settings(max_examples=80)
@given(
    st.lists(FIELDS | TEXTS, max_size=4),
    st.lists(FIELDS | HANDLES | TEXTS, max_size=3),
)
def test_a_post_has_the_tokens_of_the_reference(texts: list[str], names: list[str]) -> None:
    assert index_text(texts, names) == reference_index_text(texts, names)


@pytest.mark.parametrize("seed", range(4))
def test_long_plain_posts_have_the_tokens_of_the_reference(seed: int) -> None:
    rng = random.Random(seed)  # noqa: S311 - repeatable
    texts = [" ".join(rng.choices(PIECES, k=rng.randrange(1, 400))) for _ in range(3)]
    names = ["@ada_lovelace", "Ada Lovelace", "example.com"]

    assert index_text(texts, names) == reference_index_text(texts, names)


def test_a_long_word_at_the_end_of_a_field_keeps_its_sign() -> None:
    texts = ["a" * 120 + "-" + "b" * 79 + ".", "next"]

    assert index_text(texts, ["@ada", "Ada"]) == reference_index_text(texts, ["@ada", "Ada"])
