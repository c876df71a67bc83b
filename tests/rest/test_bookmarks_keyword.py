"""GET /v1/bookmarks: q, and lists ranked by it."""

from typing import Any

import pytest

from bowerbird import app
from bowerbird.settings import Settings
from tests.support import make
from tests.support.service import Member, Service

pytestmark = [pytest.mark.anyio, pytest.mark.both]

EVERYTHING: dict[str, Any] = {"is_unread_only": "false", "hide_archived": "false"}


async def _saved(member: Member, *texts: str) -> list[str]:
    records = [make.post(text=text) for text in texts]
    await member.save_all(records)
    return [record["post_id"] for record in records]


async def test_every_word_must_match(alice: Member) -> None:
    both, _, mixed = await _saved(alice, "Die Katze liegt", "Die Maus liegt", "LIEGT, katze!")

    assert await alice.ids(q="katze liegt") == [mixed, both]
    assert (await alice.listed(q="katze liegt", limit=1))["meta"]["total_count"] == 2
    assert await alice.crawl(q="katze liegt", limit=1) == [mixed, both]
    assert (await alice.listed(q="katze hund"))["meta"]["relaxed"] is True


async def test_words_are_found_in_every_part_of_a_post(alice: Member) -> None:
    quoted = {
        "text": "zitatwort",
        "author_username": "zitathandle",
        "author_details": {"name": "Zitat Name"},
        "article": {"title": "zitattitel", "plain_text": "zitatartikel"},
    }
    saved = await alice.save(
        text="textwort",
        author="handlewort",
        name="Namens Wort",
        article={"title": "titelwort", "plain_text": "artikelwort"},
        quoted=quoted,
    )

    words = "textwort handlewort namens titelwort artikelwort zitatwort zitathandle zitattitel"
    for word in words.split():
        assert await alice.ids(q=word) == [saved["post_id"]], word
    assert await alice.ids(q=words) == [saved["post_id"]]


async def test_a_phrase_matches_adjacent_words_in_order(alice: Member) -> None:
    together, _ = await _saved(alice, "the quick brown fox", "brown and quick")

    assert await alice.ids(q='"quick brown"') == [together]
    assert await alice.ids(q="\u201cquick brown\u201d") == [together]
    assert await alice.ids(q='"brown quick"') == []


async def test_minus_and_exclamation_mark_exclude_words(alice: Member) -> None:
    plain, _, other = await _saved(alice, "katze allein", "katze mit hund", "nur maus")

    assert await alice.ids(q="katze -hund") == await alice.ids(q="katze !hund") == [plain]
    assert await alice.ids(q='katze -"mit hund"') == [plain]
    assert await alice.ids(q="-katze") == [other]
    assert (await alice.listed(q="-katze"))["meta"]["total_count"] == 1


async def test_a_star_matches_prefixes_of_two_letters_or_more(alice: Member) -> None:
    cat, _ = await _saved(alice, "katzenfutter", "kamel")

    assert await alice.ids(q="katz*") == [cat]
    assert len(await alice.ids(q="ka*")) == 2
    assert await alice.ids(q="k*") == []
    assert await alice.ids(q="katzen") == []


ODD = (
    '"',
    '"""',
    "-",
    "*",
    "!!!",
    "AND OR NOT NEAR(a b)",
    "words:x",
    "a' OR 1=1 --",
    "(a",
    "a)",
    "a & b | !c <-> d",
    "{x}:y",
    "^a",
    "\u202e",
    "👩‍👩‍👧",
    "日本語",
    "'; DROP TABLE bookmark; --",
    "\\",
    "a" * 5000,
    " ".join(f"w{n}" for n in range(500)),
    "-" * 300,
)


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


async def test_a_blank_q_is_treated_as_absent(alice: Member) -> None:
    (saved,) = await _saved(alice, "etwas")

    assert await alice.ids(q=" ") == [saved]


async def test_only_the_first_32_terms_are_used(alice: Member) -> None:
    words = [f"w{number}" for number in range(32)]
    (saved,) = await _saved(alice, " ".join(words))

    assert await alice.ids(q=" ".join([*words, "absent"])) == [saved]
    with_all = await alice.listed(q=" ".join(["absent", *words]))
    assert with_all["meta"]["relaxed"] is True


async def test_the_default_order_stays_newest_first(alice: Member) -> None:
    best, weak = await _saved(alice, "katze katze katze", "a katze among a great many other words")

    assert await alice.ids(q="katze") == [weak, best]


