"""The selection of a list, and the trash."""

import re
from collections.abc import Sequence
from urllib.parse import parse_qs, unquote, urlsplit

import httpx
import pytest

from bowerbird.library.bookmarks import trash as trash_list
from bowerbird.storage.bookmarks.trash import TrashStore
from bowerbird.storage.libraries import LockedLibrary
from bowerbird.web.library.addresses import of_view
from tests.support import make, waiting, writing
from tests.support.working import at_work
from tests.web.house import Reader, ids

pytestmark = pytest.mark.anyio


ALL = "/library?is_unread_only=false&hide_archived=false"


async def fill(reader: Reader, count: int = 4) -> list[str]:
    posts = [
        make.post(post_id=str(n), tags=["Birds"] if n == 1 else None) for n in range(1, count + 1)
    ]
    await reader.member.save_all(posts)
    return [post["post_id"] for post in posts]


async def send(reader: Reader, page: str, **fields: str) -> httpx.Response:
    form = {"back": page, "list": page, **fields}
    return await reader.person.send("/library/many", page, **form)


async def undo(reader: Reader, shown: str) -> httpx.Response:
    found = re.search(r'many/undo" name="change" value="(\w+)" data-undo>Undo', shown)
    assert found, shown
    return await reader.person.send("/library/many/undo", "/library", change=found[1], back=ALL)


async def test_each_post_of_a_list_can_be_picked(ann: Reader) -> None:
    await fill(ann)

    page = await ann.page("/library")

    assert page.count('type="checkbox" form="many" name="p-') == 4
    assert "All 4<span" in page
    assert 'name="list" value="/library"' in page


@pytest.mark.parametrize(
    ("action", "sentence"),
    [
        ("read", "Marked 2 posts read."),
        ("archive", "Archived 2 posts."),
        ("trash", "Moved 2 posts to the trash."),
        ("add_label", "Added the label “&lt;b&gt; {posts}” to 2 posts."),
    ],
)
async def test_the_picked_posts_are_changed_and_changed_back(
    ann: Reader, action: str, sentence: str
) -> None:
    await fill(ann)
    before = sorted(ids(await ann.page(ALL)))

    sent = {action: "", "p-1": "on", "p-3": "on", "label": "<b> {posts}"}
    changed = await send(ann, ALL, **sent)
    assert changed.status_code == 303, changed.text
    shown = await ann.page(changed.headers["location"])
    assert sentence in shown

    undone = await undo(ann, shown)

    assert "Undone: 2 posts changed back." in await ann.page(undone.headers["location"])
    assert sorted(ids(await ann.page("/library"))) == before
    assert await writing.labels(ann.member) == {"Birds": 1}


async def test_a_change_returns_to_its_list(ann: Reader) -> None:
    await fill(ann)
    page = "/library?tag=Birds&density=compact"

    changed = await send(ann, page, archive="", posts="1 2")

    parts = urlsplit(changed.headers["location"])
    query = parse_qs(parts.query)
    assert parts.path == "/library"
    assert (query["tag"], query["density"]) == (["Birds"], ["compact"])
    assert (
        (await send(ann, "//example.com/", read="", posts="1"))
        .headers["location"]
        .startswith("/library?change=")
    )


async def test_all_that_match_are_changed_by_the_filter_of_the_list(ann: Reader) -> None:
    await fill(ann)
    await ann.member.save_all([make.post(post_id=str(n), author="mia") for n in range(50, 90)])

    changed = await send(ann, "/library?author=mia", archive="", all="yes")

    assert "Archived 40 posts." in await ann.page(changed.headers["location"])
    assert len(await ann.member.ids()) == 4


@pytest.mark.parametrize("name", ["Latest", "鳥", "New"])
async def test_all_posts_of_a_view_are_changed(ann: Reader, name: str) -> None:
    await fill(ann)
    path = await writing.view(ann.member, name=name, base_query={"tag": "Birds"})

    page = await ann.page(of_view(unquote(path.split("/")[-1])))
    listed = re.search(r'name="list" value="([^"]+)"', page)
    assert listed
    changed = await send(ann, listed[1], read="", all="yes")

    assert "Marked 1 post read." in await ann.page(changed.headers["location"])


