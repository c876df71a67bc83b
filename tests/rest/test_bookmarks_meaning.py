"""vector_search_term: search by meaning, its order, paging and exclusions."""

from typing import Any

import pytest

from bowerbird.library.bookmarks.searching import ranking
from tests.support import make, writing
from tests.support.exporting import exported
from tests.support.service import Member, Service

pytestmark = pytest.mark.anyio


TEXTS = {
    "bread": "My sourdough starter finally doubled overnight, the loaf has a wonderful crust.",
    "rocket": "The second stage reached orbit and deployed sixty satellites this morning.",
    "knee": "Physiotherapists say: strengthen the thigh before you run on a sore knee again.",
    "tax": "Freelancers: set aside a third of each invoice for the revenue office.",
    "cat": "Our kitten sleeps on the radiator all day long.",
    "python": "Use generators to stream a large file line by line without filling memory.",
}


async def _filled(member: Member, **fields: dict[str, Any]) -> dict[str, str]:
    """Save one post per subject and return the ids by subject."""
    posts = {name: make.post(text=text, **fields.get(name, {})) for name, text in TEXTS.items()}
    await member.save_all(list(posts.values()))
    await member.embed()
    return {name: post["post_id"] for name, post in posts.items()}


async def test_posts_are_found_by_meaning_without_a_common_word(alice: Member) -> None:
    ids = await _filled(alice)

    for asked, subject in (
        ("baking at home", "bread"),
        ("space launch", "rocket"),
        ("sports injury", "knee"),
        ("pets", "cat"),
        ("reading big files in a program", "python"),
    ):
        found = await alice.ids(vector_search_term=asked)
        assert found[0] == ids[subject], asked


async def test_nonsense_and_signs_are_not_searched_by_meaning(alice: Member) -> None:
    ids = await _filled(alice)

    for asked in ("asdfghjkl", "qwxzv plmkt", "7f3k9q2x8w", "🎉🎉", "?!", "телескоп", "望遠鏡"):
        listed = await alice.listed(vector_search_term=asked)
        assert listed["data"] == [], asked
        assert listed["meta"]["hint"], asked
    # A post has one of the words.
    assert ids["bread"] in await alice.ids(vector_search_term="qwxzv sourdough")


async def test_an_answer_says_if_nothing_matches_closely(alice: Member) -> None:
    await _filled(alice)

    hints = {
        asked: (await alice.listed(vector_search_term=asked))["meta"].get("hint")
        for asked in ("a kitten asleep on the radiator", "morning news")
    }

    assert hints == {
        "a kitten asleep on the radiator": None,
        "morning news": "Nothing matches closely. The nearest:",
    }


async def test_every_filter_applies_exactly(alice: Member) -> None:
    ids = await _filled(
        alice,
        bread={"author": "mia", "tags": ["Kitchen"]},
        cat={"is_read": True},
        knee={"is_archived": True},
        tax={"attachments": [{"type": "image"}]},
        rocket={"posted_at": "2020-05-05T00:00:00+00:00"},
    )

    async def found(asked: str, **filters: str) -> list[str]:
        return await alice.ids(vector_search_term=asked, **filters)

    assert ids["cat"] not in await found("pets")
    assert ids["knee"] not in await found("sports injury")
    everything = {"is_unread_only": "false", "hide_archived": "false"}
    assert (await found("pets", **everything))[0] == ids["cat"]
    assert (await found("sports injury", **everything))[0] == ids["knee"]
    assert await found("sourdough bread", author="mia") == [ids["bread"]]
    assert await found("sourdough bread", tag="kitchen") == [ids["bread"]]
    assert await found("sourdough bread", tag="other") == []
    assert await found("invoice and tax", media_type="image") == [ids["tax"]]
    assert await found("satellites in orbit", posted_to="2021-01-01") == [ids["rocket"]]
    listed = await alice.listed(vector_search_term="sourdough bread", author="mia")
    assert listed["meta"]["total_count"] == 1


async def test_an_excluded_word_also_excludes_matches_by_meaning(alice: Member) -> None:
    ids = await _filled(alice)

    assert ids["cat"] not in await alice.ids(q="-kitten", vector_search_term="pets")
    found = await alice.ids(q="sourdough -kitten", vector_search_term="pets")
    assert found[0] == ids["bread"]
    assert ids["cat"] not in found


