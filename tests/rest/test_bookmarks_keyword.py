"""GET /v1/bookmarks: q, and lists ranked by it."""

import pytest

from tests.support import make
from tests.support.in_turn import in_turn
from tests.support.service import Member

pytestmark = pytest.mark.anyio


async def _saved(member: Member, *texts: str) -> list[str]:
    records = [make.post(text=text) for text in texts]
    await member.save_all(records)
    return [record["post_id"] for record in records]


@pytest.mark.both
async def test_every_word_must_match(alice: Member) -> None:
    both, _, mixed = await _saved(alice, "Die Katze liegt", "Die Maus liegt", "LIEGT, katze!")

    assert await alice.ids(q="katze liegt") == [mixed, both]
    assert (await alice.listed(q="katze liegt", limit=1))["meta"]["total_count"] == 2
    assert await alice.crawl(q="katze liegt", limit=1) == [mixed, both]
    assert (await alice.listed(q="katze hund"))["meta"]["relaxed"] is True


ODD = (
    *('"', '"""', "-", "*", "!!!", "AND OR NOT NEAR(a b)", "words:x", "a' OR 1=1 --", "(a", "a)"),
    *("a & b | !c <-> d", "{x}:y", "^a", "\u202e", "👩‍👩‍👧", "日本語", "\\", "-" * 300),
    *("'; DROP TABLE bookmark; --", "a" * 5000, " ".join(f"w{n}" for n in range(500))),
    *('"quick brown"', "katze -hund", 'katze !"mit hund"', "katz*", "k*"),
)


@pytest.mark.both
async def test_every_query_is_valid(alice: Member) -> None:
    await _saved(alice, "something else")

    for q in ODD:
        total = (await alice.listed(q=q))["meta"]["total_count"]
        ranked = await alice.listed(q=q, sort_by="relevance")
        assert ranked["meta"]["total_count"] == total, q


async def test_a_query_without_words_finds_nothing(alice: Member) -> None:
    await _saved(alice, "etwas")

    for q in ("...", '""', "*", "-"):
        assert await alice.ids(q=q) == []
        assert await alice.ids(q=q, sort_by="relevance") == []


@pytest.mark.both
async def test_relevance_ranks_the_best_match_first(alice: Member) -> None:
    best, weak, _ = await _saved(
        alice, "katze katze katze", "a katze among a great many other words", "nothing"
    )

    assert await alice.ids(q="katze", sort_by="relevance") == [best, weak]
    assert await alice.ids(q="katze") == [weak, best]
    assert len(await alice.ids(q=" ")) == 3


@pytest.mark.both
async def test_flags_and_filters_narrow_the_matches(alice: Member) -> None:
    fresh = await alice.save(text="katze", author="ada", tags=["x"])
    read = await alice.save(text="katze", author="eve", is_read=True)
    archived = await alice.save(text="katze", is_archived=True)

    for ranked in ({}, {"sort_by": "relevance"}):
        assert await alice.ids(q="katze", **ranked) == [fresh["post_id"]]
        assert await alice.ids(q="katze", is_unread_only=0, author="eve", **ranked) == [
            read["post_id"]
        ]
        assert set(await alice.ids(q="katze", hide_archived=0, **ranked)) == {
            fresh["post_id"],
            archived["post_id"],
        }
        assert await alice.ids(q="katze", tag="X", **ranked) == [fresh["post_id"]]


@pytest.mark.both
async def test_a_changed_post_is_found_by_its_new_words_only(alice: Member) -> None:
    record = await alice.save(text="alt")
    assert await alice.ids(q="alt") == [record["post_id"]]

    await alice.change(record, tweet_details={**record["tweet_details"], "text": "neu"})

    assert await alice.ids(q="neu") == [record["post_id"]]
    assert await alice.ids(q="alt") == []
    assert await alice.ids(q="alt", sort_by="relevance") == []


@pytest.mark.both
async def test_ranked_lists_contain_the_best_thousand(alice: Member) -> None:
    texts = ["katze" + f" und {number} wort" * (number % 3 + 1) for number in range(1005)]
    await _saved(alice, *texts)

    answer = await alice.listed(q="katze", sort_by="relevance", limit=100)
    crawled = await alice.crawl(q="katze", sort_by="relevance", limit=100)

    assert answer["meta"]["total_count"] == 1000
    assert len(crawled) == len(set(crawled)) == 1000
    assert crawled[:100] == [bookmark["post_id"] for bookmark in answer["data"]]
    # The unranked list has no such limit.
    assert (await alice.listed(q="katze"))["meta"]["total_count"] == 1005


@pytest.mark.both
@in_turn(
    ("text", "q"),
    [
        ("Der Vogel sammelt blaue Flaschendeckel", "blau"),
        ("Boeken in de bibliotheek", "boek"),
        ("De vogel verzamelt blauwe doppen", "vogels"),
        ("Kirjastossa on paljon kirjoja", "kirja"),
        ("Lintu kerää sinisiä pullonkorkkeja", "pullonkorkki"),
        ("I libri della biblioteca dell'arte", "libro"),
        ("El pájaro recoge tapas azules", "azul"),
        ("O pássaro coleciona tampas azuis", "tampa"),
        ("Ptak zbiera niebieskie nakrętki", "nakrętka"),
        ("Könyvtárban olvastam könyveket", "könyv"),
    ],
)
async def test_another_form_of_a_word_finds_a_short_post(alice: Member, text: str, q: str) -> None:
    await alice.save(post_id="1", text=text, author="ada", name="Ada and the Herons")
    await alice.save(post_id="2", text="Another post")

    found = await alice.listed(q=q, highlight="true")

    assert [post["post_id"] for post in found["data"]] == ["1"]
    assert "<mark>" in found["data"][0]["highlight"]["html"]