async def test_enter_in_the_field_for_a_label_adds_it(ann: Reader) -> None:
    await fill(ann)

    await send(ann, "/library", **{"enter": "", "p-2": "on", "label": "Blue"})

    assert await writing.tags(ann.member, "2") == ["Blue"]


async def test_the_undo_of_the_picker_is_told_on_the_page_of_a_post(ann: Reader) -> None:
    [first] = await fill(ann, 1)
    changed = await send(ann, f"/p/{first}", **{"remove_label": "", "label": "Birds", "p-1": "on"})

    shown = await ann.page(changed.headers["location"])

    assert urlsplit(changed.headers["location"]).path == f"/p/{first}"
    assert "Removed the label “Birds” from 1 post." in shown
    undone = await undo(ann, shown)
    assert "Undone: 1 post changed back." in await ann.page(undone.headers["location"])


async def test_a_large_change_shows_its_progress(ann: Reader) -> None:
    await fill(ann, 450)

    started = await send(ann, "/library?tag=&density=compact", read="", all="yes")
    path = started.headers["location"]
    shown = await ann.page(path)
    assert "Marking posts read" in shown
    assert 'max="450"' in shown
    assert "Stop and undo" in shown
    state = await ann.person.open(f"{urlsplit(path).path}/state")
    assert state.json()["jobs"][0]["total"] == 450

    async def is_done() -> bool:
        return (await ann.person.open(path)).url.path == "/library"

    async with at_work(ann.house.service.worker):
        await waiting.until(is_done)

    back = await ann.person.open(path)
    assert b"density=compact&change=" in back.url.query
    assert "Marked 450 posts read." in back.text


DAY = 86_400_000_000


async def fill_trash(reader: Reader, count: int = 3) -> None:
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
    await fill_trash(ann)

    page = await ann.page("/trash")

    assert ids(page) == ["3", "2", "1"]
    assert "post 3 &lt;b&gt;" in page
    # 30 days after 18 July 2026.
    assert page.count(">17 Aug 2026</time>") == 3
    ann.house.clock.now += 31 * DAY
    trash = trash_list.TrashList(ann.house.database, ann.house.clock)
    assert not (await trash.page(await ann.member.account())).posts


async def test_one_post_is_restored_and_that_is_undone(ann: Reader) -> None:
    await fill_trash(ann)

    restored = await send(ann, "/trash", restore="2")
    shown = await ann.page(restored.headers["location"])

    assert "Restored 1 post." in shown
    assert ids(shown) == ["3", "1"]
    assert await ann.member.ids() == ["2"]
    await undo(ann, shown)
    assert ids(await ann.page("/trash")) == ["3", "2", "1"]


async def test_posts_are_deleted_for_good_after_a_question(ann: Reader) -> None:
    await fill_trash(ann)

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
    await fill_trash(ann)

    asked = await ann.person.send("/trash/delete", "/trash", delete="", all="yes")
    assert "Empty the trash?" in asked.text
    await ann.person.send("/trash/delete", "/trash", sure="yes", all="yes")

    assert "The trash is empty" in await ann.page("/trash")


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


async def test_many_posts_are_deleted_in_short_transactions(
    ann: Reader, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trash_list, "_DELETED_PER_TURN", 2)
    await fill_trash(ann, 5)
    account = await ann.member.account()
    removed: list[int] = []
    store = TrashStore(ann.house.database)
    remove = TrashStore.remove

    async def counted(self: TrashStore, library: LockedLibrary, post_ids: Sequence[str]) -> None:
        removed.append(len(post_ids))
        await remove(self, library, post_ids)

    monkeypatch.setattr(TrashStore, "remove", counted)

    await trash_list.TrashList(ann.house.database, ann.house.clock).delete(
        account, ["1", "2", "3", "4", "5", "5"]
    )

    assert removed == [2, 2, 1]
    assert await store.count(account.account_id, 0, 9) == 0