async def test_a_sort_field_orders_the_ranked_list(alice: Member) -> None:
    names = ("Our old cat", "A kitten", "The cat of my neighbour", "Cats and dogs")
    await alice.save_all([make.post(text=f"{name} is a lovely pet") for name in names])
    await alice.embed()
    everything = await alice.ids()
    await alice.save(text="Quarterly bond yields fell.")
    await alice.embed()

    by_time = await alice.ids(vector_search_term="pets", sort_by="sort_index")
    by_title = await alice.listed(vector_search_term="pets", sort_by="title")

    assert by_time == everything
    titles = [bookmark["tweet_details"]["text"] for bookmark in by_title["data"]]
    assert titles == sorted(titles, key=str.casefold)
    ascending = await alice.ids(vector_search_term="pets", sort_by="sort_index", sort_order="asc")
    assert ascending == everything[::-1]


@pytest.mark.parametrize("sort_by", ["relevance", "created_at", "author"])
async def test_pages_contain_every_post_once(alice: Member, sort_by: str) -> None:
    await alice.save_all([make.post(text=f"note {n} about birds") for n in range(25)])
    await alice.embed()
    whole = await alice.ids(vector_search_term="birds", sort_by=sort_by, limit=100)

    paged = await alice.crawl(vector_search_term="birds", sort_by=sort_by, limit=4)

    assert paged == whole
    assert len(set(paged)) == 25


async def test_changing_flags_labels_or_metrics_keeps_the_vector(alice: Member) -> None:
    post = make.post(text="Our kitten sleeps.", metrics={"favorite_count": 1})
    await alice.save_all([post])
    await alice.embed()

    post["tweet_details"]["meta"]["non_real_time_engagement_metrics"] = {"favorite_count": 99}
    await alice.save_all([{**post, "is_read": True, "tags": ["cats"]}])

    assert await alice.embed() == 0
    found = await alice.listed(vector_search_term="pets", is_unread_only="false")
    assert "vector_pending" not in found["meta"]
    assert len(found["data"]) == 1


async def test_a_deleted_post_is_found_again_only_after_it_is_restored(alice: Member) -> None:
    ids = await _filled(alice)

    await writing.send(alice, "DELETE", f"/v1/bookmarks/{ids['cat']}")
    gone = await alice.listed(vector_search_term="pets")
    assert ids["cat"] not in [bookmark["post_id"] for bookmark in gone["data"]]
    assert "vector_pending" not in gone["meta"]

    await writing.send(alice, "POST", f"/v1/bookmarks/{ids['cat']}/restore")
    assert (await alice.listed(vector_search_term="pets"))["meta"]["vector_pending"] == 1
    await alice.embed()
    assert (await alice.ids(vector_search_term="pets"))[0] == ids["cat"]
    assert await writing.recount(alice) == []


async def test_the_count_equals_the_length_of_the_list(alice: Member) -> None:
    ids = await _filled(alice, cat={"is_read": True})
    await alice.save(text="an invoice without a vector")

    for params in (
        {"vector_search_term": "pets"},
        {"vector_search_term": "pets", "q": "invoice"},
        {"vector_search_term": "pets", "q": "-invoice"},
        {"vector_search_term": "pets", "q": "?!"},
        {"vector_search_term": "pets", "is_unread_only": "false"},
        {"vector_search_term": "pets", "author": "nobody"},
    ):
        count = (await alice.get("/v1/bookmarks/count", **params)).json()["data"]["count"]
        listed = await alice.listed(**params, limit=100)
        assert count == listed["meta"]["total_count"] == len(listed["data"]), params
    assert len(ids) == 6


async def test_a_view_can_search_by_meaning(alice: Member) -> None:
    ids = await _filled(alice)
    path = await writing.view(alice, base_query={"vector_search_term": "pets"})

    shown = (await alice.get(f"{path}/bookmarks", limit=2)).json()

    assert shown["data"][0]["post_id"] == ids["cat"]
    found = shown["meta"]["total_count"]
    assert 1 <= found < len(TEXTS)
    assert (await alice.get(path)).json()["data"]["count"] == found
    assert (await alice.get("/v1/views")).json()["data"][0]["count"] == found
    await alice.save(text="Our cats and dogs are the best pets.")
    await alice.embed()
    assert (await alice.get(path)).json()["data"]["count"] == found + 1


