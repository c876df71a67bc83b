"""GET /v1/bookmarks?q=: posts with some of the words, corrections, and answers that explain."""

from collections.abc import Awaitable, Callable

import msgspec
import pytest

from bowerbird.library.bookmarks.bookmarks import Bookmarks
from bowerbird.library.bookmarks.searching.post_texts import compared_words, with_highlights
from bowerbird.requests.bookmarks import ListQuery
from bowerbird.search.queries.query_language import parse
from bowerbird.storage.stores import Stores
from tests.support import make, writing
from tests.support.in_turn import in_turn
from tests.support.service import Member

pytestmark = pytest.mark.anyio


TEXTS = {
    "postgres": "PostgreSQL tip: partial indexes make a slow query fast",
    "bread": "My sourdough starter doubled overnight and the loaf has a crisp crust",
    "rocket": "The booster landed upright on the drone ship for the twentieth time",
    "tokyo": "昨日は東京タワーへ行きました。夜景がきれいでした",
    "garden": "Compost needs brown and green in turn, and a garden needs patience",
}


async def _filled(member: Member) -> dict[str, str]:
    """Saves the posts, once per library; returns their ids by name."""
    ids = {name: str(1 + number) for number, name in enumerate(TEXTS)}
    posts = [make.post(post_id=ids[name], sort_index=1, text=text) for name, text in TEXTS.items()]
    await member.save_all(posts)
    return ids


@in_turn(
    ("q", "subject"),
    [
        ("how do partial indexes make my database query fast", "postgres"),
        ("sourdough starter recipe", "bread"),
        ("booster landed sideways on the drone ship", "rocket"),
        ("昨日東京タワーで夜景を見ました", "tokyo"),
        ("brown-green compost heap", "garden"),
    ],
)
async def test_a_wrong_word_still_finds_the_post(alice: Member, q: str, subject: str) -> None:
    ids = await _filled(alice)

    listed = await alice.listed(q=q)

    assert listed["data"][0]["post_id"] == ids[subject]
    assert listed["meta"]["relaxed"] is True
    assert listed["meta"]["hint"] == ("No post has all of these words. These have some of them.")
    assert listed["meta"]["total_count"] == len(listed["data"])


async def test_after_the_posts_with_all_words_of_a_sentence_come_those_with_some(
    alice: Member,
) -> None:
    ids = await _filled(alice)
    await alice.save(text="The heron has green legs and brown feathers")
    text = "compost needs brown and green in turn"

    best_first = await alice.listed(q=text, sort_by="relevance")
    quoted = await alice.listed(q=f'"{text}"', sort_by="relevance")
    newest_first = await alice.listed(q=text)

    assert best_first["data"][0]["post_id"] == ids["garden"]
    assert len(best_first["data"]) == 2
    assert best_first["meta"]["hint"] == (
        "The first posts have all of these words, the others some of them."
    )
    assert "relaxed" not in best_first["meta"]
    assert [len(listed["data"]) for listed in (quoted, newest_first)] == [1, 1]


_SENTENCE = "heron weir otter reed bittern sedge"


async def _arrive(alice: Member, _exact: list[str]) -> None:
    await alice.save_texts(*[f"{_SENTENCE} again {number}" for number in range(6)])


async def _are_read(alice: Member, exact: list[str]) -> None:
    await alice.save_all(
        [make.post(post_id=one, text=f"{_SENTENCE} read", is_read=True) for one in exact]
    )


async def _are_deleted(alice: Member, exact: list[str]) -> None:
    for post_id in exact:
        await alice.remove(post_id)


@pytest.mark.both
@pytest.mark.parametrize(
    ("happens", "more"),
    [(_arrive, 6), (_are_read, 0), (_are_deleted, 0)],
    ids=["arrive", "are-read", "are-deleted"],
)
async def test_a_list_that_began_wide_goes_on_so_whatever_happens_to_its_first_posts(
    alice: Member, happens: Callable[[Member, list[str]], Awaitable[None]], more: int
) -> None:
    some = await alice.save_texts(*[f"heron {number} otter" for number in range(60)])
    exact = await alice.save_texts(*[f"{_SENTENCE} {number}" for number in range(15)])
    asked = {"q": _SENTENCE, "sort_by": "relevance", "limit": "20", "unread_only": "true"}

    page = await alice.listed(**asked)
    found = [post["post_id"] for post in page["data"]]
    assert set(found[:15]) == set(exact)
    await happens(alice, exact)
    while cursor := page["meta"]["next_cursor"]:
        page = await alice.listed(**asked, cursor=cursor)
        assert page["data"]
        found += [post["post_id"] for post in page["data"]]

    assert len(found) == len(set(found)) == 75 + more
    assert set(some) < set(found)


