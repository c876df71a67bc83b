"""Which posts a digest contains. The choice follows rules and is repeatable."""

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from bowerbird.library.digests.creation import DigestTopics
from bowerbird.library.vectors.semantic_search import SemanticSearch
from bowerbird.model.accounts import Account
from tests.support import digesting, make, writing
from tests.support.digesting import MONDAY, post_ids
from tests.support.models import MODELS
from tests.support.service import Member

pytestmark = pytest.mark.anyio


async def save(member: Member, day: str, **fields: Any) -> str:
    """Saves a post on a day, or at a time if one is given; returns its id."""
    moment = day if "T" in day else f"{day}T12:00:00+00:00"
    record = await member.save(bookmarked_at=moment, **fields)
    return str(record["post_id"])


async def created(member: Member, at: str = MONDAY, **given: Any) -> dict[str, Any]:
    await digesting.make(member, at, **given)
    return await digesting.shown(member)


@pytest.mark.both
async def test_posts_saved_in_the_week_are_counted_and_listed(alice: Member) -> None:
    before = await save(alice, "2026-07-12T23:59:59.999999+00:00", is_read=True)
    first = await save(alice, "2026-07-13T00:00:00+00:00", author="ada", name="Ada L.", tags=["a"])
    second = await save(alice, "2026-07-15", author="ada", name="Ada L.", tags=["b", "a"])
    last = await save(alice, "2026-07-19T23:59:59.999999+00:00", author="bo", name="Bo")
    after = await save(alice, "2026-07-20T00:00:00+00:00")

    digest = await created(alice)

    assert digest["saved"]["count"] == digest["saved_count"] == 3
    assert post_ids(digest["saved"]) == [last, second, first]
    assert {before, after}.isdisjoint(post_ids(digest["saved"]))
    assert digest["saved"]["by_label"] == [
        {"label_name": "a", "count": 2},
        {"label_name": "b", "count": 1},
    ]
    assert digest["saved"]["by_author"] == [
        {"author_username": "ada", "author_name": "Ada L.", "count": 2},
        {"author_username": "bo", "author_name": "Bo", "count": 1},
    ]


async def test_only_the_newest_posts_are_listed_but_all_are_counted(alice: Member) -> None:
    posts = [
        make.post(
            bookmarked_at=f"2026-07-15T{number // 60:02d}:{number % 60:02d}:00Z",
            author=f"author{number % 11}",
            tags=[f"label{number % 12}"],
        )
        for number in range(300)
    ]
    await alice.save_all(posts)

    digest = await created(alice)

    assert digest["saved"]["count"] == 300
    assert post_ids(digest["saved"]) == [post["post_id"] for post in posts[:-8:-1]]
    assert len(digest["saved"]["by_author"]) == len(digest["saved"]["by_label"]) == 8


async def test_a_day_starts_and_ends_in_the_time_zone_of_the_account(alice: Member) -> None:
    await digesting.prefer(
        alice, "2026-10-01T00:00:00+00:00", frequency="daily", time_zone="Europe/Berlin"
    )
    # Clocks go back on this day, so it has 25 hours: from 22:00 UTC to 23:00 UTC.
    inside = [
        await save(alice, "2026-10-24T22:00:00+00:00"),
        await save(alice, "2026-10-25T22:59:59+00:00"),
    ]
    await save(alice, "2026-10-24T21:59:59+00:00")
    await save(alice, "2026-10-25T23:00:00+00:00")

    digest = await created(alice, "2026-10-26T07:00:00+00:00")

    assert digest["digest_id"] == "daily-2026-10-25"
    assert sorted(post_ids(digest["saved"])) == inside


async def test_unread_posts_are_scored_by_engagement_and_age(alice: Member) -> None:
    liked = await save(alice, "2026-07-01", author="a", metrics={"favorite_count": 1000})
    quiet = await save(alice, "2026-07-02", author="b")
    old = await save(alice, "2026-01-02", author="c", metrics={"favorite_count": 1000})
    await save(alice, "2026-07-03", author="d", is_read=True, metrics={"favorite_count": 9000})
    await save(alice, "2026-07-03", author="e", is_archived=True, metrics={"favorite_count": 9000})

    digest = await created(alice)

    assert post_ids(digest["unread"]) == [liked, old, quiet]
    assert digest["unread"]["count"] == 3


async def test_unread_posts_are_spread_over_authors(alice: Member) -> None:
    loud = [
        await save(alice, "2026-07-01", author="loud", metrics={"favorite_count": 900 - n})
        for n in range(6)
    ]
    others = [await save(alice, "2026-07-02", author=name) for name in ("a", "b")]

    digest = await created(alice)

    assert post_ids(digest["unread"]) == [loud[0], others[1], others[0], loud[1], loud[2]]


async def test_unread_posts_are_spread_over_known_topics(alice: Member) -> None:
    posts = [
        await save(alice, "2026-07-01", author=f"author{n}", metrics={"favorite_count": 900 - n})
        for n in range(8)
    ]
    requested: list[int] = []

    async def topics(account: Account, numbers: Sequence[int]) -> Mapping[int, int]:
        assert account.account_id == alice.account_id
        requested.extend(numbers)
        # The first five have one topic; the last has none.
        return {number: 1 if number <= 5 else 2 for number in numbers if number < 8}

    digest = await created(alice, topics=topics)

    assert post_ids(digest["unread"]) == [posts[n] for n in (0, 5, 7, 1, 6)]
    assert sorted(requested) == list(range(1, 9))


