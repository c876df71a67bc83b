"""suggest_labels."""

import pytest

from tests.support.service import Member
from tests.support.toolcalls import call

pytestmark = pytest.mark.anyio


async def test_labels_are_suggested_for_many_posts_in_one_call(alice: Member) -> None:
    for n in range(4):
        await alice.save(text=f"note {n}", author="ines", tags=["databases"])
    new = [(await alice.save(text=f"new {n}", author="ines"))["post_id"] for n in range(2)]
    other = (await alice.save(text="new", author="tomasz"))["post_id"]

    found = await call(alice, "suggest_labels", post_ids=[*new, other, "404"])

    label = {"label": "databases", "score": 0.57, "reason": "author"}
    assert found["posts"] == [{"post_id": post_id, "labels": [label]} for post_id in new]
    assert (found["not_found"], found["truncated"]) == (["404"], False)
