"""vector_search_term, alone and with q; what is said about it, and similar posts."""

from typing import Any

import pytest

from bowerbird.library.bookmarks.searching import ranking
from bowerbird.library.vectors.semantic_search import Matrices, SemanticSearch
from bowerbird.search.meaning.arrays import np
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


@pytest.mark.parametrize("meaning", ["birds", "birds -cats"])
async def test_words_without_a_letter_match_nothing_by_meaning_too(
    alice: Member, meaning: str
) -> None:
    await alice.save(post_id="1", text="A heron at the lake")
    await alice.embed()

    answer = await alice.get("/v1/bookmarks", q="?!", vector_search_term=meaning)

    assert answer.json()["data"] == []
    assert answer.json()["meta"]["hint"] == "The search has no words."


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


async def test_a_count_needs_no_likeness(alice: Member, monkeypatch: pytest.MonkeyPatch) -> None:
    await _filled(alice)
    asked = {"vector_search_term": "pets", "q": "kitten sourdough orbit knee invoice generators"}
    path = "/v1/bookmarks/count"
    nobody = await alice.get(path, **asked, author="nobody")
    listed = await alice.listed(**asked, author="nobody")
    monkeypatch.setattr(SemanticSearch, "likeness", None)

    assert nobody.json()["data"]["count"] == listed["meta"]["total_count"] == 0
    assert (await alice.get(path, **asked)).json()["data"]["count"] >= 1


