"""POST /v1/bookmarks: saving posts and links, also those that the library has or had."""

import asyncio
import threading
from collections.abc import Callable
from typing import Any, Final

import pytest

from bowerbird.library.imports import planning
from bowerbird.model.labels import NAME_RULE
from bowerbird.sources.post_links import post_id_of
from bowerbird.storage.bookmarks import upsert
from bowerbird.storage.postgres import database as postgres
from tests.support import make, writing
from tests.support.engines.watched_writes import WatchedWrites, interrupted
from tests.support.in_turn import in_turn
from tests.support.saving import X_ID, X, everything, results, save, stored
from tests.support.service import Member
from tests.support.toolcalls import call

pytestmark = pytest.mark.anyio


UNSUPPORTED = (
    "is not a link to a post. Supported are posts of X, Mastodon, Bluesky, Reddit, YouTube, "
    "TikTok, Tumblr, LinkedIn, Instagram, Threads and Facebook."
)


async def test_a_link_is_stored_with_its_author_and_without_text(alice: Member) -> None:
    response = await save(alice, links=[f"{X}?s=20"])

    assert response.status_code == 200
    assert writing.without_change(response) == {
        "status": True,
        "data": {
            "results": [{"index": 0, "ok": True, "post_id": X_ID, "result": "new"}],
            "succeeded": 1,
            "failed": 0,
        },
        "meta": {"message": "1 post saved."},
    }
    post = await stored(alice, X_ID)
    assert post["author_username"] == "nestcam"
    assert post["tweet_details"]["text"] == ""
    assert post["tweet_details"]["link"] == X
    # X puts the time of a post into its id.
    assert post["tweet_details"]["posted_at"].startswith("2025-07-15T")
    assert post["imported_at"] == "2026-07-18T08:21:13.841838"
    assert (post["is_read"], post["is_archived"], post["tags"]) == (False, False, None)


async def test_one_bad_link_fails_alone_with_a_sentence(alice: Member) -> None:
    response = await save(alice, links=["https://example.com/a", X, "", "x" * 5000])

    body = response.json()
    assert response.status_code == 207
    assert body["status"] is True
    assert body["meta"]["message"] == "1 post saved, 3 are not links to posts."
    assert (body["data"]["succeeded"], body["data"]["failed"]) == (1, 3)
    found = body["data"]["results"]
    assert [one["ok"] for one in found] == [False, True, False, False]
    assert found[0] == {
        "index": 0,
        "ok": False,
        "error": {
            "code": "INVALID_REQUEST",
            "message": f"links[0]: 'https://example.com/a' {UNSUPPORTED}",
        },
    }
    assert len(found[3]["error"]["message"]) < 300
    assert await alice.ids() == [X_ID]


async def test_a_request_that_fails_completely_is_207_and_changes_nothing(alice: Member) -> None:
    before = (await alice.get("/v1/bookmarks")).headers["etag"]

    response = await save(alice, links=["https://example.com"], posts=[5], labels=["x"])

    assert response.status_code == 207
    assert response.json()["meta"]["message"] == "1 is not a link to a post, 1 could not be saved."
    assert (await alice.get("/v1/bookmarks")).headers["etag"] == before
    assert await writing.labels(alice) == {}


async def test_the_list_can_be_sent_back_and_changes_nothing(alice: Member) -> None:
    await alice.save(post_id="1", tags=["x"], is_read=True, attachments=[{"type": "image"}])
    await alice.save(post_id="2", quoted={"post_id": "9", "text": "q"}, article={"title": "t"})
    await save(alice, links=[X], labels=["y"])
    before = await alice.get("/v1/bookmarks", is_unread_only="false")

    response = await save(alice, posts=before.json()["data"])

    assert response.status_code == 200
    assert response.json()["meta"]["message"] == "3 posts known already."
    after = await alice.get("/v1/bookmarks", is_unread_only="false")
    assert after.headers["etag"] == before.headers["etag"]


