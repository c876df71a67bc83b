"""Where a marked passage is, in any text and after changes of it."""

import time

from hypothesis import given
from hypothesis import strategies as st

from bowerbird.model.posts import highlights
from bowerbird.model.posts.highlights import HighlightedPassage

# Surrogates cannot be stored; everything else can, also characters beyond 16 bits.
ANY = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=60)
FEW = st.text("ab \n👍", min_size=1, max_size=30)


@given(text=ANY | FEW, data=st.data())
def test_a_passage_is_found_where_it_was_marked(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text) - 1))
    end = data.draw(st.integers(start + 1, len(text)))

    span = highlights.trimmed(text, start, end)

    if span is None:
        assert not text[start:end].strip()
        return
    assert start <= span[0] < span[1] <= end
    assert text[span[0] : span[1]] == text[start:end].strip()
    assert highlights.find(text, text[span[0] : span[1]], span[0]) == span


@given(text=FEW, quote=FEW, near=st.integers(0, 40))
def test_the_nearest_occurrence_is_found(text: str, quote: str, near: int) -> None:
    every = [n for n in range(len(text)) if text.startswith(quote, n)]

    span = highlights.find(text, quote, near)

    if every:
        assert span is not None
        assert text[span[0] : span[1]] == quote
        assert abs(span[0] - near) == min(abs(n - near) for n in every)
    else:
        folded = " ".join(quote.split())
        assert (span is not None) == (bool(folded) and folded in " ".join(text.split()))
        assert span is None or text[span[0] : span[1]].split() == quote.split()


@given(before=ANY, added=ANY, after=ANY, data=st.data())
def test_a_passage_is_found_again_in_a_changed_text(
    before: str, added: str, after: str, data: st.DataObject
) -> None:
    start = data.draw(st.integers(0, len(before) - 1))
    span = highlights.trimmed(before, start, len(before))
    if span is None:
        return
    quote = before[span[0] : span[1]]
    passage = HighlightedPassage(id="a", quote=quote, start=span[0], end=span[1])

    changed = added + before + after
    [placed] = highlights.placed([passage], {"text": changed, "article": ""})

    assert placed.start is not None
    assert placed.end is not None
    assert changed[placed.start : placed.end] == placed.quote == quote


def test_a_lost_passage_keeps_its_words_and_comes_back() -> None:
    passage = HighlightedPassage(id="a", quote="blue  caps", start=4, end=14, comment="Mine")

    [lost] = highlights.placed([passage], {"text": "Nothing", "article": ""})
    assert (lost.start, lost.end, lost.quote, lost.comment) == (None, None, "blue  caps", "Mine")

    [found] = highlights.placed([lost], {"text": "the blue\ncaps here", "article": ""})
    assert (found.start, found.end, found.quote) == (4, 13, "blue\ncaps")


def test_a_long_text_takes_a_moment() -> None:
    text = "a " * 500_000
    started = time.thread_time()

    assert highlights.find(text, "a " * 900 + "b") is None
    assert highlights.find(text, "a\n" * 900) is not None

    assert time.thread_time() - started < 5


def test_passages_are_joined_by_their_ids() -> None:
    stored = [HighlightedPassage(id=name, quote=name) for name in ("a", "b")]
    sent = [HighlightedPassage(id="b", quote="other"), HighlightedPassage(id="c", quote="c")]

    assert [(one.id, one.quote) for one in highlights.joined(stored, sent)] == [
        ("a", "a"),
        ("b", "other"),
        ("c", "c"),
    ]
    many = [HighlightedPassage(id=f"m{n}", quote="x" * 2_000) for n in range(60)]
    assert len(highlights.joined(stored, many)) == 26
