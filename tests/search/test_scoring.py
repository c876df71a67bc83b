"""The score of a post by the words of a query."""

import math
from collections.abc import Sequence
from dataclasses import replace

import pytest

from bowerbird.search import candidates
from bowerbird.search.candidates import NOTHING_NEAR, Candidates, by_both
from bowerbird.search.meaning.arrays import Nearness, Numbers, likeness_of, np
from bowerbird.search.scoring import (
    LIKENESS_WEIGHT,
    Counted,
    HeldWord,
    Spelling,
    WordScores,
    idf,
    word_columns,
)

ALL = Numbers(np.arange(1, 101))


def _numbers(*numbers: int) -> "np.ndarray[tuple[int], np.dtype[np.int64]]":
    return np.array(numbers, np.int64)


def _word(*spellings: tuple[float, str, tuple[int, ...]], total: int = 100) -> HeldWord:
    held = tuple(Spelling(weight, _numbers(*posts), token) for weight, token, posts in spellings)
    return HeldWord(idf(max(len(spelling.holders) for spelling in held), total), held)


def _uncounted(words: WordScores) -> Counted:
    none = np.zeros((0, len(words.tokens)), np.uint8)
    return Counted(words.tokens, _numbers(), none, _numbers())


def _both(
    words: WordScores,
    near: Nearness,
    exact: Sequence[int] = (),
    *,
    is_relaxed: bool = False,
) -> Candidates:
    return by_both(words, ALL, near, exact, by_words=10, by_meaning=10, is_relaxed=is_relaxed)


def _ordered(
    found: Candidates, words: WordScores, counted: Counted, most: int
) -> candidates.Ordered:
    scores = candidates.scores(found, words, counted)
    return candidates.ordered(found.numbers, scores, most)


def _order(words: WordScores, *numbers: int) -> list[int]:
    found = candidates.matches(words, numbers)
    return _ordered(found, words, _uncounted(words), 10)[0]


def test_a_rare_word_counts_more_than_a_common_one() -> None:
    rare, common = _word((1, "rare", (1, 2))), _word((1, "common", tuple(range(2, 80))))
    words = WordScores([rare, common], 0, 0)
    found = candidates.with_any_word(words, ALL, 100)

    assert _ordered(found, words, _uncounted(words), 2)[0] == [2, 1]


def test_the_word_itself_ranks_above_its_stem_and_the_stem_above_a_typo() -> None:
    words = WordScores([_word((1, "birds", (1,)), (0.8, "bird", (2,)), (0.6, "bards", (3,)))], 0, 0)
    found = candidates.with_any_word(words, ALL, 100)

    numbers, scores = _ordered(found, words, _uncounted(words), 10)

    assert numbers == [1, 2, 3]
    assert len(set(scores)) == 3


def test_the_best_form_of_a_word_counts_once() -> None:
    words = WordScores([_word((1, "colour", (1, 2)), (1, "color", (2, 3)))], 0, 0)

    held = words.held(_numbers(1, 2, 3))

    assert held.tolist() == [[1, 1, 1]]
    assert words.coverage(held).tolist() == [1, 1, 1]


def test_more_occurrences_and_a_shorter_text_rank_higher_but_repetition_does_not_win() -> None:
    words = WordScores([_word((1, "heron", (1, 2, 3, 4)))], 0, 0)
    counts = np.array([[1], [1], [3], [255]], np.uint8)
    counted = Counted(["heron"], _numbers(1, 2, 3, 4), counts, _numbers(60, 10, 10, 300))
    found = candidates.matches(words, [1, 2, 3, 4])

    assert _ordered(found, words, counted, 10)[0] == [3, 2, 4, 1]


def test_equal_posts_come_newest_first() -> None:
    words = WordScores([_word((1, "heron", (1, 2, 3)))], 0, 0)

    assert _order(words, 2, 1, 3) == [3, 2, 1]


def test_only_the_newest_posts_of_a_common_word_are_candidates() -> None:
    rare, common = _word((1, "rare", (5,))), _word((1, "common", tuple(range(10, 90))))
    words = WordScores([common, rare], 0, 0)

    assert words.candidates(ALL, 4).tolist() == [5, 87, 88, 89]
    assert words.candidates(Numbers(_numbers(10, 11)), 4).tolist() == [10, 11]


