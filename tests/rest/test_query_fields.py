"""Fields of a search, and the traits of posts that some of them look at."""

from typing import Any, Final

import pytest

from bowerbird.clock import system_clock
from bowerbird.jobs.account_jobs import reindex_jobs
from bowerbird.library.upkeep.corrections import Reindexing
from bowerbird.model.accounts import Reading
from bowerbird.storage.accounts.accounts import AccountStore
from bowerbird.storage.database import Transaction
from tests.support import make, toolcalls, writing
from tests.support.in_turn import in_turn
from tests.support.posts.sources import no_report
from tests.support.service import Member
from tests.support.writing import DAY

pytestmark = pytest.mark.anyio


# 2026-07-18, the day of the tests.
TODAY = "2026-07-18T00:00:00+00:00"

GATED = ("author:ada", "label:birds", "has:image", "has:note", "before:2026-01-31", "after:-7d")


async def saved(member: Member, **fields: dict[str, Any]) -> dict[str, str]:
    """Saves posts by name; returns their ids by name."""
    records = {name: make.post(**{"text": "cat", **each}) for name, each in fields.items()}
    await member.save_all(list(records.values()))
    return {name: record["post_id"] for name, record in records.items()}


async def found(member: Member, ids: dict[str, str], q: str, **params: Any) -> set[str]:
    """The names of the posts that a query finds."""
    names = {post_id: name for name, post_id in ids.items()}
    return {names[post_id] for post_id in await member.ids(q=q, **params)}


async def test_states_in_a_query_override_the_default_flags(alice: Member) -> None:
    ids = await saved(
        alice,
        unread={},
        read={"is_read": True},
        archived={"is_archived": True},
        done={"is_read": True, "is_archived": True},
    )

    assert await found(alice, ids, "cat") == {"unread"}
    assert await found(alice, ids, "cat is:read") == {"read"}
    assert await found(alice, ids, "cat is:unread") == {"unread"}
    assert await found(alice, ids, "cat is:archived") == {"archived", "done"}
    assert await found(alice, ids, "cat -is:archived") == {"unread"}
    assert await found(alice, ids, "is:read OR is:unread") == {"unread", "read"}
    assert await found(alice, ids, "is:read is:archived") == {"done"}
    assert await found(alice, ids, "cat in:all") == {"unread", "read", "archived", "done"}
    assert await found(alice, ids, "cat in:archive") == {"archived", "done"}
    # A flag that is sent decides.
    assert await found(alice, ids, "cat is:read", is_unread_only="true") == set()
    assert await found(alice, ids, "cat is:read", hide_archived="false") == {"read", "done"}
    count = await alice.get("/v1/bookmarks/count", q="cat is:archived")
    assert count.json()["data"]["count"] == 2
    query = {"q": "cat (is:read OR is:archived)"}
    view = await writing.view(alice, base_query=query)
    assert (await alice.get(view)).json()["data"]["count"] == 3
    change = {"action": "trash", "filters": query, "dry_run": True}
    answer = await writing.send(alice, "POST", "/v1/bookmarks/changes", change)
    assert answer.json()["data"]["count"] == 3


@in_turn("text", GATED)
async def test_a_field_needs_the_plan_of_its_filter(free: Member, text: str) -> None:
    field = text.partition(":")[0]

    for path in ("/v1/bookmarks", "/v1/bookmarks/count"):
        for q in (text, f"cat -{text}", f"(cat OR {text})"):
            response = await free.get(path, q=q)
            assert response.status_code == 402
            assert response.json()["code"] == "FILTER_NOT_ALLOWED"
            assert f"({field}: in q)" in response.json()["error"]
    export = await free.client.post("/v1/exports/json", json={"q": text})
    assert export.status_code == 402
    change = {"action": "archive", "filters": {"q": text}, "dry_run": True}
    assert (await writing.send(free, "POST", "/v1/bookmarks/changes", change)).status_code == 402
    tool = await toolcalls.result_of(free, "create_export", format="json", q=text)
    assert tool["isError"]


async def test_words_and_states_are_on_every_plan(free: Member) -> None:
    ids = await saved(free, read={"is_read": True}, other={"text": "dog"})

    assert await found(free, ids, '(cat OR "big dog") is:read -is:archived') == {"read"}
    assert await found(free, ids, '"author:ada" OR dog') == {"other"}


async def test_a_hint_says_what_was_not_understood(alice: Member) -> None:
    post = await alice.save(text="to ada")

    answer = await alice.listed(q="to:ada")

    assert [one["post_id"] for one in answer["data"]] == [post["post_id"]]
    assert answer["meta"]["hint"].startswith("to: is not a field of this search")
    assert "hint" not in (await alice.listed(q="author:ada"))["meta"]
    result = await toolcalls.result_of(alice, "search_bookmarks", query="since:soon to:ada")
    assert "since: needs a date" in result["structuredContent"]["advice"]