async def test_an_invalid_post_fails_alone(alice: Member) -> None:
    good = make.post(post_id="1")
    found = await results(
        alice,
        posts=[
            good,
            {"post_id": 20, "tweet_details": {}},
            {"post_id": "20"},
            {**good, "tags": [""]},
            {**good, "post_id": "2", "bookmarked_at": "yesterday"},
            {**good, "post_id": "3", "sort_index": 2**63},
            [],
        ],
    )

    assert [one["ok"] for one in found] == [True, *[False] * 6]
    assert [one["error"]["message"] for one in found[1:]] == [
        "posts[1]: post_id: must be a string, got a number.",
        "posts[2]: tweet_details: is required.",
        f"posts[3]: tags: a label name must have {NAME_RULE}, got ''.",
        "posts[4]: bookmarked_at: 'yesterday' is not an ISO 8601 date-time.",
        "posts[5]: sort_index: must be at most 9223372036854775807.",
        "posts[6]: The record must be an object, got an array.",
    ]
    assert await alice.ids() == ["1"]


@in_turn(
    ("body", "sentence"),
    [
        ({}, "links: must have at least one link, unless posts has a post."),
        ({"links": []}, "links: must have at least one link, unless posts has a post."),
        ({"links": None, "posts": None}, "links: must have at least one link, unless posts has"),
        ({"links": X}, f"links: must be an array of at most 100 items, got '{X}'."),
        ({"links": [X] * 101}, "links: must be an array of at most 100 items, got an array of 101"),
        (
            {"links": [X] * 60, "posts": [{}] * 41},
            "links: must have at most 100 items together with posts, got 101; split the request.",
        ),
        ({"links": [X], "labels": ["x"] * 11}, "labels: must be an array of at most 10 items, got"),
        ({"links": [X], "labels": [" "]}, "labels[0]: must have 1 to 100 characters, at least"),
    ],
)
async def test_a_malformed_request_saves_nothing(alice: Member, body: Any, sentence: str) -> None:
    response = await writing.send(alice, "POST", "/v1/bookmarks", body)

    assert response.status_code == 400
    assert response.json()["code"] == "INVALID_REQUEST"
    assert response.json()["error"].startswith(sentence), response.json()["error"]
    assert await alice.ids() == []


@pytest.mark.parametrize("escape", [r"\u0000", r"\ud83d"])
async def test_a_character_that_cannot_be_stored_fails_alone(alice: Member, escape: str) -> None:
    post = '{"post_id": "%s", "tweet_details": {"text": "%s"}}'
    posts = ", ".join([post % (5, "fine"), post % (6, f"a{escape}b")])
    body = f'{{"posts": [{posts}], "links": ["{X}", "{X}?s={escape}"]}}'

    response = await alice.client.post("/v1/bookmarks", content=body)

    assert response.status_code == 207, response.text
    results = response.json()["data"]["results"]
    assert [one["ok"] for one in results] == [True, False, True, False]
    problem = "contains U+0000 or half of a surrogate pair, which no database can store."
    assert results[1]["error"]["message"] == f"posts[1].tweet_details.text: {problem}"
    assert results[3]["error"]["message"] == f"links[1]: '{X}?s=\\x00' {problem}"
    assert sorted(one["post_id"] for one in await everything(alice)) == [X_ID, "5"]


@in_turn("link", ["javascript:alert(1)", "data:text/html,x", " https://a.b", "x"])
async def test_a_post_whose_link_is_not_of_the_web_fails_alone(alice: Member, link: str) -> None:
    bad = {"post_id": "5", "tweet_details": {"link": link}}
    good = {"post_id": "6", "tweet_details": {"link": "HTTPS://example.com/6"}}

    first, second = await results(alice, posts=[bad, good])

    assert first["error"] == {
        "code": "INVALID_REQUEST",
        "message": "posts[0]: tweet_details.link: must begin with https:// or http://, "
        f"got {link!r}.",
    }
    assert second["ok"]


async def test_saving_costs_a_free_account_no_call(free: Member) -> None:
    for _ in range(100):
        await free.listed()

    response = await save(free, links=[X], posts=[make.post(post_id="1")])

    assert response.status_code == 200
    assert (await free.account()).calls_this_month == 100
    assert (await free.account()).total == 2


async def test_labels_need_a_paid_plan(free: Member) -> None:
    for body in (
        {"links": [X], "labels": ["x"]},
        {"links": 5, "labels": ["x"]},
        {"links": [X], "labels": [""]},
    ):
        response = await save(free, **body)
        assert response.status_code == 402
        assert response.json()["code"] == "SUBSCRIPTION_REQUIRED"
        assert response.json()["error"].startswith("Writing labels needs a paid plan.")
        assert response.json()["upgrade_url"]
    assert await free.ids() == []
    assert (await save(free, links=[X], labels=[])).status_code == 200


