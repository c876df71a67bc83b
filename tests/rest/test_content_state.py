"""Single bookmarks and lists say how much of a post the library has."""

from pathlib import Path
from typing import Any

import httpx
import pytest

from bowerbird.library.links.reading import LinkReading
from bowerbird.model.posts.links import SENTENCES, Reason
from bowerbird.settings import Settings
from bowerbird.storage.database import Database, Transaction
from bowerbird.storage.links import LinkStore
from tests.support import saving, service, writing
from tests.support.service import Member
from tests.support.toolcalls import call

pytestmark = [pytest.mark.anyio, pytest.mark.both]

NO_SOURCE = {"content_state": "link", "content_problem": SENTENCES[Reason.NO_SOURCE]}


async def meta(member: Member) -> dict[str, Any]:
    found: dict[str, Any] = (await member.get(f"/v1/bookmarks/{saving.X_ID}")).json()["meta"]
    return found


def state(post: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in post.items() if name.startswith("content_")}


async def give_up(member: Member) -> None:
    store = LinkStore(member.database)

    async def work(transaction: Transaction) -> None:
        await store.set_hosts(transaction, member.account_id, [(saving.X_ID, "")])

    await member.database.write(work)


async def test_a_link_is_fetched_and_then_whole_or_gone(database: Database) -> None:
    alice = (await service.build(database, fetch_posts="on")).alice
    await saving.save(alice, links=[saving.X])
    assert await meta(alice) == {"content_state": "fetching"}

    await give_up(alice)
    assert await meta(alice) == NO_SOURCE

    await alice.save(post_id=saving.X_ID)
    assert await meta(alice) == {"content_state": "whole"}


async def test_a_service_that_asks_nobody_says_so(alice: Member) -> None:
    await saving.save(alice, links=[saving.X])
    assert (await meta(alice))["content_state"] == "link"


async def again(member: Member, path: str, earlier: httpx.Response) -> httpx.Response:
    return await member.client.get(path, headers={"If-None-Match": earlier.headers["etag"]})


@pytest.mark.parametrize("path", ["/v1/bookmarks", "/v1/views/all/bookmarks"])
async def test_a_link_that_is_given_up_changes_lists_and_their_etags(
    database: Database, tmp_path: Path, path: str
) -> None:
    alice = (await service.build(database, fetch_posts="on")).alice
    await writing.send(alice, "POST", "/v1/views", {"name": "All", "base_query": {"q": "-x"}})
    await alice.save(post_id="7")
    await saving.save(alice, links=[saving.X])
    fetching = await alice.get(path)
    assert [state(one) for one in fetching.json()["data"]] == [{"content_state": "fetching"}, {}]
    assert (await again(alice, path, fetching)).status_code == 304

    await give_up(alice)
    left = await again(alice, path, fetching)
    assert [state(one) for one in left.json()["data"]] == [NO_SOURCE, {}]
    assert left.headers["etag"] != fetching.headers["etag"]
    assert (await again(alice, path, left)).status_code == 304

    settings = Settings(data_dir=tmp_path)
    reading = LinkReading(database, alice.clock, settings)
    assert await reading.ask_again(await alice.account()) == 1
    asked = await again(alice, path, left)
    assert state(asked.json()["data"][0]) == {"content_state": "fetching"}

    await alice.save(post_id=saving.X_ID)
    whole = await again(alice, path, asked)
    assert [state(one) for one in whole.json()["data"]] == [{}, {}]


async def test_tools_say_which_posts_are_only_links(database: Database) -> None:
    alice = (await service.build(database, fetch_posts="on")).alice
    await alice.save(post_id="7")
    await saving.save(alice, links=[saving.X])
    await give_up(alice)

    for arguments in ({}, {"response_format": "detailed"}):
        listed = await call(alice, "list_bookmarks", **arguments)
        assert [state(one) for one in listed["bookmarks"]] == [NO_SOURCE, {}]
    shown = await call(alice, "get_bookmarks", post_ids=[saving.X_ID, "7"])
    assert [state(one) for one in shown["bookmarks"]] == [NO_SOURCE, {}]