async def test_a_wide_list_ends_if_all_of_its_posts_go(alice: Member) -> None:
    ids = await alice.save_texts(_SENTENCE, "heron otter one", "heron otter two")
    asked = {"q": _SENTENCE, "sort_by": "relevance", "limit": "1"}
    page = await alice.listed(**asked)
    await _are_deleted(alice, ids)

    page = await alice.listed(**asked, cursor=page["meta"]["next_cursor"])

    assert (page["data"], page["meta"]["next_cursor"]) == ([], None)


async def test_a_list_with_the_worst_match_first_has_only_posts_with_all_words(
    alice: Member,
) -> None:
    _, exact = await alice.save_texts("heron otter", _SENTENCE)
    asked = {"q": _SENTENCE, "sort_by": "relevance"}

    worst_first = await alice.listed(**asked, sort_order="asc")

    assert [post["post_id"] for post in worst_first["data"]] == [exact]
    assert "hint" not in worst_first["meta"]
    assert len(await alice.ids(**asked)) == 2


async def test_a_list_with_every_word_is_not_relaxed(alice: Member) -> None:
    ids = await _filled(alice)

    listed = await alice.listed(q="drone ship")

    assert [post["post_id"] for post in listed["data"]] == [ids["rocket"]]
    assert listed["meta"].keys() == {"next_cursor", "limit", "total_count", "count"}
    assert "score" not in listed["data"][0]


@in_turn(
    ("q", "meant", "subject"),
    [
        ("sourdugh", "sourdough", "bread"),
        ("sourdouhg loaf", "sourdough loaf", "bread"),
        ("(Compots) garden", "(compost) garden", "garden"),
        ("droneship booster", "drone ship booster", "rocket"),
        ("postgersql", "postgresql", "postgres"),
        ("slow post gresql query", "slow postgresql query", "postgres"),
        # Neither excluded nor quoted words are corrected.
        ('sourdugh -herrons -"compots lake"', 'sourdough -herrons -"compots lake"', "bread"),
    ],
)
async def test_a_typo_finds_the_post_and_the_word_that_was_meant(
    alice: Member, q: str, meant: str, subject: str
) -> None:
    ids = await _filled(alice)

    listed = await alice.listed(q=q)

    assert [post["post_id"] for post in listed["data"]] == [ids[subject]]
    assert listed["meta"]["did_you_mean"] == meant
    corrected = await alice.listed(q=meant)
    assert [post["post_id"] for post in corrected["data"]] == [ids[subject]]
    assert "did_you_mean" not in corrected["meta"]


async def test_the_commonest_word_is_suggested(alice: Member) -> None:
    await alice.save_all([make.post(text="a heron") for _ in range(3)])
    await alice.save(text="the hebron")

    meta = (await alice.listed(q="herron"))["meta"]
    assert meta["did_you_mean"] == "heron"
    assert meta["hint"] == 'No post has the word "herron". These have a similar one.'
    await _filled(alice)
    alternatives = await alice.listed(q="(sourdugh OR compots)")
    assert alternatives["meta"]["did_you_mean"] == "(sourdough OR compost)"


@pytest.mark.parametrize(
    "asked", [{"q": "sourdough", "sort_by": "relevance"}, {"q": "sourdough xy"}]
)
async def test_a_word_that_only_a_label_has_is_known(alice: Member, asked: dict[str, str]) -> None:
    await alice.save(text="my sourdouhg")
    await alice.save(text="a loaf", tags=["sourdough"])

    meta = (await alice.listed(**asked))["meta"]

    assert "did_you_mean" not in meta
    assert "sourdough" not in meta.get("hint", "")


@pytest.mark.both
async def test_a_word_that_is_also_a_label_is_found_with_the_other_words(alice: Member) -> None:
    written = (await alice.save(text="sourdough bread recipe"))["post_id"]
    named = (await alice.save(text="bread recipe", tags=["sourdough"]))["post_id"]
    twice = (await alice.save(text="a recipe", tags=["sourdough", "bread"]))["post_id"]
    other = (await alice.save(text="bread recipe"))["post_id"]
    some = (await alice.save(text="sourdough"))["post_id"]
    newest_first = [twice, named, written]

    assert await alice.ids(q="sourdough bread recipe") == newest_first
    assert await alice.ids(q="sourdough bread", sort_by="created_at") == newest_first
    # A relaxed list.
    assert await alice.ids(q="sourdough bread -recipe") == [some]
    assert await alice.ids(q="recipe bread -sourdough") == [other]
    assert await alice.ids(q="recipe (sourdough OR sourdug)") == newest_first
    found = await alice.listed(q="sourdough bread recipe", sort_by="relevance")
    assert {one["post_id"] for one in found["data"]} == set(newest_first)


