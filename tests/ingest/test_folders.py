"""Pages of folders, whose names become labels. Pages and names come in any order."""

from typing import Any

import pytest

from bowerbird.requests import limits
from tests.sources.x import pages as shapes
from tests.support import ingesting, writing
from tests.support.ingesting import Sender, captured, data, listed, post_id
from tests.support.service import Member, Service

pytestmark = pytest.mark.anyio


def names(*folder_ids: str) -> dict[str, Any]:
    items = [{"id": one, "name": f"Folder {one}"} for one in folder_ids]
    slices = {"data": {"viewer": {"bookmark_collections_slice": {"items": items}}}}
    return captured(slices, request_url=ingesting.url("BookmarkFoldersSlice"))


def folder(folder_id: str, number: int) -> dict[str, Any]:
    posts = shapes.document(
        shapes.add_entries(shapes.entry(shapes.tweet(post_id(number), f"Post {number}."))),
        head="bookmark_collection_timeline",
    )
    url = ingesting.url("BookmarkFolderTimeline", bookmark_collection_id=folder_id)
    return captured(posts, request_url=url)


async def test_names_of_folders_can_come_after_an_undo(laptop: Sender, alice: Member) -> None:
    run_id = (await laptop.start())["run_id"]
    await laptop.send(run_id, 0, folder("555", 1))
    import_id = data(await laptop.get(f"/runs/{run_id}"))["import_id"]
    await alice.client.post(f"/v1/imports/{import_id}/undo")

    await laptop.send(run_id, 1, names("555"))

    assert await writing.tags(alice, post_id(1)) == ["Folder 555"]


async def test_a_page_of_names_reads_only_its_folders_pages(laptop: Sender, alice: Member) -> None:
    run_id = (await laptop.start())["run_id"]
    await laptop.send(run_id, 0, folder("555", 1))
    await laptop.send(run_id, 1, folder("666", 2))
    await laptop.send(run_id, 2, {**listed([3]), "payload": "{"})

    await laptop.send(run_id, 3, names("555"))

    assert await writing.tags(alice, post_id(1)) == ["Folder 555"]
    assert data(await laptop.get("/status"))["totals"]["kept_pages"] == 2


async def test_a_page_of_names_reads_a_bounded_number_of_pages(
    laptop: Sender, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_id = (await laptop.start())["run_id"]
    monkeypatch.setattr(limits, "KEPT_PAGES_READ_AT_ONCE", 2)
    for seq in range(3):
        await laptop.send(run_id, seq, folder("555", seq))

    left = []
    for seq in (3, 4):
        await laptop.send(run_id, seq, names("555"))
        left.append(data(await laptop.get("/status"))["totals"]["kept_pages"])

    assert left == [1, 0]


async def test_the_labels_of_folders_are_their_own_import(laptop: Sender, alice: Member) -> None:
    run_id = (await laptop.start())["run_id"]
    await laptop.send(run_id, 0, folder("555", 1))
    await laptop.send(run_id, 1, names("555"))
    await laptop.finish(run_id)

    imports = data(await alice.client.get("/v1/imports"))
    assert [one["kind"] for one in imports] == ["kept", "full"]
    for one in imports:
        undone = data(await alice.client.post(f"/v1/imports/{one['run_id']}/undo"))
        assert undone["removed"] + undone["restored"] == 1
    assert await alice.ids() == []


async def test_a_list_with_too_many_folders_is_refused(laptop: Sender) -> None:
    run_id = (await laptop.start())["run_id"]
    numbers = [str(number) for number in range(1, limits.INGEST_FOLDERS_MAX + 2)]

    refused = await laptop.post(f"/runs/{run_id}/pages", {"seq": 0, **names(*numbers)})
    accepted = await laptop.post(f"/runs/{run_id}/pages", {"seq": 0, **names(*numbers[1:])})

    assert writing.refused(refused) == (400, "INVALID_REQUEST")
    assert writing.sentence(refused) == "payload: has 1,001 folders; a page can have 1,000."
    assert accepted.status_code == 200


async def test_an_account_has_a_bounded_number_of_folders(
    cast: Service, alice: Member, bob: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "FOLDERS_MAX", 3)
    laptop, other = await ingesting.device(cast, alice), await ingesting.device(cast, bob)
    run_id = (await laptop.start())["run_id"]
    others_run = (await other.start())["run_id"]
    await laptop.send(run_id, 0, names("1", "2", "3"))

    again = await laptop.send(run_id, 1, names("3", "2", "1"))
    refused = await laptop.post(f"/runs/{run_id}/pages", {"seq": 2, **names("3", "4")})
    await laptop.send(run_id, 3, folder("3", 1))
    await laptop.send(run_id, 4, folder("4", 2))
    await other.send(others_run, 0, names("4"))

    assert again["errors"] == []
    assert writing.refused(refused) == (400, "INVALID_REQUEST")
    assert writing.sentence(refused) == "payload: an account can have the names of 3 folders."
    assert await writing.tags(alice, post_id(1)) == ["Folder 3"]
    assert await writing.tags(alice, post_id(2)) is None