async def test_the_next_page_of_a_long_query_reads_no_vectors(
    alice: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = [f"The heron nests beside a quiet river, note {n}" for n in range(3)]
    await alice.save_all([make.post(text=text) for text in texts])
    await alice.embed()
    asked = {"q": QUESTION, "vector_search_term": QUESTION, "limit": 2}
    cursor = (await alice.listed(**asked))["meta"]["next_cursor"]
    monkeypatch.setattr(Matrices, "of", None)

    assert len((await alice.listed(**asked, cursor=cursor))["data"]) == 1


async def test_likeness_orders_only_the_best_again(
    alice: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = [f"The heron nests beside a quiet river, {n} {'reed ' * (n % 9)}" for n in range(130)]
    await alice.save_all([make.post(text=text) for text in texts])
    await alice.embed()

    async def listed(likeness: float, *, is_unread_only: bool) -> tuple[list[str], list[float]]:
        async def spread(*given: Any) -> Any:
            return np.linspace(-likeness, likeness, len(given[3]), dtype=np.float32)

        monkeypatch.setattr(SemanticSearch, "likeness", spread)
        question = {"q": QUESTION, "vector_search_term": QUESTION}
        # Another filter, because answers are kept.
        asked = {**question, "limit": 100, "is_unread_only": is_unread_only}
        first = await alice.listed(**asked)
        second = await alice.listed(**asked, cursor=first["meta"]["next_cursor"])
        posts = [*first["data"], *second["data"]]
        return [post["post_id"] for post in posts], [post["score"] for post in posts]

    without, _ = await listed(0, is_unread_only=True)
    ids, scores = await listed(1, is_unread_only=False)

    assert scores == sorted(scores, reverse=True)
    assert ids[:100] != without[:100]
    assert set(ids[:100]) == set(without[:100])
    assert ids[100:] == without[100:]


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


async def _both(member: Member, text: str, **params: Any) -> list[dict[str, Any]]:
    listed = await member.listed(q=text, vector_search_term=text, limit=100, **params)
    found: list[dict[str, Any]] = listed["data"]
    return found


async def test_an_exact_hit_among_similar_texts_is_in_the_first_ten(alice: Member) -> None:
    posts = [
        make.post(
            text=f"Low-rank adaptation of language models, a paper on arXiv: 2106.{9600 + n}",
            author=f"reader{n}",
        )
        for n in range(60)
    ]
    await alice.save_all(posts)
    await alice.embed()
    wanted = posts[41]

    for text in ("@reader41", "reader41", "2106.9641", "arXiv 2106.9641"):
        first_ten = [post["post_id"] for post in (await _both(alice, text))[:10]]
        assert wanted["post_id"] in first_ten, text


async def test_nearness_counts_less_in_a_script_that_no_model_knows(alice: Member) -> None:
    ids = await _filled(alice)
    greek = make.post(text="Γάτες που κοιμούνται όλη την ημέρα δίπλα στο παράθυρο.")
    await alice.save_all([greek, make.post(text="Πράσινη πόρτα.")])
    await alice.embed()

    async def score(asked: str, post_id: str, **words: str) -> float:
        listed = await alice.listed(vector_search_term=asked, **words)
        found: float = next(p["score"] for p in listed["data"] if p["post_id"] == post_id)
        return found

    # These posts have none of the words.
    for asked, post_id, share in (
        ("σκύλος κοντά πόρτα", greek["post_id"], 0.4),
        ("pets", ids["cat"], 1),
    ):
        by_meaning = await score(asked, post_id)
        both = await score(asked, post_id, q=asked)
        assert both == pytest.approx(share * by_meaning, abs=1e-4), asked


async def test_posts_with_a_common_word_come_before_similar_ones_without_it(alice: Member) -> None:
    texts = [
        f"A walk by the river this morning, note {n}{' with zephyr' * (n % 5 > 0)}"
        for n in range(155)
    ]
    await alice.save_all([make.post(text=text) for text in texts])
    await alice.embed()

    found = await _both(alice, "zephyr")

    assert sum("zephyr" in text for text in texts) == 124
    assert all("zephyr" in post["tweet_details"]["text"] for post in found[:30])


@pytest.mark.both
async def test_a_typo_is_forgiven_and_corrected(alice: Member) -> None:
    await alice.save_all([make.post(text="Kubernetes restarted the pod"), make.post(text="Tea")])
    await alice.embed()

    listed = await alice.listed(q="kubrenetes", vector_search_term="kubrenetes")

    assert listed["data"][0]["tweet_details"]["text"].startswith("Kubernetes")
    assert listed["meta"]["did_you_mean"] == "kubernetes"


QUESTION = "which herons nest beside quiet rivers"

SOME_WORDS = "how does the starter of a sourdough loaf rise quickly"

READY = "To search by meaning, send the question as vector_search_term."

BUILDING = "Search by meaning is not ready yet: the vectors are being built."

TEXT = "My sourdough starter doubled overnight and the loaf has a crisp crust"


async def hint(member: Member, **params: str) -> str:
    return str((await member.listed(**params))["meta"].get("hint", ""))


async def test_a_question_is_told_about_search_by_meaning_once_it_is_ready(alice: Member) -> None:
    await alice.save(text=TEXT)
    before = await alice.get("/v1/bookmarks", q=QUESTION)
    assert before.json()["meta"]["hint"].endswith(BUILDING)
    await alice.embed()

    again = await alice.client.get(
        "/v1/bookmarks",
        params={"q": QUESTION},
        headers={"If-None-Match": before.headers["etag"]},
    )

    assert again.status_code == 200, "the hint has changed, although the library has not"
    assert again.json()["meta"]["hint"].endswith(READY)
    assert again.json()["meta"]["hint"].startswith("No post has the words")
    assert (await alice.get("/v1/bookmarks", vector_search_term=QUESTION)).status_code == 200


async def test_new_vectors_do_not_change_the_etag_of_a_question_by_words(alice: Member) -> None:
    await alice.save(text=TEXT)
    await alice.embed()
    await alice.save(text="a heron")
    answers = [
        await alice.get("/v1/bookmarks", q=question)
        for question in ("sourdough starter doubled overnight", SOME_WORDS, QUESTION)
    ]

    await alice.embed()

    for answer in answers:
        headers = {"If-None-Match": answer.headers["etag"]}
        again = await alice.client.get(answer.request.url, headers=headers)
        assert again.status_code == 304, answer.json()


async def test_posts_with_some_of_the_words_are_told_it_too_once_it_is_ready(alice: Member) -> None:
    await alice.save(text=TEXT)
    some = "No post has all of these words. These have some of them."
    assert await hint(alice, q=SOME_WORDS) == some
    await alice.embed()

    assert await hint(alice, q=SOME_WORDS) == f"{some} {READY}"


async def test_other_searches_are_not_told_about_it(alice: Member, free: Member) -> None:
    for member in (alice, free):
        await member.save(text=TEXT)
        await member.save(text="herons by the river", is_read=True)
    await alice.embed()

    assert READY not in await hint(alice, q="herons rivers"), "two words are no question"
    assert await hint(alice, q="sourdough starter doubled overnight") == "", "it has been found"
    assert READY not in await hint(alice, q="herons by the river"), "read posts have all words"
    assert READY not in await hint(alice, q=QUESTION, vector_search_term=QUESTION)
    assert READY not in await hint(free, q=QUESTION), "the plan does not include it"
    assert BUILDING not in await hint(free, q=QUESTION)


async def test_a_search_by_meaning_counts_the_posts_that_it_cannot_find_yet(alice: Member) -> None:
    first = await alice.save(text=TEXT)
    await alice.embed()
    await alice.save_all([make.post(post_id="7", text="a heron"), make.post(text="a rocket")])

    listed = await alice.listed(vector_search_term="baking bread")
    near = (await alice.get(f"/v1/bookmarks/{first['post_id']}/similar")).json()

    for answer in (listed, near):
        assert answer["meta"]["vector_pending"] == 2
        assert answer["meta"]["hint"].endswith(
            "2 posts cannot be found by meaning yet: their vectors are being built."
        )
    assert "7" not in await alice.ids(vector_search_term="heron")
    # By its words it is found at once.
    assert "7" in await alice.ids(q="heron", vector_search_term="heron")
    assert await alice.embed() == 2
    assert (await alice.ids(vector_search_term="heron"))[0] == "7"
    assert "vector_pending" not in (await alice.listed(vector_search_term="bread"))["meta"]
    assert await hint(alice, vector_search_term="baking bread") == ""


BIRDS = "Bowerbirds collect blue things."

TEXTS_SIMILAR = (BIRDS, "Crows hide shiny objects in the garden.", "The bank raised its rates.")


async def _filled_similar(member: Member) -> list[str]:
    posts = [make.post(text=text) for text in TEXTS_SIMILAR]
    await member.save_all(posts)
    await member.embed()
    return [post["post_id"] for post in posts]


async def _similar(member: Member, post_id: str, **params: object) -> list[str]:
    response = await member.get(f"/v1/bookmarks/{post_id}/similar", **params)
    assert response.status_code == 200, response.text
    return [bookmark["post_id"] for bookmark in response.json()["data"]]


async def test_the_nearest_posts_come_first_without_the_post_itself(alice: Member) -> None:
    birds, crows, bank = await _filled_similar(alice)

    assert await _similar(alice, birds) == [crows, bank]
    assert await _similar(alice, birds, limit=1) == [crows]


@pytest.mark.both
async def test_read_posts_are_shown_and_archived_ones_hidden(alice: Member) -> None:
    birds, crows, bank = await _filled_similar(alice)
    await writing.send(alice, "PATCH", f"/v1/bookmarks/{crows}", {"is_read": True})
    await writing.send(alice, "PATCH", f"/v1/bookmarks/{bank}", {"is_archived": True})

    assert await _similar(alice, birds) == [crows]
    assert await _similar(alice, birds, is_unread_only="true") == []
    assert await _similar(alice, birds, hide_archived="false") == [crows, bank]


async def test_a_post_without_a_vector_has_no_similar_posts_yet(alice: Member) -> None:
    await _filled_similar(alice)
    new = await alice.save(text=BIRDS)

    response = await alice.get(f"/v1/bookmarks/{new['post_id']}/similar")

    assert response.json()["data"] == []
    assert response.json()["meta"]["vector_pending"] == 1
    await alice.embed()
    assert len(await _similar(alice, new["post_id"])) == 3


async def test_similar_posts_need_a_paid_plan_and_vectors(alice: Member, free: Member) -> None:
    for member in (alice, free):
        await member.save(post_id="5")
        response = await member.get("/v1/bookmarks/5/similar", limit=0)
        assert writing.refused(response) == (402, "VECTOR_SEARCH_NOT_ALLOWED")