async def test_a_free_account_can_neither_add_nor_remove_labels_with_a_post(free: Member) -> None:
    await free.save(post_id="1", tags=["kept"])
    shown = await stored(free, "1")

    found = await results(
        free,
        posts=[make.post(post_id="2", tags=["x"]), {**shown, "tags": None}],
        links=[X],
    )

    assert [one["ok"] for one in found] == [False, True, True]
    assert found[0]["error"] == {
        "code": "SUBSCRIPTION_REQUIRED",
        "message": "posts[0]: Writing labels needs a paid plan. Remove tags, or upgrade.",
    }
    assert (await stored(free, "1"))["tags"] == ["kept"]


@pytest.mark.parametrize("by", ["request", "tool"])
async def test_the_words_of_long_posts_are_found_off_the_event_loop(
    alice: Member, by: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    threads = dict[str, set[int]]()

    def noted(name: str, work: Callable[..., Any]) -> Callable[..., Any]:
        def run(*values: Any, **named: Any) -> Any:
            threads.setdefault(name, set()).add(threading.get_ident())
            return work(*values, **named)

        return run

    for module, name in (
        (planning, "index_text"),
        (postgres, "vector_text"),
        (upsert, "occurrences"),
    ):
        monkeypatch.setattr(module, name, noted(name, getattr(module, name)))
    text = " ".join(f"word{number}" for number in range(1_000))
    posts = [
        {"post_id": str(10**17 + number), "tweet_details": {"text": f"{text} {number}"}}
        for number in range(10)
    ]

    if by == "tool":
        assert (await call(alice, "save_bookmarks", posts=posts))["succeeded"] == 10
    else:
        assert (await save(alice, posts=posts)).status_code == 200

    assert {"index_text", "occurrences"} <= threads.keys()
    assert threading.get_ident() not in set.union(*threads.values())


async def test_a_post_that_comes_back_is_unread_and_at_the_top(alice: Member) -> None:
    await alice.save(post_id=X_ID, text="egg", is_read=True, is_archived=True, sort_index=1)
    await alice.save(post_id="2", sort_index=2)
    await writing.send(alice, "DELETE", f"/v1/bookmarks/{X_ID}")

    await save(alice, links=[X], labels=["again"])

    assert await alice.ids() == [X_ID, "2"]
    assert (await stored(alice, X_ID))["tags"] == ["again"]


async def test_the_content_of_another_accounts_deleted_post_is_not_used(
    alice: Member, bob: Member
) -> None:
    await bob.save(post_id=X_ID, text="geheim")
    await writing.send(bob, "DELETE", f"/v1/bookmarks/{X_ID}")

    await save(alice, links=[X])

    assert (await stored(alice, X_ID))["tweet_details"]["text"] == ""


DID = "at://did:plc:bower/app.bsky.feed.post/3kuuwbqm2ak2p"

BY_DID = "https://bsky.app/profile/did:plc:bower/post/3kuuwbqm2ak2p"

BY_NAME = "https://bsky.app/profile/Ada.example/post/3kuuwbqm2ak2p"


@pytest.mark.both
@pytest.mark.parametrize(
    ("source_id", "address"),
    [(DID, BY_NAME), (DID.replace("did:plc:bower", "ada.example"), BY_DID)],
)
async def test_a_post_of_bluesky_is_one_by_name_and_by_id_of_its_author(
    alice: Member, bob: Member, source_id: str, address: str
) -> None:
    known = {
        "post_id": post_id_of("bluesky", source_id),
        "source": "bluesky",
        "source_id": source_id,
        "author_id": "did:plc:bower",
        "author_username": "ada.example",
        "tweet_details": {"text": "caps"},
        "tags": ["kept"],
    }
    other = {**known, "post_id": "7" * 30, "source_id": f"{source_id[:-1]}q"}
    await save(alice, posts=[known, other])

    [found] = await results(alice, links=[address], labels=["new"])
    [theirs] = await results(bob, links=[address])

    assert found["post_id"] == known["post_id"] != theirs["post_id"]
    post = await stored(alice, found["post_id"])
    assert (post["tweet_details"]["text"], post["tags"]) == ("caps", ["kept", "new"])
    assert post["source_id"] == source_id
    assert (await alice.get("/v1/bookmarks/count")).json()["data"]["total"] == 2


async def test_a_label_beyond_the_limit_of_a_post_is_left_out_and_reported(alice: Member) -> None:
    await alice.save(post_id=X_ID, tags=[f"l{n}" for n in range(100)])

    response = await save(alice, links=[X], labels=["one more"])

    assert response.status_code == 200
    found = response.json()["data"]["results"]
    assert found[0]["labels_left_out"] == ["one more"]
    assert response.json()["meta"]["message"].endswith("Some labels were left out.")
    assert len((await stored(alice, X_ID))["tags"]) == 100


async def test_a_request_that_was_interrupted_can_be_repeated_with_its_key(alice: Member) -> None:
    posts = [make.post(tags=[f"l{n}" for n in range(100)]) for _ in range(25)]
    watched = WatchedWrites(alice.database)
    await interrupted(watched, 1, save(alice, key="k", posts=posts))
    assert (await alice.get("/v1/bookmarks/count")).json()["data"]["total"] == 7

    response = await save(alice, key="k", posts=posts)

    assert response.status_code == 200
    assert "Idempotency-Replayed" not in response.headers
    assert response.json()["meta"]["message"] == "18 posts saved, 7 known already."
    assert await writing.recount(alice) == []


async def test_concurrent_requests_for_the_same_post_create_it_once(alice: Member) -> None:
    answers = await asyncio.gather(*(save(alice, links=[X], labels=[f"l{n}"]) for n in range(5)))

    found = [answer.json()["data"]["results"][0]["result"] for answer in answers]
    assert sorted(found) == ["changed"] * 4 + ["new"]
    assert (await stored(alice, X_ID))["tags"] == ["l0", "l1", "l2", "l3", "l4"]
    assert (await alice.get("/v1/bookmarks/count")).json()["data"]["total"] == 1
    assert await writing.recount(alice) == []


IMAGE = {"type": "image", "url": "https://pbs.twimg.com/a.jpg"}

ARTICLE = {"id": "9", "title": "On nests", "plain_text": "The whole article."}


async def test_a_part_of_a_post_keeps_the_rest(alice: Member) -> None:
    meta = {"tweet_reply_to_tweet_id": "7"}
    counts = {"reply_count": 3, "favorite_count": 5}
    await alice.save(
        post_id="1",
        text="before",
        author="ada",
        article=ARTICLE,
        attachments=[IMAGE],
        meta=meta,
        metrics=counts,
        tags=["old"],
    )
    before = await stored(alice, "1")
    new_counts = {"non_real_time_engagement_metrics": {"favorite_count": 6}}
    part = {"post_id": "1", "tweet_details": {"text": "Long", "meta": new_counts}}

    found = await results(alice, posts=[part])

    after = await stored(alice, "1")
    assert [one["result"] for one in found] == ["changed"]
    assert after["tweet_details"].pop("text") == "Long"
    assert before["tweet_details"].pop("text") == "before"
    before["tweet_details"]["meta"]["non_real_time_engagement_metrics"]["favorite_count"] = 6
    assert after == before
    assert await alice.ids(q="ada") == ["1"]
    assert [one["result"] for one in await results(alice, posts=[part])] == ["unchanged"]
    assert await writing.recount(alice) == []


async def test_the_flags_and_labels_of_a_post_can_be_set_without_its_text(alice: Member) -> None:
    await alice.save(post_id="1", text="words", tags=["old"])
    before = await stored(alice, "1")
    part = {"post_id": "1", "tweet_details": {}, "is_read": True, "tags": None}

    found = await results(alice, posts=[part])

    assert [one["result"] for one in found] == ["changed"]
    assert await stored(alice, "1") == {**before, "is_read": True, "tags": None}


LONG_FORM: Final = {"title": "How bowers are built", "plain_text": "Twigs first."}

QUOTED: Final = {"post_id": "77", "text": "My article", "article": LONG_FORM}


@pytest.mark.both
async def test_a_saved_post_that_quotes_an_article_has_it(alice: Member) -> None:
    post = {"post_id": "5", "tweet_details": {"text": "Read this", "quoted_tweet": QUOTED}}
    saved = await alice.client.post("/v1/bookmarks", json={"posts": [post]})
    assert saved.status_code == 200

    details = (await stored(alice, "5"))["tweet_details"]
    assert details["article"] == LONG_FORM
    assert details["quoted_tweet"] == QUOTED
    assert await alice.ids(media_type="article") == ["5"]
    assert await alice.ids(media_type="text") == []
