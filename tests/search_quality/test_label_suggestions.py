"""Suggested labels, leave one out, in a library of posts of usual length and of terse ones.

The constants in search/label_votes.py were chosen on the files `*_chosen` alone: the lowest bar at
which at most a tenth of their posts without a label get one. Every figure here is measured on the
others, with 13 labels and 50 posts that none of them fits. Figures are in benchmarks/notes.
"""

import pytest

from bowerbird.library.vectors.semantic_search import SemanticSearch
from tests.search_quality import label_suggestions
from tests.support.models import MODELS
from tests.support.service import Member

pytestmark = pytest.mark.anyio

LEAST_RIGHT = 0.6
MOST_WRONG = 0.16


async def test_most_posts_get_their_label_and_few_others_get_any(alice: Member) -> None:
    posts = await label_suggestions.saved(alice, "usual_reported", "terse_reported")

    found = await label_suggestions.measured(alice, posts, SemanticSearch(alice.database, MODELS))

    assert found.right >= LEAST_RIGHT, found.missed
    assert found.wrong <= MOST_WRONG, found.without
