"""GET /v1/bookmarks/changes and list_changes: what was changed, by whom, and its undo."""

from typing import Any

import pytest

from bowerbird.clock import MICROSECONDS
from bowerbird.storage.changes.bulk import BulkStore
from tests.support import make, writing
from tests.support.service import Member, Service
from tests.support.toolcalls import call

pytestmark = pytest.mark.anyio
PATH = "/v1/bookmarks/changes"


async def listed(member: Member, **query: Any) -> dict[str, Any]:
    response = await member.client.get(PATH, params=query)
    assert response.status_code == 200, response.text
    answer: dict[str, Any] = response.json()
    return answer


async def send(member: Member, method: str, path: str, body: Any = None) -> dict[str, Any]:
    response = await writing.send(member, method, f"/v1/{path}", body)
    assert response.status_code == 200, response.text
    answer: dict[str, Any] = response.json()
    return answer


async def fill(member: Member) -> None:
    await member.save_all([make.post(post_id=str(n), author="ada") for n in range(1, 4)])


@pytest.mark.both
async def test_every_way_to_change_posts_is_listed_in_words(alice: Member) -> None:
    await fill(alice)
    await send(alice, "POST", "labels/add", {"tweet_ids": ["1", "2"], "label_name": "Birds"})
    operations = [{"op": "add", "tweet_ids": ["3"], "label_name": "Owls"}]
    await send(alice, "POST", "labels/batch", {"operations": operations})
    ids = {one["label_name"]: one["id"] for one in (await send(alice, "GET", "labels"))["data"]}
    await send(alice, "POST", f"labels/{ids['Owls']}/merge", {"into": ids["Birds"]})
    await send(alice, "DELETE", f"labels/{ids['Birds']}")
    await send(alice, "PATCH", "bookmarks/1", {"is_read": True})
    await send(alice, "DELETE", "bookmarks/2")
    sent = {"filter": {"author": "ada"}, "is_archived": True, "expected_count": 1}
    await send(alice, "POST", "bookmarks/update", sent)

    answer = await listed(alice)

    assert [one["summary"] for one in answer["data"]] == [
        "Archived 1 post.",
        "Moved 1 post to the trash.",
        "Marked 1 post read.",
        "Deleted the label “Birds”, which 3 posts had.",
        "Merged the label “Owls”, which 1 post had, into “Birds”.",
        "Changed the labels of 1 post.",
        "Added the label “Birds” to 2 posts.",
    ]
    assert {one["made_by"] for one in answer["data"]} == {"key"}
    assert all(one["key_name"] and one["undo_until"] for one in answer["data"])
    assert (answer["meta"]["total_count"], answer["meta"]["next_cursor"]) == (7, None)


@pytest.mark.both
async def test_a_lost_id_is_found_and_the_change_undone(alice: Member) -> None:
    await fill(alice)
    await call(alice, "update_bookmarks", post_ids=["1", "2"], is_read=True)

    [found] = (await call(alice, "list_changes"))["changes"]
    assert found.keys() == {"change_id", "summary", "made_by", "at", "key", "undo_until"}
    assert (found["summary"], found["made_by"]) == ("Marked 2 posts read.", "agent")
    await send(alice, "POST", f"bookmarks/changes/{found['change_id']}/undo")

    [after] = (await listed(alice))["data"]
    assert (after["state"], after["restored"], after["undo_until"]) == ("undone", 2, None)
    assert after["summary"] == "Marked 2 posts read. Undone: 2 posts changed back."
    assert len(await alice.ids()) == 3


async def test_pages_follow_each_other_without_gaps(alice: Member) -> None:
    await fill(alice)
    for n in range(5):
        await send(alice, "PATCH", "bookmarks/1", {"is_read": n % 2 == 0})

    pages: list[list[str]] = []
    cursor = None
    while not pages or cursor:
        answer = await listed(alice, limit=2, **({"cursor": cursor} if cursor else {}))
        pages.append([one["change_id"] for one in answer["data"]])
        cursor = answer["meta"]["next_cursor"]
        # A change that is made meanwhile is newer than all of them.
        await send(alice, "PATCH", "bookmarks/2", {"is_archived": len(pages) % 2 == 1})

    assert [len(page) for page in pages] == [2, 2, 1]
    assert len({one for page in pages for one in page}) == 5


async def test_a_change_is_listed_as_long_as_it_can_be_undone(cast: Service) -> None:
    alice = cast.alice
    await fill(alice)
    await send(alice, "PATCH", "bookmarks/1", {"is_read": True})
    store, account, now = BulkStore(alice.database), alice.account_id, alice.clock()
    hour = 3_600 * MICROSECONDS

    assert len(await store.recent(account, now=now + hour, before=2**62, limit=9)) == 1
    assert await store.recent(account, now=now + hour + 1, before=2**62, limit=9) == []
    assert await store.count_recent(account, now + hour + 1) == 0
    assert (await listed(cast.bob))["data"] == []