async def test_every_empty_answer_explains_itself(alice: Member) -> None:
    assert (await alice.listed(q="heron"))["meta"]["hint"] == "The library is empty."
    await _filled(alice)

    for q, hint in (
        ("?!", "The search has no words."),
        ("heron", 'No post has the word "heron".'),
        ('"fast slow"', 'No post has the phrase "fast slow".'),
        ("title:heron", 'No post has the word "heron" in a title.'),
        ('title:"fast slow"', 'No post has the phrase "fast slow" in a title.'),
        ("fast -slow", "No post matches the whole search."),
        ("a1 b2", 'No post has the words "a1" and "b2".'),
        ("a1 b2 c3", 'No post has the words "a1", "b2" and "c3".'),
        ("a1 b2 c3 d4 e5", 'No post has the words "a1", "b2", "c3" and 2 more.'),
    ):
        assert (await alice.listed(q=q))["meta"]["hint"].startswith(hint), q
    filtered = await alice.listed(q="sourdough", author="nobody")
    assert filtered["meta"]["hint"] == "No post matches the whole search with these filters."


async def test_phrases_exclusions_and_filters_are_never_relaxed(alice: Member) -> None:
    ids = await _filled(alice)

    assert await alice.ids(q='"query slow" partial') == []
    assert await alice.ids(q='"slow query" missing') == [ids["postgres"]]
    assert await alice.ids(q="partial indexes missing -slow") == []
    assert await alice.ids(q="partial indexes missing", author="nobody") == []


async def test_a_correction_is_suggested_only_if_posts_have_all_of_its_words(alice: Member) -> None:
    await _filled(alice)

    meant = {
        q: (await alice.listed(q=q))["meta"].get("did_you_mean")
        for q in ("sourdouhg", "sourdouhg starter", "sourdouhg booster")
    }

    assert meant == {
        "sourdouhg": "sourdough",
        "sourdouhg starter": "sourdough starter",
        # No post has both words.
        "sourdouhg booster": None,
    }


async def test_alternatives_count_as_one_word(alice: Member) -> None:
    post = await alice.save(text="heron at the weir")
    await alice.save_all([make.post(text=f"common n{n} heron") for n in range(20)])

    listed = await alice.listed(q="(heron OR stork OR crane OR egret OR ibis) weir missing")

    assert listed["data"][0]["post_id"] == post["post_id"]
    assert listed["meta"]["relaxed"] is True


@pytest.mark.both
async def test_any_word_finds_and_both_finds_no_less(alice: Member) -> None:
    ids = await _filled(alice)
    await alice.embed()

    for q in ("zzzz yyyy sourdough xxxx wwww", "how do I keep some sourdough cool all week long"):
        by_words = await alice.listed(q=q)
        assert by_words["data"][0]["post_id"] == ids["bread"], q
        assert by_words["meta"]["relaxed"] is True
        found = await alice.ids(q=q, vector_search_term=q)
        assert {post["post_id"] for post in by_words["data"]} <= set(found), q
        # A count is of the posts that match, as a change by filter would take them.
        count = (await alice.get("/v1/bookmarks/count", q=q)).json()["data"]["count"]
        assert count == 0


@pytest.mark.parametrize("order", [{}, {"sort_by": "relevance"}])
async def test_hidden_matches_are_better_than_relaxed_ones(
    alice: Member, order: dict[str, str]
) -> None:
    await _filled(alice)
    await alice.save(text="partial indexes and gardens", is_read=True)

    listed = await alice.listed(q="partial gardens", **order)

    assert listed["data"] == []
    assert "1 read or archived post matches." in listed["meta"]["hint"]
    assert "relaxed" not in listed["meta"]


