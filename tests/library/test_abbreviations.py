"""A post that explains an abbreviation teaches its library that both find each other."""

import pytest

from bowerbird.storage.words import word_counts
from tests.support import writing
from tests.support.posts.ruling import rule, run, tags
from tests.support.service import Member

pytestmark = [pytest.mark.anyio, pytest.mark.both]


async def found(member: Member, q: str) -> list[str]:
    answer = await member.get("/v1/bookmarks", q=q)
    assert answer.status_code == 200
    # Without those that have only some of the words.
    if answer.json()["meta"].get("relaxed"):
        return []
    return sorted(post["post_id"] for post in answer.json()["data"])


async def save(member: Member, *texts: str) -> None:
    for number, text in enumerate(texts, 1):
        await member.save(post_id=str(number), text=text)


async def test_an_abbreviation_and_its_phrase_find_each_other(alice: Member, bob: Member) -> None:
    texts = ("Blue nest survey (BNS) began", "the bns of May", "a blue nest survey", "blue nests")
    await save(alice, *texts)
    await save(bob, *texts[1:])

    assert await found(alice, "BNS") == ["1", "2", "3"]
    assert await found(alice, "blue nest survey") == ["1", "2", "3"]
    assert await found(alice, "blue nest surveys may") == ["2"]
    assert await found(alice, '"bns"') == ["1", "2"]
    assert await found(alice, "-bns blue") == ["3", "4"]
    assert await found(bob, "bns") == ["1"]
    assert (await alice.get("/v1/bookmarks/count", q="bns")).json()["data"]["count"] == 3


async def test_a_post_with_the_word_itself_comes_first(alice: Member) -> None:
    await save(alice, "Blue nest survey (BNS) began", "the bns of May", "a blue nest survey")

    answer = await alice.get("/v1/bookmarks", q="bns", sort_by="relevance")
    assert [post["post_id"] for post in answer.json()["data"]][-1] == "3"


async def rows_of(member: Member) -> int:
    rows = "SELECT count(*) FROM abbreviation WHERE account_id = :account_id"
    counted = await member.database.rows(rows, {"account_id": member.account_id})
    count: int = counted[0][0]
    return count


async def test_what_an_abbreviation_means_is_limited(alice: Member) -> None:
    words = ("bear", "bee", "boar", "bird", "bat")
    await save(alice, *(f"{word} nest (BN)" for word in words), *(f"{word} nest" for word in words))

    assert await found(alice, "bn") == ["1", "2", "3", "4", "5", "6", "7", "8"]
    # Both directions are learnt, or neither.
    assert await found(alice, "bat nest") == ["10", "5"]
    assert await rows_of(alice) == 6


async def test_what_was_explained_longest_ago_gives_way(
    alice: Member, bob: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(word_counts, "MOST", 5)
    await save(bob, "Blue nest (BN)", "a blue nest")
    texts = ("Blue nest (BN)", "Owl moult (OM)", "again: blue nest (BN)", "Red kite (RK)")
    await save(alice, *texts, "an owl moult", "a blue nest", "a red kite")

    assert await found(alice, "bn") == ["1", "3", "6"]
    assert await found(alice, "rk") == ["4", "7"]
    # Both directions are forgotten.
    assert await found(alice, "om") == ["2"]
    assert await found(alice, "owl moult") == ["2", "5"]
    assert await rows_of(alice) == 4
    assert await found(bob, "bn") == ["1", "2"]


async def test_what_0_9_0_learnt_gives_way_first(
    alice: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(word_counts, "MOST", 4)
    await save(alice, "Ring of nests (RoN)", "Tree of owls (ToO)")
    await alice.database.write(
        lambda transaction: transaction.run(
            "UPDATE abbreviation SET explained = 0 WHERE account_id = :account_id",
            {"account_id": alice.account_id},
        )
    )
    await alice.save(post_id="3", text="Bird count (BC)")
    await alice.save(post_id="4", text="a bird count, a ring of nests, a tree of owls")

    assert await found(alice, "bc") == ["3", "4"]
    assert await found(alice, "ron") == ["1"]
    assert await found(alice, "too") == ["2", "4"]
    assert await rows_of(alice) == 4


@pytest.mark.parametrize(
    ("q", "short", "long"),
    [
        ("css", "CS", "computer science"),
        ("gps", "GP", "general practitioner"),
        ("bus", "BU", "business unit"),
    ],
)
async def test_an_s_makes_another_abbreviation(
    alice: Member, q: str, short: str, long: str
) -> None:
    await save(alice, f"{long} ({short}) began", q, long)

    assert await found(alice, q) == ["2"]
    assert await found(alice, short) == ["1", "3"]
    assert await found(alice, long) == ["1", "3"]


async def test_one_explained_in_the_plural_is_found_in_both_numbers(alice: Member) -> None:
    await save(alice, "Blue nest trees (BNTs)", "the bnt", "all bnts", "a blue nest tree")

    for q in ("blue nest tree", "blue nest trees"):
        assert await found(alice, q) == ["1", "2", "3", "4"], q
    assert {"1", "2", "4"} <= set(await found(alice, "bnt"))
    assert {"1", "3", "4"} <= set(await found(alice, "bnts"))


async def test_an_account_has_rows_of_its_own(alice: Member) -> None:
    await save(alice, "Blue nest survey (BNS) began")
    rows = "SELECT typed, meaning FROM abbreviation WHERE account_id = :account_id ORDER BY typed"
    values = {"account_id": alice.account_id}
    stored = [tuple(row) for row in await alice.database.rows(rows, values)]
    assert stored == [("blue nest survey", "bns"), ("bns", "blue nest survey")]


async def test_a_rule_matches_the_words_that_are_typed_and_common_abbreviations(
    alice: Member,
) -> None:
    await rule(alice, query={"q": "bns OR kubernetes"})
    texts = ("Blue nest survey (BNS) began", "the bns of May", "a blue nest survey", "k8s")
    await save(alice, *texts)
    await run(alice)

    assert await tags(alice) == {"1": ["Birds"], "2": ["Birds"], "3": [], "4": ["Birds"]}
    query = {"query": {"q": "bns"}}
    preview = await writing.send(alice, "POST", "/v1/rules/preview", query)
    assert preview.json()["data"]["count"] == 2
    made = await rule(alice, name="Past", query={"q": "bns"}, is_on=False)
    path = f"/v1/rules/{made['rule_id']}/apply"
    refused = await writing.send(alice, "POST", path, {"expected_count": 3})
    assert refused.status_code == 409


async def test_a_change_says_that_posts_match_by_an_abbreviation(alice: Member) -> None:
    await save(alice, "Blue nest survey (BNS) began", "the bns of May", "a blue nest survey")

    body = {"filter": {"q": "bns"}, "expected_count": 3}
    refused = await writing.send(alice, "POST", "/v1/bookmarks/delete", body)
    assert refused.status_code == 409
    assert "1 more" in writing.sentence(refused)
    assert "only by an abbreviation that a post explains" in writing.sentence(refused)
    count = await writing.send(alice, "POST", "/v1/bookmarks/delete", {**body, "expected_count": 2})
    assert count.json()["data"]["changed"] == 2
