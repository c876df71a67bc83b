"""What is stored and shown of a post: its times, its state, and values nested deeply."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import httpx
import msgspec
import pytest

from bowerbird.library.imports.intake import Intake
from bowerbird.library.labels.suggestions import NewLabels
from bowerbird.library.links import LinkReading
from bowerbird.library.upkeep.checks import Checks
from bowerbird.model.instants import UNKNOWN, with_offset
from bowerbird.model.posts.bookmarks import content_hash
from bowerbird.model.posts.networks import SENTENCES, Reason
from bowerbird.settings import Settings
from bowerbird.sources import own_json
from bowerbird.storage.bookmarks.upsert import UpsertStore
from bowerbird.storage.database import Database, Transaction, Writable
from bowerbird.storage.libraries import LibraryStore, LockedLibrary
from bowerbird.storage.links import LinkStore
from tests.rest.test_changes import library, since_now
from tests.support import exporting, make, saving, service, toolcalls, writing
from tests.support.in_turn import in_turn
from tests.support.service import NOW, Member, Service
from tests.support.toolcalls import call
from tests.support.writing import SECOND
from tests.test_introductions import completion, endpoint

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


def _post(listed: dict[str, Any]) -> dict[str, Any]:
    """Without what a library knows about a link, and when it changed the post."""
    own = ("content_", "updated_at")
    return {name: value for name, value in listed.items() if not name.startswith(own)}


@pytest.mark.both
async def test_an_export_gives_back_the_same_times_and_changes_nothing_where_it_came_from(
    alice: Member, bob: Member
) -> None:
    await _saved(alice, links=list(LINKS))
    listed = (await alice.listed(is_unread_only="false"))["data"]
    exported = [_post(one) for one in listed]
    bob.clock.now += 60_000_000

    assert (await bob.save_all(exported[::-1])).counts.new == len(LINKS)
    assert [_post(one) for one in (await bob.listed(is_unread_only="false"))["data"]] == exported
    assert (await alice.save_all(exported)).counts.unchanged == len(LINKS)
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


ALL = {"is_unread_only": "false", "hide_archived": "false"}


@pytest.mark.both
async def test_it_is_the_time_of_the_last_event_of_a_post(alice: Member) -> None:
    posts = [make.post(post_id=str(n), tags=["a"] if n % 2 else None) for n in range(1, 9)]
    follower = await since_now(alice)
    await alice.save_all(posts)
    writes: list[tuple[str, str, Any]] = [
        ("PATCH", "/v1/bookmarks/1", {"is_read": True}),
        ("PATCH", "/v1/bookmarks/2", {"note": "mine"}),
        (
            "POST",
            "/v1/bookmarks/update",
            {"filter": {"tag": "a"}, "is_archived": True, "expected_count": 3},
        ),
        ("POST", "/v1/labels/add", {"tweet_ids": ["1", "4"], "label_name": "b"}),
        ("POST", "/v1/labels/remove", {"tweet_ids": ["4"], "label_name": "b"}),
        ("POST", "/v1/bookmarks/5/highlights", {"quote": "post"}),
        ("PATCH", f"/v1/labels/{await writing.label_id(alice, 'a')}", {"label_name": "c"}),
        ("DELETE", "/v1/bookmarks/6", None),
        ("POST", "/v1/bookmarks/6/restore", None),
        ("PATCH", "/v1/bookmarks/7", {"is_read": False}),
    ]
    answers = {}
    for method, path, body in writes:
        alice.clock.now += SECOND
        answer = await writing.send(alice, method, path, body)
        assert answer.status_code < 300, answer.text
        answers[path] = answer
    alice.clock.now += SECOND
    undo = answers["/v1/bookmarks/update"].json()["meta"]["change"]["change_id"]
    await writing.send(alice, "POST", f"/v1/bookmarks/changes/{undo}/undo")
    alice.clock.now += SECOND
    await alice.change(posts[7], tweet_details={**posts[7]["tweet_details"], "text": "new"})
    # The same post again changes nothing.
    alice.clock.now += SECOND
    await alice.save_all([posts[0]])

    await follower.catch_up()
    last = {event["post_id"]: event["at"] for event in follower.seen if "post_id" in event}
    assert follower.copy == await library(alice)
    assert {post_id: post["updated_at"] for post_id, post in follower.copy.items()} == last
    assert len(set(last.values())) > 4


async def test_lists_counts_and_exports_have_what_changed_since(alice: Member, bob: Member) -> None:
    await alice.save_all([make.post(post_id=str(n)) for n in range(1, 6)])
    await bob.save(post_id="9")
    alice.clock.now += SECOND
    since = with_offset(alice.clock.now)
    for post_id in ("2", "4"):
        await writing.send(alice, "PATCH", f"/v1/bookmarks/{post_id}", {"is_read": True})

    assert await alice.crawl(updated_since=since, **ALL, limit=1) == ["4", "2"]
    assert await alice.crawl(updated_since=since, **ALL, sort_by="posted_at") == ["4", "2"]
    assert await alice.crawl(updated_since=since) == []
    later = with_offset(alice.clock.now + 1)
    assert await alice.crawl(updated_since=later, **ALL) == []
    assert len(await alice.crawl(updated_since=with_offset(NOW), **ALL)) == 5
    # The whole day is included, from its first instant.
    assert len(await alice.crawl(updated_since="2026-07-18", **ALL)) == 5
    assert await alice.crawl(updated_since="2026-07-19", **ALL) == []
    count = await alice.get("/v1/bookmarks/count", updated_since=since, **ALL)
    assert count.json()["data"]["count"] == 2


async def test_a_post_that_is_sent_says_nothing_about_its_update(alice: Member) -> None:
    await alice.save(post_id="1", updated_at="2001-01-01T00:00:00+00:00")

    assert (await writing.bookmark(alice, "1"))["updated_at"] == with_offset(NOW)


NO_SOURCE = {"content_state": "link", "content_problem": SENTENCES[Reason.NO_SOURCE]}


async def meta(member: Member) -> dict[str, Any]:
    found: dict[str, Any] = (await member.get(f"/v1/bookmarks/{saving.X_ID}")).json()["meta"]
    return found


def state(post: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in post.items() if name.startswith("content_")}


async def give_up(member: Member) -> None:
    store = LinkStore(member.database)

    async def work(transaction: Transaction) -> None:
        await store.set_hosts(Writable(transaction, member.account_id), [(saving.X_ID, "")])

    await member.database.write(work)


async def test_a_link_is_fetched_and_then_whole_or_gone(database: Database) -> None:
    alice = (await service.build(database, fetch_posts="on")).alice
    await saving.save(alice, links=[saving.X])
    assert await meta(alice) == {"content_state": "fetching"}

    await give_up(alice)
    assert await meta(alice) == NO_SOURCE

    await alice.save(post_id=saving.X_ID)
    assert await meta(alice) == {"content_state": "whole"}


async def again(member: Member, path: str, earlier: httpx.Response) -> httpx.Response:
    return await member.client.get(path, headers={"If-None-Match": earlier.headers["etag"]})


@pytest.mark.both
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


@pytest.mark.both
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


# An earlier release accepted as many levels as Python's stack allowed.
DEPTHS = (100, 900)

# Where little else is on the stack.
DEEPEST = 980


@pytest.fixture
def client(cast: Service) -> httpx.AsyncClient:
    """Without the check of answers, which would have to read the nested values."""
    headers = {"Authorization": f"Bearer {cast.alice.key}"}
    transport = httpx.ASGITransport(cast.app.asgi)
    return httpx.AsyncClient(transport=transport, base_url="http://test", headers=headers)


@pytest.fixture
async def deep(cast: Service) -> list[str]:
    """The ids of posts that were stored without the bound."""
    return await _stored(cast, DEPTHS)


async def _stored(cast: Service, depths: Sequence[int]) -> list[str]:
    incoming = []
    for number, depth in enumerate(depths, 1):
        post = make.post(post_id=str(number), text=f"nest {depth}", article={"blocks": "DEEP"})
        read = own_json.read(make.raw(post))
        body = read.incoming.post_json.replace(b'"DEEP"', b"[" * depth + b"]" * depth)
        changed = {"post_json": body, "content_hash": content_hash(body)}
        own = msgspec.structs.replace(read.incoming, **changed)
        incoming.append(own_json.found_post(own, 1, is_whole=True))
    await Intake(cast.database, cast.clock).take(await cast.alice.account(), incoming)
    return [each.record.post_id for each in incoming]


@in_turn(
    "query",
    ["", "q=nest", "q=nest&highlight=true", "q=nest&sort_by=relevance", "sort_by=posted_at"],
)
async def test_lists_answer(client: httpx.AsyncClient, deep: list[str], query: str) -> None:
    response = await client.get(f"/v1/bookmarks?{query}")

    assert response.status_code == 200
    assert response.text.count('"post_id"') == len(deep)


async def test_a_damaged_post_is_ranked_with_the_others(
    cast: Service, client: httpx.AsyncClient
) -> None:
    words = "bowers of twigs decorated with feathers and berries"
    posts = [make.post(post_id=one, text=f"{words} {one}") for one in ("1", "2", "3")]
    await cast.alice.save_all(posts)
    stores, account = UpsertStore(cast.database), await cast.alice.account()

    async def damage(library: LockedLibrary) -> None:
        [stored] = (await stores.posts(library, library.place, ["2"])).values()
        rendering = stored.rendering.replace(b'"author_username":"', b'"author_username":5,"x":"')
        row = {"number": stored.existing.number, "content_hash": stored.existing.content_hash}
        await stores.rewrite(library, {**row, "rendering": rendering, "words": None}, {})

    async def work(transaction: Transaction) -> None:
        await damage(await LibraryStore(cast.database).lock(transaction, account.account_id))

    await cast.database.write(work)
    response = await client.get("/v1/bookmarks", params={"q": words, "sort_by": "relevance"})

    assert response.status_code == 200
    assert response.text.count('"post_id"') == 3


@in_turn(
    ("tool", "arguments"),
    [
        ("list_bookmarks", {}),
        ("list_bookmarks", {"response_format": "detailed"}),
        ("search_bookmarks", {"query": "nest"}),
        ("get_bookmarks", {}),
    ],
)
async def test_tools_answer(
    client: httpx.AsyncClient, deep: list[str], tool: str, arguments: dict[str, str]
) -> None:
    ids = {"post_ids": deep} if tool == "get_bookmarks" else {}
    sent = toolcalls.message("tools/call", {"name": tool, "arguments": {**arguments, **ids}})

    response = await toolcalls.post(client, sent)

    assert response.status_code == 200
    assert "Internal error" not in response.text
    assert "nest 100" in response.text


@in_turn("format", ["json", "csv", "pdf"])
async def test_exports_complete(cast: Service, deep: list[str], format: str) -> None:
    job = await exporting.export(cast, cast.alice, format)

    assert job["progress"]["total"] == len(deep)


async def test_labels_are_suggested(cast: Service, client: httpx.AsyncClient) -> None:
    deep = await _stored(cast, (100, DEEPEST))
    await cast.alice.save(text="other", tags=["nest"])
    async with endpoint(completion('["new"]')) as chat:
        ideas = NewLabels(cast.database, chat.introductions(), cast.clock)
        for post_id in deep:
            suggested = await client.get(f"/v1/bookmarks/{post_id}/suggested_labels")
            assert suggested.status_code == 200
            assert await ideas.of_post(await cast.alice.account(), post_id) == ["new"]


async def test_a_check_finds_no_problem_with_them(cast: Service, deep: list[str]) -> None:
    assert deep
    account = await cast.alice.account()

    found = await Checks(cast.database, fixes=False, is_deep=True).account(account, lambda _: None)

    assert found == []