async def test_relevance_ranks_the_best_match_first(alice: Member) -> None:
    best, weak, _ = await _saved(
        alice, "katze katze katze", "a katze among a great many other words", "nothing"
    )

    assert await alice.ids(q="katze", sort_by="relevance") == [best, weak]


async def test_equal_ranks_are_ordered_by_last_saved_first(alice: Member) -> None:
    ids = await _saved(alice, "katze eins", "katze zwei", "katze drei")

    assert await alice.ids(q="katze", sort_by="relevance") == ids[::-1]


async def test_relevance_with_only_exclusions_sorts_newest_first(alice: Member) -> None:
    first, _, last = await _saved(alice, "hund", "katze", "maus")

    assert await alice.ids(q="-katze", sort_by="relevance") == [last, first]


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


async def test_a_changed_post_is_found_by_its_new_words_only(alice: Member) -> None:
    record = await alice.save(text="alt")
    assert await alice.ids(q="alt") == [record["post_id"]]

    await alice.change(record, tweet_details={**record["tweet_details"], "text": "neu"})

    assert await alice.ids(q="neu") == [record["post_id"]]
    assert await alice.ids(q="alt") == []
    assert await alice.ids(q="alt", sort_by="relevance") == []


async def test_marking_a_post_read_removes_it_from_the_matches_immediately(alice: Member) -> None:
    record = await alice.save(text="katze")
    assert await alice.ids(q="katze") == [record["post_id"]]

    await alice.change(record, is_read=True)

    assert await alice.ids(q="katze") == []
    assert await alice.ids(q="katze", **EVERYTHING) == [record["post_id"]]


async def test_ranked_lists_contain_the_best_thousand(alice: Member) -> None:
    texts = ["katze" + " und noch ein wort" * (number % 3) for number in range(1005)]
    await _saved(alice, *texts)

    answer = await alice.listed(q="katze", sort_by="relevance", limit=100)
    crawled = await alice.crawl(q="katze", sort_by="relevance", limit=100)

    assert answer["meta"]["total_count"] == 1000
    assert len(crawled) == len(set(crawled)) == 1000
    assert crawled[:100] == [bookmark["post_id"] for bookmark in answer["data"]]
    # The unranked list has no such limit.
    assert (await alice.listed(q="katze"))["meta"]["total_count"] == 1005


async def test_a_ranked_crawl_continues_after_the_library_changed(alice: Member) -> None:
    ids = await _saved(alice, *["katze " + "wort " * number for number in range(6)])
    first = await alice.listed(q="katze", sort_by="relevance", limit=2)
    seen = [bookmark["post_id"] for bookmark in first["data"]]

    await alice.save(text="katze katze katze")
    await alice.remove(seen[0])
    rest = await alice.ids(q="katze", sort_by="relevance", cursor=first["meta"]["next_cursor"])

    assert not set(seen) & set(rest)
    assert set(ids) <= {*seen, *rest}


async def test_the_same_ranked_query_returns_the_same_bytes(cast: Service, alice: Member) -> None:
    await _saved(alice, *["katze " + "wort " * (number % 3) for number in range(9)])
    other = alice.on(app.build(Settings(answer_cache_mb=0), cast.database, cast.clock))
    asked = {"q": "katze", "sort_by": "relevance", "limit": 4}

    first = await alice.get("/v1/bookmarks", **asked)

    assert (await other.get("/v1/bookmarks", **asked)).content == first.content


async def test_the_free_plan_can_search_by_word_but_not_by_meaning(free: Member) -> None:
    (saved,) = await _saved(free, "katze")

    assert await free.ids(q="katze") == [saved]
    assert await free.ids(q="katze", sort_by="relevance") == [saved]
    response = await free.get("/v1/bookmarks", q="katze", vector_search_term="katze")
    assert response.status_code == 402
    assert response.json()["code"] == "VECTOR_SEARCH_NOT_ALLOWED"


async def test_never_shows_another_account(alice: Member, bob: Member) -> None:
    (mine,) = await _saved(alice, "katze hier")
    await _saved(bob, "katze dort", "geheim")

    assert await alice.ids(q="katze") == [mine]
    assert await alice.ids(q="katze", sort_by="relevance") == [mine]
    assert (await alice.listed(q="-hund"))["meta"]["total_count"] == 1
    answer = await alice.listed(q="geheim", **EVERYTHING)
    assert answer["meta"]["total_count"] == 0
    assert answer["meta"]["hint"] == 'No post has the word "geheim".'
    assert "did_you_mean" not in (await alice.listed(q="gehiem"))["meta"]
