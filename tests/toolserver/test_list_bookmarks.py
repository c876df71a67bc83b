"""`list_bookmarks`: short pages that continue without a gap, with the list's own filters."""

import pytest

from tests.support.service import Member
from tests.support.toolcalls import call

pytestmark = pytest.mark.anyio


async def test_it_shows_what_is_new_in_a_short_form(alice: Member) -> None:
    saved = await alice.save(text="first light", author="ada", tags=["sky"])

    answer = await call(alice, "list_bookmarks")

    assert answer["bookmarks"] == [
        {
            "post_id": saved["post_id"],
            "author": "ada",
            "author_name": "Ada L.",
            "text": "first light",
            "link": saved["tweet_details"]["link"],
            "posted_at": "2026-01-01T00:00:00+00:00",
            "bookmarked_at": "2026-07-18T08:21:13.841838+00:00",
            "labels": ["sky"],
            "is_read": False,
            "is_archived": False,
        }
    ]
    assert answer["count"] == answer["total_count"] == 1
    assert answer["next_cursor"] is None
    assert answer["truncated"] is False
    assert answer["filters"] == {"is_unread_only": True, "hide_archived": True}