@pytest.mark.both
async def test_topics_are_computed_from_the_vectors(alice: Member) -> None:
    cooking = ["How to bake bread", "A recipe for sourdough bread", "Kneading dough for bread"]
    for text in [*cooking, "A recipe for rye bread", "Baking a loaf of bread at home"]:
        await save(alice, "2026-07-01", author=text, text=text, metrics={"favorite_count": 900})
    others = [
        await save(alice, "2026-07-01", author=text, text=text)
        for text in ("Gravitational waves from black holes", "The football match ended in a draw")
    ]
    topics = DigestTopics(alice.database, SemanticSearch(alice.database, MODELS))
    assert await topics.of(await alice.account(), [1, 2]) == {}

    await alice.embed()
    digest = await created(alice, topics=topics.of)

    assert set(others) <= set(post_ids(digest["unread"]))


async def test_no_post_is_in_a_digest_twice(alice: Member) -> None:
    for n in range(9):
        await save(alice, f"2026-07-1{n + 1}")
    await save(alice, "2025-07-14")

    digest = await created(alice)

    parts = [post_ids(digest[part]) for part in ("saved", "unread", "a_year_ago")]
    listed = [post_id for part in parts for post_id in part]
    assert len(set(listed)) == len(listed) == 10


async def test_extreme_counts_are_accepted(alice: Member) -> None:
    most = {"favorite_count": 2**63 - 1, "bookmark_count": 2**63 - 1, "retweet_count": 2**63 - 1}
    huge = await save(alice, "2026-07-01", author="a", metrics=most)
    least = await save(alice, "2026-07-01", author="b", metrics={"favorite_count": -(2**63)})

    digest = await created(alice)

    assert post_ids(digest["unread"]) == [huge, least]


async def test_a_year_ago_lists_posts_of_the_same_days_read_or_not(alice: Member) -> None:
    inside = await save(alice, "2025-07-13", is_read=True, metrics={"favorite_count": 5})
    edge = await save(alice, "2025-07-19T23:59:00+00:00", is_archived=True)
    await save(alice, "2025-07-12", is_read=True)
    await save(alice, "2025-07-20", is_read=True)

    digest = await created(alice)

    assert post_ids(digest["a_year_ago"]) == [inside, edge]
    assert digest["a_year_ago"]["count"] == 2


async def test_the_forgotten_post_is_not_repeated_soon(alice: Member) -> None:
    old = {await save(alice, f"2026-01-{day:02d}", author="x") for day in range(1, 21)}
    found = []
    for monday in ("2026-07-20", "2026-07-27", "2026-08-03"):
        digest = await created(alice, f"{monday}T08:00:00+00:00")
        found.append(digest["forgotten"]["post_id"])

    assert len(set(found)) == 3
    assert set(found) <= old


async def test_recently_listed_posts_come_after_new_ones(alice: Member) -> None:
    posts = {await save(alice, "2026-07-01", author=f"author{n}") for n in range(7)}

    first = post_ids((await created(alice))["unread"])
    second = post_ids((await created(alice, "2026-07-27T08:00:00+00:00"))["unread"])

    assert len(first) == len(second) == 5
    assert set(second[:2]) == posts - set(first)


async def test_the_same_library_and_period_give_the_same_digest(alice: Member, bob: Member) -> None:
    posts = [
        make.post(
            bookmarked_at=f"202{5 + (n % 3 > 0)}-0{1 + n % 7}-{1 + n % 28:02d}T0{n % 10}:00:00Z",
            author=f"author{n % 9}",
            tags=[f"label{n % 5}"],
            metrics={"favorite_count": n * n % 97},
        )
        for n in range(400)
    ]
    for member in (alice, bob):
        await member.save_all(posts)

    mine = await created(alice)
    # Later, but before the next one is due.
    theirs = {**await created(bob, "2026-07-26T23:00:00+00:00"), "made_at": mine["made_at"]}

    assert mine == theirs
    assert all(post_ids(mine[part]) for part in ("saved", "unread", "a_year_ago"))
    assert mine["forgotten"]


@pytest.mark.both
async def test_a_deleted_post_disappears_from_its_digests(alice: Member) -> None:
    gone, kept = await save(alice, "2026-07-14", text="geheim"), await save(alice, "2026-07-15")
    assert post_ids((await created(alice))["saved"]) == [kept, gone]

    await writing.send(alice, "DELETE", f"/v1/bookmarks/{gone}")

    digest = await digesting.shown(alice)
    assert post_ids(digest["saved"]) == [kept]
    assert digest["saved"]["count"] == 2
    assert "geheim" not in digest["markdown"] + digest["html"]


async def test_a_week_without_new_posts_lists_earlier_ones(alice: Member) -> None:
    await save(alice, "2026-03-01")

    digest = await created(alice)

    assert digest["saved"]["count"] == 0
    assert "You saved no posts this week." in digest["markdown"]


async def test_deleted_posts_do_not_change_the_count_of_further_posts(alice: Member) -> None:
    saved = [await save(alice, f"2026-07-14T12:00:{n:02d}+00:00") for n in range(9)]
    await created(alice)
    assert "And 2 more." in (await digesting.shown(alice))["markdown"]

    # The newest posts are listed.
    for post_id in saved[-3:]:
        await alice.remove(post_id)

    shown = await digesting.shown(alice)
    assert len(shown["saved"]["posts"]) == 4
    assert "And 2 more." in shown["markdown"]
