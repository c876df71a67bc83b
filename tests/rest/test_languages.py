"""Lists, counts and facets know the languages of posts, also of those stored before."""

from typing import Final

import pytest

from bowerbird.clock import system_clock
from bowerbird.jobs.account_jobs import ReindexJobs
from bowerbird.library.upkeep.corrections import PostLanguages
from bowerbird.storage.database import Transaction
from tests.support import make
from tests.support.service import Member

pytestmark = [pytest.mark.anyio, pytest.mark.both]

GERMAN: Final = "Die Bücher sind alt, aber das Haus ist neu."
ENGLISH: Final = "The heron stood in the water and did not move."


async def fill(member: Member) -> None:
    stated = [("11", "de-AT"), ("12", "en"), ("13", "qme"), ("14", "no such tag")]
    await member.save_all([make.post(post_id=one, meta={"language": tag}) for one, tag in stated])
    # What the source says counts, not the text.
    await member.save(post_id="15", text=ENGLISH, meta={"language": "nl"})
    await member.save(post_id="16", text=GERMAN)
    await member.save(post_id="17", text="", article={"title": ENGLISH})
    await member.save(post_id="18", text="Thread 1/9")


async def listed(member: Member, **params: str) -> set[str]:
    return set(await member.crawl(limit="2", **params))


async def test_posts_are_found_by_their_language(alice: Member, bob: Member) -> None:
    await fill(alice)
    await bob.save(meta={"language": "de"})

    for sort_by in ("sort_index", "posted_at", "title"):
        assert await listed(alice, language="de", sort_by=sort_by) == {"11", "16"}
        assert await listed(alice, language="EN-gb,nl", sort_by=sort_by) == {"12", "15", "17"}
    assert await listed(alice, language="und") == {"13", "14", "18"}
    assert await listed(alice, language="fr") == set()
    assert await listed(alice, q="lang:de OR lang:nl") == {"11", "15", "16"}
    assert await listed(alice, q="-lang:de -lang:und") == {"12", "15", "17"}
    count = await alice.get("/v1/bookmarks/count", language="de,en")
    assert count.json()["data"]["count"] == 4
    facets = await alice.get("/v1/bookmarks/facets", by="language")
    found = [(one["value"], one["count"]) for one in facets.json()["data"]]
    assert found == [("de", 2), ("en", 2), ("nl", 1)]


async def test_a_language_that_most_posts_have_is_read_in_the_order_of_the_list(
    alice: Member,
) -> None:
    posts = [make.post(post_id=str(one), text=GERMAN, posted_at=_day(one)) for one in range(1, 9)]
    await alice.save_all([*posts, make.post(post_id="20", text=ENGLISH, posted_at=_day(5))])

    for language in ("de", "de,fr"):
        found = await alice.crawl(language=language, sort_by="posted_at", limit="1")
        assert found == ["8", "7", "6", "5", "4", "3", "2", "1"]


def _day(number: int) -> str:
    return f"2026-02-{number:02}T00:00:00+00:00"


@pytest.mark.parametrize("value", ["english", "en,,d", ","])
async def test_a_value_that_is_no_code_is_refused(alice: Member, value: str) -> None:
    answer = await alice.get("/v1/bookmarks", language=value)

    assert answer.status_code == 400
    assert answer.json()["error"].startswith("language: must be codes such as en")


async def test_a_post_whose_language_changes_is_found_by_the_new_one(alice: Member) -> None:
    post = await alice.save(text=ENGLISH)
    details = {**post["tweet_details"], "text": GERMAN}
    await alice.change(post, tweet_details=details)

    assert await alice.ids(language="de") == [post["post_id"]]
    assert await alice.ids(language="en") == []


async def _forget(member: Member) -> None:
    """As an earlier release stored its posts."""

    async def work(transaction: Transaction) -> None:
        values = {"account_id": member.account_id}
        await transaction.run(
            "UPDATE bookmark SET language = NULL WHERE account_id = :account_id", values
        )

    await member.database.write(work)


async def test_the_languages_of_stored_posts_are_found_in_the_background(
    alice: Member, bob: Member
) -> None:
    await fill(alice)
    await bob.save()
    await _forget(alice)
    languages = PostLanguages(alice.database)
    assert await listed(alice, language="de") == set()
    assert "16" in await listed(alice, q="-lang:en")
    await ReindexJobs(alice.database, system_clock).sweep()
    assert await languages.due_accounts(0) == [alice.account_id]

    await languages.run(alice.account_id)

    assert await languages.due_accounts(0) == []
    assert await listed(alice, language="de") == {"11", "16"}
    assert await listed(alice, language="und") == {"13", "14", "18"}