@pytest.mark.parametrize("order", [{}, {"sort_by": "relevance"}, {"sort_by": "title"}])
async def test_pages_of_a_relaxed_list_have_each_post(alice: Member, order: dict[str, str]) -> None:
    await alice.save_all([make.post(text="heron " * (n % 4 + 1) + f"weir n{n}") for n in range(25)])
    await alice.save(text="nothing of it")
    asked = {"q": "heron weir missing", **order}
    whole = await alice.ids(**asked, limit=100)

    paged = await alice.crawl(**asked, limit=4)

    assert paged == whole
    assert len(set(paged)) == 25


async def test_a_page_of_a_relaxed_list_without_matches_is_empty(alice: Member) -> None:
    bookmarks = Bookmarks(alice.database, clock=alice.clock)
    posts = [make.post(text=f"heron weir n{n}") for n in range(6)]
    await alice.save_all(posts)
    query = ListQuery(q="heron weir missing", limit=4)
    first = await bookmarks.list(await alice.account(), query)
    for post in posts:
        await alice.client.delete(f"/v1/bookmarks/{post['post_id']}")

    query = msgspec.structs.replace(query, cursor=first.next_cursor)
    rest = await bookmarks.list(await alice.account(), query, for_page=True)

    assert (rest.count, rest.newer_cursor) == (0, "")


async def test_counts_views_and_changes_are_never_relaxed(alice: Member) -> None:
    await _filled(alice)
    path = await writing.view(alice, base_query={"q": "sourdough missing"})

    assert (await alice.get("/v1/bookmarks/count", q="sourdough missing")).json()["data"][
        "count"
    ] == 0
    assert (await alice.get(f"{path}/bookmarks")).json()["data"] == []


async def test_a_stop_word_that_no_post_has_is_not_required(alice: Member) -> None:
    await alice.save(text="capybara")

    meta = (await alice.listed(q="the capybara"))["meta"]

    assert (meta["total_count"], meta.get("hint"), meta.get("relaxed")) == (1, None, None)


async def test_a_relaxed_list_continues_only_by_cursor(alice: Member) -> None:
    await alice.save_all([make.post(text="a heron") for _ in range(3)])
    parameters = {"q": "herron", "sort_by": "posted_at", "sort_cursor": "2099-01-01T00:00:00Z"}

    response = await alice.client.get("/v1/bookmarks", params=parameters)

    assert response.status_code == 400
    assert "continues only by cursor" in response.json()["error"]


@pytest.mark.parametrize("change", ["a match arrives", "a match is read"])
async def test_a_relaxed_list_goes_on_when_a_match_arrives(alice: Member, change: str) -> None:
    posts = [make.post(text=f"alpha beta {number}") for number in range(9)]
    await alice.save_all(posts)
    asked = {"q": "alpha beta gamma", "sort_by": "relevance", "limit": "3"}
    pages = [await alice.listed(**asked)]
    is_read = change == "a match is read"
    await alice.save(text="alpha beta gamma", is_read=is_read)

    while cursor := pages[-1]["meta"]["next_cursor"]:
        pages.append(await alice.listed(**asked, cursor=cursor))

    found = [post["post_id"] for page in pages for post in page["data"]]
    assert {post["post_id"] for post in posts} <= set(found)
    assert len(found) == len(set(found))


async def test_words_that_wait_to_be_counted_are_not_misspelled(alice: Member) -> None:
    post = await alice.save(text="short")
    await alice.save_all([make.post(text="a wombat") for _ in range(3)])
    # More words than are counted at once.
    long = " ".join(["combat", *(f"word{number}" for number in range(2_500))])
    await alice.change(post, tweet_details={**post["tweet_details"], "text": long})

    listed = await alice.listed(q="combat", sort_by="relevance")

    assert [one["post_id"] for one in listed["data"]] == [post["post_id"]]
    assert "did_you_mean" not in listed["meta"]


def test_texts_in_fields_of_a_wrong_type_are_left_out() -> None:
    stored = (
        b'{"post_id":"9","tweet_details":{"text":"Compost","article":{"title":5,"plain_text":"Garden"},'
        b'"quoted_tweet":{"text":["brown"],"article":[5],"author_details":"green"}}}'
    )

    assert compared_words(stored) == ["compost", "garden"]
    assert b"<mark>Compost</mark>" in with_highlights(stored, parse("compost"))


async def test_the_words_of_very_large_posts_are_not_compared(alice: Member) -> None:
    await _filled(alice)
    stores = Stores.of(alice.database)
    account = await alice.account()

    stored = await stores.facets.renderings(account, [1, 2])
    small = await stores.facets.renderings(account, [1, 2], min(map(len, stored.values())))

    assert (len(stored), len(small)) == (2, 1)
