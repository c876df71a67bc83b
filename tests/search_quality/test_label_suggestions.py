"""Suggested labels, leave one out, in libraries of posts of usual length and of terse ones.

The constants in search/label_votes.py were chosen on the files `*_chosen` alone: the lowest bar at
which at most a tenth of their posts without a label get one. Every figure here is measured on the
others. Figures are in benchmarks/notes.
"""

import pytest

from bowerbird.library.vectors.semantic_search import SemanticSearch
from tests.search_quality import label_suggestions
from tests.support.models import MODELS
from tests.support.service import Member

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize(
    ("files", "least_right", "most_wrong"),
    [
        (["usual_reported"], 0.85, 0.15),
        # 13 labels, and half of the posts are terse.
        (["usual_reported", "terse_reported"], 0.73, 0.15),
    ],
)
async def test_most_posts_get_their_label_and_few_others_get_any(
    alice: Member, files: list[str], least_right: float, most_wrong: float
) -> None:
    posts = await label_suggestions.saved(alice, *files)

    found = await label_suggestions.measured(alice, posts, SemanticSearch(alice.database, MODELS))

    assert found.right >= least_right, found.missed
    assert found.wrong <= most_wrong, found.without
