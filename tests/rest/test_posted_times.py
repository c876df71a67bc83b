"""posted_at is never empty: from the source, else from the id, else the time of saving."""

from typing import Any, Final

import msgspec
import pytest

from bowerbird.model.instants import UNKNOWN, with_offset
from bowerbird.sources import own_json
from tests.support import make
from tests.support.service import NOW, Member

pytestmark = pytest.mark.anyio

# A moment before the import, as nothing is whose date of saving is unknown.
SAVED: Final = with_offset(NOW - 1)
LINKS: Final = {
    "https://x.com/ada/status/1945678901234567890": "2025-07-17T02:56:13.677000+00:00",
    "https://x.com/jack/status/20": SAVED,
    "https://bsky.app/profile/ada.example/post/3jzfcijpj2z2a": "2023-06-30T15:03:01.887007+00:00",
    "https://mastodon.social/@ada/109372843234567890": "2022-11-19T22:32:24.082000+00:00",
    "https://www.reddit.com/r/birds/comments/15bfi0/a_nest/": SAVED,
}


async def _saved(member: Member, **body: Any) -> list[str]:
    response = await member.client.post("/v1/bookmarks", json=body)
    assert response.status_code == 200, response.text
    return [one["post_id"] for one in response.json()["data"]["results"]]


async def _time(member: Member, post_id: str) -> str:
    answer = (await member.get(f"/v1/bookmarks/{post_id}")).json()
    return str(answer["data"]["tweet_details"]["posted_at"])


async def test_a_saved_link_has_the_time_in_its_id_or_that_of_saving(alice: Member) -> None:
    ids = await _saved(alice, links=list(LINKS))

    assert [await _time(alice, post_id) for post_id in ids] == list(LINKS.values())


@pytest.mark.both
async def test_order_and_filters_agree_with_the_time_that_is_shown(alice: Member) -> None:
    ids = await _saved(alice, links=list(LINKS))
    shown = dict(zip(ids, LINKS.values(), strict=True))

    listed = await alice.ids(sort_by="posted_at")
    assert [shown[post_id] for post_id in listed] == sorted(LINKS.values(), reverse=True)
    for bound in ("2023-01-01T00:00:00Z", "2026-01-01T00:00:00Z"):
        after = {post_id for post_id, time in shown.items() if time > bound}
        assert set(await alice.ids(posted_from=bound)) == after
        assert set(await alice.ids(posted_to=bound)) == set(ids) - after
        assert set(await alice.ids(q=f"after:{bound[:10]}")) == after


@pytest.mark.parametrize("post_id", ["1945678901234567890", "20"])
async def test_a_time_of_the_source_replaces_a_derived_one_and_not_the_reverse(
    alice: Member, post_id: str
) -> None:
    link = {"links": [f"https://x.com/ada/status/{post_id}"]}
    whole = {"text": "A nest", "posted_at": "2025-07-17T02:56:13+00:00"}

    await _saved(alice, **link)
    alice.clock.now += 5_000_000
    await _saved(alice, posts=[{"post_id": post_id, "tweet_details": whole}])
    assert await _time(alice, post_id) == "2025-07-17T02:56:13+00:00"

    for later in (link, {"posts": [{"post_id": post_id, "tweet_details": {"text": "Nests"}}]}):
        alice.clock.now += 5_000_000
        await _saved(alice, **later)
        assert await _time(alice, post_id) == "2025-07-17T02:56:13+00:00"


async def test_saving_a_link_again_and_a_note_keep_the_time(alice: Member) -> None:
    [post_id] = await _saved(alice, links=["https://x.com/jack/status/20"])
    alice.clock.now += 5_000_000

    await _saved(alice, links=["https://x.com/jack/status/20"])
    assert await _time(alice, post_id) == SAVED
    changed = await alice.client.patch(f"/v1/bookmarks/{post_id}", json={"note": "First"})
    assert changed.json()["data"]["tweet_details"]["posted_at"] == SAVED
    whole = {"text": "just setting up", "posted_at": "2006-03-21T20:50:14Z"}
    await _saved(alice, posts=[{"post_id": "20", "tweet_details": whole}])
    assert await _time(alice, post_id) == "2006-03-21T20:50:14Z"


@pytest.mark.both
def _post(listed: dict[str, Any]) -> dict[str, Any]:
    """Without what a library knows about a link, and when it changed the post."""
    own = ("content_", "updated_at")
    return {name: value for name, value in listed.items() if not name.startswith(own)}


async def test_an_export_gives_back_the_same_times_and_changes_nothing_where_it_came_from(
    alice: Member, bob: Member
) -> None:
    await _saved(alice, links=list(LINKS))
    listed = (await alice.listed(is_unread_only="false"))["data"]
    exported = [_post(one) for one in listed]
    bob.clock.now += 60_000_000

    assert (await bob.save_all(exported[::-1])).new == len(LINKS)
    assert [_post(one) for one in (await bob.listed(is_unread_only="false"))["data"]] == exported
    assert (await alice.save_all(exported)).unchanged == len(LINKS)
    # A later import of the whole post corrects the time there too.
    details = {"text": "just setting up", "posted_at": "2006-03-21T20:50:14Z"}
    await _saved(bob, posts=[{"post_id": "20", "tweet_details": details}])
    assert await _time(bob, "20") == "2006-03-21T20:50:14Z"


async def test_a_time_of_saving_follows_the_date_of_the_bookmark(alice: Member) -> None:
    record = make.post(post_id="20", posted_at="", text="katze")
    await alice.save_all([record])
    await alice.change(record, bookmarked_at="2026-03-01T00:00:00+00:00")

    assert await _time(alice, "20") == "2026-03-01T00:00:00.000000+00:00"
    assert await alice.ids(posted_to="2026-04-01T00:00:00Z") == ["20"]


@pytest.mark.both
async def test_the_empty_time_of_a_quoted_post_stays(alice: Member) -> None:
    quoted = {"post_id": "21", "posted_at": "", "text": '"posted_at":""'}
    for n, posted_at in enumerate(("2026-01-01T00:00:00Z", "")):
        record = make.post(post_id=f"{n + 30}", posted_at=posted_at, text='"posted_at":""')
        record["tweet_details"]["quoted_tweet"] = quoted
        await alice.save_all([record])
        stored = (await alice.get(f"/v1/bookmarks/{n + 30}")).json()["data"]["tweet_details"]
        assert stored["quoted_tweet"] == quoted
        assert stored["posted_at"] == (posted_at or with_offset(NOW))
        assert stored["text"] == '"posted_at":""'


def test_a_stored_post_is_read_without_a_derived_time_of_saving() -> None:
    record = make.post(post_id="20", posted_at=SAVED, bookmarked_at=SAVED)

    incoming = own_json.read(make.raw(record), is_stored=True).incoming

    assert incoming.posted_at == UNKNOWN
    assert msgspec.json.decode(incoming.post_json)["tweet_details"]["posted_at"] == ""
