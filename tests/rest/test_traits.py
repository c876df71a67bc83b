"""Lists know replies, gone posts, lengths and copies, also of posts that were stored before."""

from typing import Any, Final

import pytest

from bowerbird.clock import system_clock
from bowerbird.jobs.account_jobs import ReindexJobs
from bowerbird.library.upkeep.corrections import PostTraits
from bowerbird.model.accounts import Reading
from bowerbird.storage.accounts.accounts import AccountStore
from bowerbird.storage.database import Transaction
from tests.support import make
from tests.support.service import Member

pytestmark = [pytest.mark.anyio, pytest.mark.both]

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


async def test_a_change_of_a_post_changes_what_it_is(alice: Member) -> None:
    post = await alice.save(text=LONG)
    other = await alice.save(text=LONG)
    details = {**post["tweet_details"], "text": "much shorter"}
    await alice.change(post, tweet_details=details)

    assert await alice.ids(min_words="10") == [other["post_id"]]
    assert await alice.ids(is_duplicate="true") == []


@pytest.mark.parametrize(
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
    ],
)
async def test_a_value_that_cannot_be_read_is_refused(
    alice: Member, name: str, value: str, problem: str
) -> None:
    answer = await alice.get("/v1/bookmarks", **{name: value})

    assert answer.status_code == 400
    assert answer.json()["error"].startswith(f"{name}: {problem}")


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
            "UPDATE bookmark SET media = media & 65535, text_print = NULL, link_print = NULL"
            " WHERE account_id = :account_id",
            {"account_id": member.account_id},
        )

    await member.database.write(work)


async def test_stored_posts_are_looked_at_in_the_background(alice: Member, bob: Member) -> None:
    await fill(alice)
    await bob.save()
    await _forget(alice)
    traits = PostTraits(alice.database)
    page = await alice.listed(max_words="9")
    assert page["data"] == []
    assert "still being looked at" in page["meta"]["hint"]
    await ReindexJobs(alice.database, system_clock).sweep()
    assert await traits.due_accounts(0) == [alice.account_id]

    await traits.run(alice.account_id)

    assert await traits.due_accounts(0) == []
    for q, found in FOUND.items():
        assert await listed(alice, q=q) == found, q
    assert "hint" not in (await alice.listed(max_words="9"))["meta"]


async def test_a_post_that_cannot_be_read_is_looked_at_once(alice: Member) -> None:
    await alice.save_all([make.post()])
    await _forget(alice)

    async def work(transaction: Transaction) -> None:
        await transaction.run("DELETE FROM content", {})

    await alice.database.write(work)
    traits = PostTraits(alice.database)

    await traits.run(alice.account_id)

    assert await traits.due_accounts(0) == []