async def test_a_cached_answer_is_valid_until_posts_or_vectors_change(alice: Member) -> None:
    await _filled(alice)
    first = await alice.get("/v1/bookmarks", vector_search_term="pets")
    tag = {"If-None-Match": first.headers["etag"]}
    path = "/v1/bookmarks?vector_search_term=pets"
    assert (await alice.client.get(path, headers=tag)).status_code == 304

    post = await alice.save(text="A parrot that talks.")
    waiting = await alice.client.get("/v1/bookmarks?%76ector_search_term=pets", headers=tag)
    assert waiting.status_code == 200
    await alice.embed()

    again = await alice.client.get("/v1/bookmarks?%76ector_search_term=pets")
    assert post["post_id"] in [bookmark["post_id"] for bookmark in again.json()["data"]]


async def test_the_error_reports_the_progress_of_the_build(cast: Service) -> None:
    alice = cast.alice
    await alice.save_all([make.post() for _ in range(3)])

    response = await alice.get("/v1/bookmarks", vector_search_term="pets", limit="0")

    assert response.status_code == 402
    assert response.json()["code"] == "VECTOR_SEARCH_NOT_ALLOWED"
    assert "The vector store is being built: 0 of 3" in response.json()["error"]
    assert (await alice.get("/v1/bookmarks/count", vector_search_term="x")).status_code == 402


@pytest.mark.parametrize("given", [{"vector_search_term": "pets"}, {"q": "the"}])
async def test_the_relevance_order_can_be_reversed(alice: Member, given: dict[str, str]) -> None:
    await alice.save_all([make.post(text="the cat " * n) for n in range(1, 6)])
    await alice.embed()
    best_first = await alice.ids(sort_by="relevance", **given)

    turned: list[str] = []
    cursor: dict[str, str] = {}
    for _ in range(3):
        page = await alice.listed(
            sort_by="relevance", sort_order="asc", limit="2", **given, **cursor
        )
        turned += [post["post_id"] for post in page["data"]]
        cursor = {"cursor": page["meta"]["next_cursor"]}

    assert turned == best_first[::-1]
    assert len(turned) == 5


async def test_a_view_by_meaning_returns_402_before_its_bucket_is_checked(alice: Member) -> None:
    await alice.save()
    body = {"name": "Pets", "base_query": {"vector_search_term": "pets"}}
    assert (await alice.client.post("/v1/views", json=body)).status_code == 201

    response = await alice.get("/v1/views/pets/bookmarks", bucket="none")

    assert writing.refused(response) == (402, "VECTOR_SEARCH_NOT_ALLOWED")


async def test_an_export_lists_the_nearest_posts_first(cast: Service) -> None:
    ids = await _filled(cast.alice)

    posts = await exported(cast, cast.alice, vector_search_term="pets")
    chosen = await exported(
        cast, cast.alice, vector_search_term="pets", tweet_ids=[ids["tax"], ids["cat"]]
    )

    assert posts[0]["post_id"] == ids["cat"]
    assert len(posts) < len(TEXTS)
    assert [post["post_id"] for post in chosen] == [ids["cat"], ids["tax"]]


async def test_chosen_posts_are_exported_even_if_they_rank_below_the_limit(
    cast: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A small limit, because a thousand nearer posts would make this test slow.
    monkeypatch.setattr(ranking, "RANKED_MAX", 3)
    cats = [make.post(text=f"A kitten and a cat, number {n}") for n in range(5)]
    far = make.post(text="Quarterly bond yields")
    await cast.alice.save_all([*cats, far])
    await cast.alice.embed()
    chosen = [far["post_id"], cats[0]["post_id"]]

    alone = await exported(cast, cast.alice, vector_search_term="pets", tweet_ids=chosen)
    with_words = await exported(
        cast, cast.alice, vector_search_term="pets", q="bond", tweet_ids=chosen
    )

    assert [post["post_id"] for post in alone] == chosen[::-1]
    assert {post["post_id"] for post in with_words} == set(chosen)


async def test_new_posts_count_as_pending_until_they_have_a_vector(alice: Member) -> None:
    await _filled(alice)
    assert "vector_pending" not in (await alice.listed(vector_search_term="pets"))["meta"]

    new = await alice.save(text="A puppy joined the family.")
    waiting = await alice.listed(vector_search_term="dogs")
    assert waiting["meta"]["vector_pending"] == 1
    assert new["post_id"] not in [bookmark["post_id"] for bookmark in waiting["data"]]
    by_word = await alice.ids(q="puppy", vector_search_term="dogs")
    assert new["post_id"] in by_word

    assert await alice.embed() == 1
    found = await alice.listed(vector_search_term="dogs")
    assert found["data"][0]["post_id"] == new["post_id"]
    assert "vector_pending" not in found["meta"]
