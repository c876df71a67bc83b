"""The language of a post's texts is that of their beginnings, however little of them is read."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bowerbird.search.queries.text_language import language_of_texts
from bowerbird.search.words.languages import language_of

WORDS = st.sampled_from(
    [
        *(
            "the",
            "of",
            "running",
            "heron",
            "der",
            "und",
            "Häuser",
            "nicht",
            "les",
            "était",
            "l'eau",
        ),
        *("не", "города", "книги", "東京タワー", "大学", "กรุงเทพ", "المدرسة", "הבית", "날씨가"),
        *("#heron", "@ada_b", "don't", "ß", "e\u0301", "İ", "ΟΔΌΣ", "👍", "…", "—", "x", "1,250"),
    ]
)
TEXTS = st.builds(lambda words, times: " ".join(words * times), st.lists(WORDS), st.integers(1, 40))


@given(st.lists(TEXTS | st.text(max_size=700), max_size=4))
def test_finds_the_same_language_as_from_all_words(texts: list[str]) -> None:
    assert language_of_texts(texts) == language_of(" ".join([text[:600] for text in texts]))


@given(st.lists(st.sampled_from("abcé не東ü .'"), max_size=400).map("".join), st.integers(0, 300))
def test_mixed_scripts_are_weighed_in_the_same_way(text: str, letters: int) -> None:
    sample = f"{text} {'not' * letters}"

    assert language_of_texts([sample]) == language_of(sample[:600])


@pytest.mark.parametrize(
    ("texts", "language"),
    [
        (["the herons of the lake are not here, and they will be back " * 20], "en"),
        (["Die Häuser sind nicht alt, und die Bücher auch nicht"], "de"),
        (["книги и города не читал " * 20, "the herons of the lake"], "ru"),
        ([], "en"),
    ],
)
def test_finds_the_language_of_usual_texts(texts: list[str], language: str) -> None:
    assert language_of_texts(texts) == language