def test_one_known_word_among_unknown_ones_matches_a_relaxed_search_only() -> None:
    words = WordScores([_word((1, "heron", (1, 2)))], 4, 5.3)

    assert candidates.with_any_word(words, ALL, 9).numbers.tolist() == [1, 2]
    assert _both(words, NOTHING_NEAR, is_relaxed=True).numbers.tolist() == [1, 2]
    assert _both(words, NOTHING_NEAR).numbers.tolist() == []
    # Other posts need most of its words, even if one matches the whole query.
    assert _both(words, NOTHING_NEAR, [2]).numbers.tolist() == [2]


def test_posts_with_the_whole_query_come_before_those_with_any_word() -> None:
    words = WordScores([_word((1, "heron", (1, 2))), _word((1, "weir", (2,)))], 0, 0)
    found = candidates.with_any_word(words, ALL, 9, [1, 3])

    assert _ordered(found, words, _uncounted(words), 9)[0] == [1, 3, 2]


def test_some_of_the_words_of_a_long_query_count_more_than_those_of_a_short_one() -> None:
    def share(length: int) -> float:
        found = [_word((1, f"w{n}", (1,))) for n in range(length)]
        words = WordScores(found, 0, 0)
        bm25 = np.array([1.0, 0.0], np.float32)
        one, other = words.score(np.array([0.3, 0.3], np.float32), bm25)
        return float(one - other)

    assert 0 < share(1) < share(4) < share(8) == share(16)


def test_posts_are_close_by_most_of_the_words_or_clearly_above_the_floor() -> None:
    words = WordScores([_word((1, "heron", (1,)))], 4, 5.3)

    def is_close(words: WordScores, similarity: float) -> bool:
        near = Nearness(_numbers(1), np.array([similarity], np.float32), 0.3)
        return candidates.are_close(_both(words, near, is_relaxed=True), 0.3)

    assert [is_close(words, similarity) for similarity in (0.1, 0.35, 0.5)] == [False, False, True]
    assert is_close(WordScores(words.words, 0, 0), 0.1)


def test_posts_below_the_floor_need_the_words() -> None:
    words = WordScores([_word((1, "heron", (1, 2)))], 0, 0)
    near = Nearness(_numbers(1, 2, 3, 4), np.array([0.1, 0.9, 0.6, 0.2], np.float32), 0.3)

    found = _both(words, near)

    assert _ordered(found, words, _uncounted(words), 9)[0] == [2, 1, 3]
    assert candidates.nearest(near, ALL, 1)[0] == [2]
    assert candidates.nearest(near, Numbers(_numbers(1, 3)), 9)[0] == [3]
    assert candidates.nearest(replace(near, floor=0.95), ALL, 9) == ([], [])


def test_likeness_counts_in_long_queries() -> None:
    word = _word((1, "heron", (1,)))
    weights = [WordScores([word] * words, 0, 0).likeness_weight() for words in (0, 1, 3, 4, 6, 20)]

    assert weights[:3] == [0, 0, 0]
    assert 0 < weights[3] < weights[4] == weights[5] == LIKENESS_WEIGHT


def test_the_first_two_posts_say_what_the_others_should_be_like() -> None:
    numbers = np.arange(1, 401)
    scores = np.zeros(400, np.float32)
    scores[[3, 399, 7]] = 0.9, 0.7, 0.5

    places, shares = candidates.best_of(numbers, scores, 100)

    # Of equal ones those imported last.
    assert places.tolist() == [3, 7, *range(302, 400)]
    assert shares[[0, -1]].tolist() == pytest.approx([2 / 3, 1 / 3])
    assert np.count_nonzero(shares) == 2
    alone, all_of_it = candidates.best_of(numbers[:1], scores[:1], 100)
    assert (alone.tolist(), all_of_it.tolist()) == ([0], pytest.approx([2 / 3]))