async def test_the_name_of_a_label_matches_until_it_is_renamed(alice: Member) -> None:
    ids = await saved(alice, labelled={"tags": ["Wild birds"]}, text={"text": "birds"}, other={})
    assert await found(alice, ids, "birds") == {"labelled", "text"}
    assert await found(alice, ids, "cat birds") == {"labelled"}
    assert await found(alice, ids, '"wild birds"') == {"labelled"}
    assert await found(alice, ids, "bir*") == {"labelled", "text"}
    assert await found(alice, ids, "-birds") == {"other"}
    assert await found(alice, ids, "birds OR dog") == {"labelled", "text"}
    assert (await alice.listed(q="birds"))["meta"]["total_count"] == 2

    label = await writing.label_id(alice, "Wild birds")
    body = {"label_name": "Wild ducks"}
    assert (await writing.send(alice, "PATCH", f"/v1/labels/{label}", body)).status_code == 200

    assert await found(alice, ids, "birds") == {"text"}
    assert await found(alice, ids, "ducks") == {"labelled"}


async def test_a_cursor_continues_although_time_passes_and_a_label_is_renamed(
    alice: Member,
) -> None:
    for _ in range(3):
        await alice.save(text="cat", posted_at=TODAY, tags=["Cat"])
    first = await alice.listed(q="cat after:-30d", limit=1)

    alice.clock.now += DAY
    label = await writing.label_id(alice, "Cat")
    await writing.send(alice, "PATCH", f"/v1/labels/{label}", {"label_name": "Fish"})

    cursor = first["meta"]["next_cursor"]
    assert len(await alice.ids(q="cat after:-30d", limit=5, cursor=cursor)) == 2
    refused = await alice.get("/v1/bookmarks", q="cat after:-31d", cursor=cursor)
    assert refused.status_code == 400


async def test_an_answer_about_a_relative_date_expires(alice: Member) -> None:
    await alice.save(text="cat", posted_at=TODAY)
    assert len(await alice.ids(q="cat AFTER:-2d")) == 1
    asked = await alice.get("/v1/bookmarks", q="cat after:-2d")

    alice.clock.now += 3 * DAY

    assert await alice.ids(q="cat AFTER:-2d") == []
    again = await alice.client.get(
        "/v1/bookmarks",
        params={"q": "cat after:-2d"},
        headers={"If-None-Match": asked.headers["etag"]},
    )
    assert again.status_code == 200
    count = await alice.get("/v1/bookmarks/count", q="cat after:-2d")
    assert count.json()["data"]["count"] == 0


async def test_the_query_of_a_bucket_narrows_the_alternatives_of_a_view(alice: Member) -> None:
    ids = await saved(
        alice, cat={}, dog={"text": "dog"}, both={"text": "dog red"}, cow={"text": "cow red"}
    )
    view = await writing.view(
        alice,
        base_query={"q": "cat OR dog OR"},
        triage_buckets=[{"name": "Red", "query": {"q": "red OR blue"}}],
    )

    shown = (await alice.get(f"{view}/bookmarks", bucket="red")).json()["data"]

    assert [post["post_id"] for post in shown] == [ids["both"]]


@in_turn(
    ("q", "sentence"),
    [
        ("author:tomasz_q", 'No post is by "tomasz_q".'),
        ("from:mar", 'No post is by "mar". Did you mean "mara_fieldnotes"?'),
        ("label:scince cat", 'No post has the label "scince".'),
        ("tag:famly", 'No post has the label "famly". Did you mean "Family"?'),
        ("cat -cat", "No post matches the whole search."),
    ],
)
async def test_an_empty_search_names_the_field(alice: Member, q: str, sentence: str) -> None:
    await alice.save(text="a cat", tags=["Family"], author_username="mara_fieldnotes")

    assert (await alice.listed(q=q))["meta"]["hint"] == sentence


async def test_words_with_a_star_beyond_the_bound_are_named_in_a_hint(alice: Member) -> None:
    await alice.save(text="owl bark")
    kept = await alice.save(text="owl cave")

    answer = await alice.listed(q="owl -ba* -ca*")

    assert [post["post_id"] for post in answer["data"]] == [kept["post_id"]]
    assert answer["meta"]["hint"].startswith("Not all words with * count")


LONG: Final = "one two three four five six seven eight nine ten"


def link(url: str) -> list[dict[str, Any]]:
    return [{"type": "link", "url": url}]


async def fill(member: Member) -> None:
    reply = {"tweet_reply_to_tweet_id": "7"}
    await member.save(post_id="11", text="short", meta=reply)
    await member.save(post_id="12", text=LONG, gone_at="2026-07-01T00:00:00+00:00")
    # The same text with another link.
    await member.save(post_id="13", text=f"{LONG.upper()}  https://t.co/abc", meta=reply)
    await member.save(post_id="14", text="鸟在花园里筑巢", attachments=link("https://a.example/x"))
    await member.save(
        post_id="15",
        text="an article",
        article={"title": "Nests", "plain_text": " ".join(["word"] * 98)},
        attachments=link("http://www.a.example/x/?utm_source=me#top"),
    )


