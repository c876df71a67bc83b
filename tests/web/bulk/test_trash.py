"""/trash: what was deleted can be restored, or deleted for good."""

import re
from collections.abc import Sequence

import pytest

from bowerbird.library.bookmarks import trash as trash_list
from bowerbird.storage.bookmarks.trash import TrashStore
from bowerbird.storage.database import Transaction
from bowerbird.web import trash as trash_page
from tests.support import make, writing
from tests.web.bulk.test_selection import send, undo
from tests.web.house import Reader, ids

pytestmark = pytest.mark.anyio

DAY = 86_400_000_000


async def fill(reader: Reader, count: int = 3) -> None:
    posts = [make.post(post_id=str(n), text=f"post {n} <b>") for n in range(1, count + 1)]
    await reader.member.save_all(posts)
    for post in posts:
        reader.house.clock.now += 1_000_000
        await writing.send(reader.member, "DELETE", f"/v1/bookmarks/{post['post_id']}")


async def test_an_empty_trash_says_so(ann: Reader) -> None:
    page = await ann.page("/trash")

    assert "The trash is empty" in page
    assert 'href="/trash" aria-current="page"' in page


async def test_the_trash_shows_the_latest_first_with_their_last_day(ann: Reader) -> None:
    await fill(ann)

    page = await ann.page("/trash")

    assert ids(page) == ["3", "2", "1"]
    assert "post 3 &lt;b&gt;" in page
    # 30 days after 18 July 2026.
    assert page.count(">17 Aug 2026</time>") == 3
    ann.house.clock.now += 31 * DAY
    trash = trash_list.TrashList(ann.house.database, ann.house.clock)
    assert not (await trash.page(await ann.member.account())).posts


async def test_one_post_is_restored_and_that_is_undone(ann: Reader) -> None:
    await fill(ann)

    restored = await send(ann, "/trash", restore="2")
    shown = await ann.page(restored.headers["location"])

    assert "Restored 1 post." in shown
    assert ids(shown) == ["3", "1"]
    assert await ann.member.ids() == ["2"]
    await undo(ann, shown)
    assert ids(await ann.page("/trash")) == ["3", "2", "1"]


async def test_posts_are_deleted_for_good_after_a_question(ann: Reader) -> None:
    await fill(ann)

    asked = await ann.person.send("/trash/delete", "/trash", delete="", posts="1 2")
    assert "Delete 2 posts for good?" in asked.text
    assert ids(await ann.page("/trash")) == ["3", "2", "1"]
    sent = re.search(r'name="posts" value="([\d ]+)"', asked.text)
    assert sent
    done = await ann.person.send("/trash/delete", "/trash", sure="yes", posts=sent[1])

    assert "Deleted for good." in await ann.page(done.headers["location"])
    assert ids(await ann.page("/trash")) == ["3"]
    refused = await writing.send(ann.member, "POST", "/v1/bookmarks/1/restore")
    assert refused.status_code == 404


async def test_the_trash_is_emptied_after_a_question(
    ann: Reader, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trash_list, "_DELETED_PER_TURN", 2)
    await fill(ann)

    asked = await ann.person.send("/trash/delete", "/trash", delete="", all="yes")
    assert "Empty the trash?" in asked.text
    await ann.person.send("/trash/delete", "/trash", sure="yes", all="yes")

    assert "The trash is empty" in await ann.page("/trash")


async def test_pages_of_the_trash_neither_repeat_nor_skip(
    ann: Reader, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trash_page, "PAGE", 2)
    await fill(ann, 5)
    # Deleted together, so at the same moment.
    await ann.member.save_all([make.post(post_id=str(n)) for n in range(6, 10)])
    await writing.send(
        ann.member, "POST", "/v1/bookmarks/changes", {"action": "trash", "filters": {}}
    )

    seen: list[str] = []
    path = "/trash"
    while path:
        page = await ann.page(path)
        seen += ids(page)
        older = re.search(r'href="(/trash\?cursor=[^"]+)">Older', page)
        path = older[1] if older else ""

    assert seen == ["9", "8", "7", "6", "5", "4", "3", "2", "1"]
    assert (await ann.person.open("/trash?cursor=forged")).status_code == 400


async def test_the_trash_is_searched_and_what_is_found_restored(ann: Reader) -> None:
    await ann.member.save_all([make.post(post_id="1", text="owls"), make.post(post_id="2")])
    body = {"tweet_ids": ["1", "2"]}
    await writing.send(ann.member, "POST", "/v1/bookmarks/delete", body)

    page = await ann.page("/trash?q=owl")
    assert ids(page) == ["1"]
    assert 'name="list" value="/trash?q=owl"' in page
    form = {"all": "yes", "list": "/trash?q=owl", "back": "/trash?q=owl", "restore": ""}
    await ann.person.send("/library/many", "/trash", **form)

    assert "Nothing in the trash matches" in await ann.page("/trash?q=owl")
    assert ids(await ann.page("/trash")) == ["2"]


async def test_the_trash_of_somebody_else_is_not_touched(ann: Reader, bob: Reader) -> None:
    await fill(ann)

    await bob.person.send("/trash/delete", "/trash", sure="yes", posts="1 2 3")
    await send(bob, "/trash", restore="1")

    assert ids(await ann.page("/trash")) == ["3", "2", "1"]


async def test_many_posts_are_deleted_in_short_transactions(
    ann: Reader, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trash_list, "_DELETED_PER_TURN", 2)
    await fill(ann, 5)
    account = await ann.member.account()
    removed: list[int] = []
    store = TrashStore(ann.house.database)
    remove = TrashStore.remove

    async def counted(
        self: TrashStore, later: Transaction, account_id: int, post_ids: Sequence[str]
    ) -> None:
        removed.append(len(post_ids))
        await remove(self, later, account_id, post_ids)

    monkeypatch.setattr(TrashStore, "remove", counted)

    await trash_list.TrashList(ann.house.database, ann.house.clock).delete(
        account, ["1", "2", "3", "4", "5", "5"]
    )

    assert removed == [2, 2, 1]
    assert await store.count(account.account_id, 0, 9) == 0
