"""Normal forms of Unicode, in bounded time."""

import time
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bowerbird.model.labels import MAX_NAME_CHARACTERS, clean_name
from bowerbird.model.words import fold, normalized

# Two classes of marks: Unicode wants them in another order.
MARKS = "\u0301\u0323"


@given(st.text(st.characters() | st.sampled_from(MARKS), max_size=2_000))
def test_a_text_with_few_marks_on_a_letter_is_normalized_as_unicode_says(text: str) -> None:
    if "".join("m" if unicodedata.combining(c) else " " for c in text).find("m" * 31) < 0:
        assert normalized("NFC", text) == unicodedata.normalize("NFC", text)
        assert normalized("NFKC", text) == unicodedata.normalize("NFKC", text)


@pytest.mark.parametrize("text", ["e" + MARKS * 240_000, MARKS * 100_000 + "a" + MARKS * 100_000])
def test_a_letter_with_many_marks_takes_a_moment(text: str) -> None:
    """100,000 of them took 15 seconds."""
    started = time.thread_time()

    assert len(fold(text)) < 70
    assert clean_name(text) is None

    assert time.thread_time() - started < 2


def test_a_label_of_letters_with_marks_is_as_long_as_it_looks() -> None:
    assert clean_name("e\u0301" * MAX_NAME_CHARACTERS) == "\u00e9" * MAX_NAME_CHARACTERS
    assert clean_name("e\u0301" * (MAX_NAME_CHARACTERS + 1)) is None
    assert clean_name("a" + " " * 10_000 + "b") == "a b"