FOUND: Final[dict[str, set[str]]] = {
    "is:reply": {"11", "13"},
    "-is:reply": {"12", "14", "15"},
    "is:gone": {"12"},
    "words:>9": {"12", "13", "15"},
    "words:100": {"15"},
    "words:<5": {"11", "14"},
    "words:=4": {"14"},
    "words:2..20": {"12", "13", "14"},
    "-words:>9": {"11", "14"},
    "is:duplicate": {"12", "13", "14", "15"},
    "-is:duplicate": {"11"},
    "is:duplicate OR is:reply": {"11", "12", "13", "14", "15"},
    "lang:zh": {"14"},
    "-lang:zh": {"11", "12", "13", "15"},
}


async def listed(member: Member, **params: str) -> set[str]:
    return set(await member.crawl(limit="2", **params))


async def test_posts_are_found_by_what_they_are(alice: Member, bob: Member) -> None:
    await fill(alice)
    await bob.save(text=LONG)

    for q, found in FOUND.items():
        assert await listed(alice, q=q) == found, q
    assert await listed(bob, is_duplicate="true") == set()
    assert await listed(alice, is_reply="true", max_words="9") == {"11"}


@pytest.mark.both
async def test_a_change_of_a_post_changes_what_it_is(alice: Member) -> None:
    post = await alice.save(text=LONG)
    other = await alice.save(text=LONG)
    details = {**post["tweet_details"], "text": "much shorter"}
    await alice.change(post, tweet_details=details)

    assert await alice.ids(min_words="10") == [other["post_id"]]
    assert await alice.ids(is_duplicate="true") == []


@in_turn(
    ("name", "value", "problem"),
    [
        ("min_words", "many", "must be a whole number"),
        ("max_words", "-1", "must be a whole number"),
        ("min_likes", "1000000000", "must be a whole number from 0 to 999,999,999"),
        ("has", "image,wings", "must be one of image, video"),
        ("has", ",", "must be one of image, video"),
        ("is_gone", "maybe", "must be true or false"),
        ("linked_site", "no site", "must be a site such as example.com"),
        ("linked_site", "//", "must be a site such as example.com"),
        ("language", "english", "must be codes such as en"),
        ("language", "en,,d", "must be codes such as en"),
        ("language", ",", "must be codes such as en"),
        ("import_run", "a b", ""),
        ("import_run", "é", ""),
        ("import_run", "x" * 41, ""),
    ],
)
async def test_a_value_that_cannot_be_read_is_refused(
    alice: Member, name: str, value: str, problem: str
) -> None:
    answer = await alice.get("/v1/bookmarks", **{name: value})

    assert answer.status_code == 400
    assert answer.json()["error"].startswith(f"{name}: {problem}")


@pytest.mark.both
async def test_a_starred_post_has_the_label_that_is_the_favourite(alice: Member) -> None:
    await alice.save(post_id="11", tags=["Best"])
    await alice.save(post_id="12", tags=["favourite"])
    assert await alice.ids(q="is:starred") == ["12"]

    await AccountStore(alice.database).set_reading(alice.account_id, Reading("best"))

    assert await alice.ids(q="is:starred") == ["11"]
    assert await alice.ids(q="-is:starred") == ["12"]
    assert await listed(alice, q="is:starred OR label:favourite") == {"11", "12"}


async def _forget(member: Member) -> None:
    """As an earlier release stored its posts."""

    async def work(transaction: Transaction) -> None:
        await transaction.run(
            "UPDATE bookmark SET media = media & 65535, text_print = NULL, link_print = NULL,"
            " language = NULL, word_form = 3"
            " WHERE account_id = :account_id",
            {"account_id": member.account_id},
        )

    await member.database.write(work)


@pytest.mark.both
async def test_stored_posts_are_looked_at_in_the_background(alice: Member, bob: Member) -> None:
    await fill(alice)
    await bob.save()
    await _forget(alice)
    traits = Reindexing(alice.database, alice.clock, 0)
    page = await alice.listed(max_words="9")
    assert page["data"] == []
    assert await listed(alice, language="zh") == set()
    assert "14" in await listed(alice, q="-lang:en")
    assert "still being looked at" in page["meta"]["hint"]
    await reindex_jobs(alice.database, system_clock).sweep()
    assert await traits.due_accounts(0, job_kind="") == [alice.account_id]

    await traits.run(alice.account_id, no_report)

    assert await traits.due_accounts(0, job_kind="") == []
    for q, found in FOUND.items():
        assert await listed(alice, q=q) == found, q
    assert "hint" not in (await alice.listed(max_words="9"))["meta"]


async def test_a_post_that_gets_a_note_is_looked_at(alice: Member) -> None:
    await alice.save(post_id="1", text="a short text")
    await _forget(alice)
    assert await alice.ids(max_words="9") == []

    await alice.client.patch("/v1/bookmarks/1", json={"note": "quokka"})

    assert await alice.ids(max_words="9") == ["1"]


@pytest.mark.both
async def test_a_post_that_cannot_be_read_is_looked_at_once(alice: Member) -> None:
    await alice.save_all([make.post()])
    await _forget(alice)

    async def work(transaction: Transaction) -> None:
        await transaction.run("DELETE FROM content", {})

    await alice.database.write(work)
    traits = Reindexing(alice.database, alice.clock, 0)

    await traits.run(alice.account_id, no_report)

    assert await traits.due_accounts(0, job_kind="") == []
