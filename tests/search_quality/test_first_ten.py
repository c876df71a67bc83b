"""What a person half remembers is on the first page, and what no post says finds nothing.

`python -m benchmarks.search_quality --own` shows the same figures with every miss.
"""

import pytest

from tests.search_quality import measuring
from tests.search_quality.collection import BY_MEANING
from tests.search_quality.measuring import SEARCHES, Measured

LEAST_SHARE = 0.9
TOLERANCE = 0.01
MOST_MATCHED = 0.02
MOST_UNMARKED = 0.2


def test_each_kind_of_query_finds_its_posts_in_the_first_ten(measured: Measured) -> None:
    missed = {
        f"{kind}, by {search}": [
            result.query.text for result in measured.of(kind) if not result.is_hit(search)
        ]
        for kind in measured.kinds
        for search in measuring.searches_of(kind)
        if measuring.share(measured.of(kind), search) < LEAST_SHARE
    }

    assert missed == {}


def test_the_combined_search_is_as_good_as_the_better_of_its_parts(
    measured_on_sqlite: Measured,
) -> None:
    quality = {search: measuring.ndcg(measured_on_sqlite.results, search) for search in SEARCHES}

    assert quality["both"] >= max(quality["words"], quality["meaning"]) - TOLERANCE, quality


@pytest.mark.parametrize("part", ["words", "meaning"])
def test_the_combined_search_keeps_what_the_right_part_finds(measured: Measured, part: str) -> None:
    kinds = [kind for kind in measured.kinds if part in measuring.searches_of(kind)]
    quality = {search: measuring.ndcg(measured.of(*kinds), search) for search in (part, "both")}

    assert quality["both"] >= quality[part] - TOLERANCE, quality


def test_no_exact_hit_falls_off_the_first_page(measured: Measured) -> None:
    lost = {
        result.query.text: sorted(gone)
        for result in measured.results
        if result.query.kind not in BY_MEANING
        and (gone := result.query.relevant & result.exact - set(result.found["both"]))
    }

    assert lost == {}


@pytest.mark.parametrize("search", ["meaning", "both"])
@pytest.mark.parametrize("kind", ["absent topic", "nonsense"])
def test_queries_about_nothing_in_the_library_match_almost_nothing(
    measured: Measured, kind: str, search: str
) -> None:
    shares = {result.query.text: result.matched[search] for result in measured.absent_of(kind)}
    mean = measuring.mean(shares.values())

    assert mean < MOST_MATCHED, {text: f"{one:.1%}" for text, one in shares.items() if one}


@pytest.mark.parametrize("search", ["meaning", "both"])
def test_most_absent_topics_find_nothing_or_the_answer_says_that_nothing_is_close(
    measured: Measured, search: str
) -> None:
    found = [one.query.text for one in measured.absent if one.matched[search]]

    assert len(found) <= MOST_UNMARKED * len(measured.absent), found


def test_words_that_no_post_has_find_nothing(measured: Measured) -> None:
    matched = {
        result.query.text: result.matched["words"]
        for result in measured.absent_of("nonsense")
        if result.matched["words"]
    }

    assert matched == {}
