"""Lists: ids= names the posts, fields= selects what is shown of each."""

import pytest

from tests.support import make, writing
from tests.support.service import Member, Service

pytestmark = [pytest.mark.anyio, pytest.mark.both]

ALL = {"is_unread_only": "false", "hide_archived": "false"}


async def test_named_posts_are_listed_whatever_their_flags_are(cast: Service) -> None:
    posts = [make.post(post_id=str(n), is_read=n % 2 == 0) for n in range(1, 131)]
    await cast.alice.save_all(posts)
    await cast.bob.save(post_id="999")
    asked = [*map(str, range(100, 3, -1)), "999", "x", "3"]

    answer = await cast.alice.listed(ids=",".join(asked))

    assert [one["post_id"] for one in answer["data"]] == [*asked[:97], "3"]
    assert answer["meta"]["not_found"] == ["999", "x"]
    assert (answer["meta"]["count"], answer["meta"]["next_cursor"]) == (98, None)
    unread = await cast.alice.listed(ids="2,3,7,7", is_unread_only="true")
    assert [one["post_id"] for one in unread["data"]] == ["7", "3"]
    assert unread["meta"]["not_found"] == []
    assert await cast.alice.crawl(ids="2,3,4", limit=2, sort_by="posted_at") == ["4", "3", "2"]
    count = await cast.alice.get("/v1/bookmarks/count", ids="1,2,999")
    assert count.json()["data"]["count"] == 2
    assert "not_found" not in (await cast.alice.listed())["meta"]
    assert (await cast.bob.listed(ids="1"))["meta"]["not_found"] == ["1"]


async def test_ids_are_bounded_and_need_a_paid_plan(cast: Service) -> None:
    for sent in (",".join(map(str, range(101))), ",", " , "):
        answer = await cast.alice.get("/v1/bookmarks", ids=sent)
        assert writing.refused(answer) == (400, "INVALID_REQUEST")
        assert "1 to 100 ids" in writing.sentence(answer)
    answer = await cast.free.get("/v1/bookmarks", ids="1")
    assert writing.refused(answer) == (402, "FILTER_NOT_ALLOWED")


async def test_only_the_selected_fields_are_listed(alice: Member) -> None:
    await alice.save(post_id="1", text='"hé"', tags=["a"], note="mine", metrics={"reply_count": 3})
    await alice.save(post_id="2")

    answer = await alice.listed(fields="tweet_details.text, post_id,note,updated_at,tags")

    [second, first] = answer["data"]
    assert first == {
        "post_id": "1",
        "note": "mine",
        "updated_at": first["updated_at"],
        "tags": ["a"],
        "tweet_details": {"text": '"hé"'},
    }
    assert second.keys() == first.keys() - {"note"}
    whole = (await alice.listed())["data"][1]
    counts = "tweet_details.meta.non_real_time_engagement_metrics"
    asked = f"{counts}.reply_count,tweet_details.meta,author_details.name"
    [_, deep] = (await alice.listed(fields=asked))["data"]
    assert deep == {
        "tweet_details": {"meta": whole["tweet_details"]["meta"]},
        "author_details": {"name": "Ada L."},
    }
    [found] = (await alice.listed(fields="post_id,highlight", q="mine", highlight="true"))["data"]
    assert found.keys() == {"post_id", "highlight"}
    assert (await alice.listed(fields=""))["data"] == (await alice.listed())["data"]


async def test_an_unknown_field_is_refused_with_the_names_of_all(alice: Member) -> None:
    for sent in ("id", "tweet_details.attachments.url", "post_id,,tweet_details.", "a" * 2_000):
        answer = await alice.get("/v1/bookmarks", fields=sent)
        assert writing.refused(answer) == (400, "INVALID_REQUEST"), sent
        assert "tweet_details.text" in writing.sentence(answer)
    answer = await alice.get("/v1/bookmarks", fields=",".join(["post_id"] * 51))
    assert writing.refused(answer) == (400, "INVALID_REQUEST")


async def test_the_free_plan_can_select_fields(free: Member) -> None:
    await free.save(post_id="1")

    assert (await free.listed(fields="post_id"))["data"] == [{"post_id": "1"}]