def test_likeness_counts_less_if_the_first_post_has_few_of_the_words() -> None:
    words = WordScores([_word((1, "heron", (1,)))] * 6, 0, 0)

    weights = [words.likeness_weight(coverage) for coverage in (0, 0.25, 0.5, 1)]

    assert weights == [0, LIKENESS_WEIGHT / 4, LIKENESS_WEIGHT, LIKENESS_WEIGHT]


def test_posts_are_alike_by_words_that_few_of_them_have() -> None:
    heron, like, unlike = ["the", "heron", "weir"], ["the", "weir", "weir"], ["the", "bread"]
    others = [["the", f"w{number}"] for number in range(6)]

    columns = word_columns([heron, like, unlike, [], *others])
    alike = likeness_of(columns, np.array([1, *[0] * 9], np.float32))

    assert np.linalg.norm(columns, axis=0).round(5).tolist() == [1, 1, 1, 0, *[1] * 6]
    assert alike[0] > alike[1] > alike[2]
    assert word_columns([[], []]).shape == (0, 2)


@pytest.mark.parametrize("is_by_words", [True, False])
@pytest.mark.parametrize(("length", "second"), [(6, 2), (3, 3)])
def test_what_the_first_post_has_often_tells_more_in_long_queries(
    length: int, second: int, *, is_by_words: bool
) -> None:
    # Post 1 has all of the words, the first of them often. Post 2 shares that one, 3 another one.
    held = [(1, 2), (1, 3), *[(1,)] * (length - 2)]
    words = WordScores([_word((1, f"w{n}", posts)) for n, posts in enumerate(held)], 0, 0)
    found = candidates.with_any_word(words, ALL, 9)
    counts = found.held.T.astype(np.uint8)
    counts[0, 0] = 5
    counted = Counted([f"w{n}" for n in range(length)], found.numbers, counts, _numbers(9, 9, 9))

    scores = candidates.scores(found, words, counted, is_by_words=is_by_words)

    assert candidates.ordered(found.numbers, scores, 9)[0] == [1, second, 5 - second]


def test_the_words_of_the_first_posts_tell_less_beside_likeness() -> None:
    words = WordScores([_word((1, f"w{n}", (1, 2))) for n in range(6)], 0, 0)
    often = np.ones((6, 2), np.float32)
    often[0, 0] = 5
    shares = np.array([1, 0], np.float32)

    by_words, beside = (
        words.emphasis(often, shares, is_by_words=is_by_words) for is_by_words in (True, False)
    )

    assert by_words[0] > beside[0] > 1
    assert by_words[1:].tolist() == beside[1:].tolist() == [1] * 5


def test_idf_falls_with_the_number_of_posts() -> None:
    values = [idf(posts, 100) for posts in (0, 1, 10, 100)]

    assert values == sorted(values, reverse=True)
    assert values[-1] > 0
    assert idf(5, 3) > 0


def test_few_tokens_of_a_long_query_are_counted_the_rarest_first() -> None:
    many = [
        _word(*((1 - 0.1 * form, f"w{posts}f{form}", tuple(range(posts))) for form in range(4)))
        for posts in range(16, 0, -1)
    ]

    tokens = WordScores(many, 0, 0).tokens

    assert len(tokens) == 32
    assert tokens[0] == "w1f0"
    assert {token for token in tokens if token.endswith("f0")} == {f"w{n}f0" for n in range(1, 17)}
    assert {token for token in tokens if token.endswith("f1")} == {f"w{n}f1" for n in range(1, 17)}


HOLDERS = np.array([1, 2, 3], np.int64)


@pytest.mark.parametrize("floor", [-1.0, 0.0, 0.19, math.inf])
def test_a_post_without_a_vector_is_not_near_whatever_the_floor(floor: float) -> None:
    # One word of three is not enough by itself.
    words = WordScores([HeldWord(1.0, (Spelling(1.0, HOLDERS),))], unknown=2, unknown_idf=3.0)

    found = by_both(
        words,
        Numbers(HOLDERS),
        replace(NOTHING_NEAR, floor=floor),
        (),
        by_words=10,
        by_meaning=10,
        is_relaxed=False,
    )

    assert found.numbers.tolist() == []
