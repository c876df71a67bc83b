"""What q finds: addresses, parts, other forms, any text; and answers while no model can be used."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bowerbird import app
from bowerbird.library.vectors.builds import VectorBuilds, embedding_text
from bowerbird.model.posts.bookmarks import Post
from bowerbird.model.posts.media import attached_texts
from bowerbird.settings import Settings
from tests.search.test_index_tokens import LONG_WORDS
from tests.support import make
from tests.support.hosts.embedding_service import EmbeddingService, embedding_service
from tests.support.in_turn import in_turn
from tests.support.models import ignore
from tests.support.service import Member, Service

pytestmark = pytest.mark.anyio


LINKS = {
    "video": "https://www.youtube.com/watch?v=dQw4w9WgXcQ&utm_source=x&feature=share",
    "paper": "https://arxiv.org/pdf/2309.17453v2",
    "code": "https://github.com/Owner/name/issues/12?fbclid=123",
    "repository": "https://github.com/ada/nests",
    "branch": "https://github.com/ada/eggs/tree/main",
    "wiki": "https://en.wikipedia.org/wiki/Bowerbird",
    "forum": "https://www.reddit.com/r/birds/comments/abc12/nests/",
    "query": "https://shop.example/item?id=12&ref_src=tw",
}


def link(url: str, **fields: Any) -> dict[str, Any]:
    return {"type": "link", "url": url, **fields}


async def saved_links(member: Member) -> dict[str, str]:
    """Posts with a link each, one whose article has an address, and one that quotes a post."""
    posts = {name: make.post(attachments=[link(url)]) for name, url in LINKS.items()}
    posts["text"] = make.post(text="See https://nests.example/blue/caps?utm_medium=x.")
    article = {"title": "Nests", "plain_text": "More at http://www.old.example/a/b/ and here"}
    posts["article"] = make.post(article=article)
    quoted = {"post_id": "55", "text": "quoted", "link": "https://twitter.com/bob/status/55"}
    posts["quote"] = make.post(quoted=quoted)
    await member.save_all(list(posts.values()))
    return {name: post["post_id"] for name, post in posts.items()}


TYPED = [
    ("https://www.youtube.com/watch?v=dQw4w9WgXcQ", "video"),
    ("youtu.be/dQw4w9WgXcQ?si=abc", "video"),
    ("https://m.youtube.com/watch?app=desktop&v=dQw4w9WgXcQ&t=42s", "video"),
    ("dQw4w9WgXcQ", "video"),
    ("https://arxiv.org/abs/2309.17453", "paper"),
    ("2309.17453", "paper"),
    ("github.com/owner/name", "code"),
    ("HTTPS://GitHub.com/Owner/Name/", "code"),
    ("owner/name", "code"),
    ("url:github.com/owner", "code"),
    ("https://github.com/ada/nests/tree/main", "repository"),
    ("https://github.com/ada/nests.git", "repository"),
    ("https://github.com/ada/nests/tree/main?x=1#y", "repository"),
    ("HTTPS://GITHUB.COM/ADA/NESTS/TREE/MAIN/", "repository"),
    ("HTTPS://WWW.YOUTUBE.COM/Watch?v=dQw4w9WgXcQ", "video"),
    ("github.com/ada/nests?tab=readme-ov-file#readme", "repository"),
    ("github.com/ada/eggs", "branch"),
    ("https://github.com/ada/eggs/tree/main", "branch"),
    ("https://en.m.wikipedia.org/wiki/Bowerbird", "wiki"),
    ("old.reddit.com/r/birds/comments/abc12/nests", "forum"),
    ("https://export.arxiv.org/abs/2309.17453v1", "paper"),
    ("<https://music.youtube.com/watch?v=dQw4w9WgXcQ>", "video"),
    ("link:https://github.com/owner/name/issues/12", "code"),
    ("site:github.com/owner/name", "code"),
    ("https://shop.example/item?utm_campaign=y&id=12", "query"),
    ("url:shop.example", "query"),
    ("http://nests.example/blue/caps", "text"),
    ("nests.example/blue", "text"),
    ("https://old.example/a/b", "article"),
    ("https://x.com/i/status/55", "quote"),
    ("twitter.com/somebody/status/55?s=20", "quote"),
]


@pytest.mark.both
async def test_an_address_finds_the_post_that_links_to_it(alice: Member) -> None:
    ids = await saved_links(alice)

    assert {q: await alice.ids(q=q) for q, _ in TYPED} == {q: [ids[name]] for q, name in TYPED}


@pytest.mark.both
async def test_an_address_in_capitals_is_a_link(alice: Member) -> None:
    texts = ("See Https://nests.example/blue", "HTTP://NESTS.EXAMPLE/EGGS", "no address")
    ids = [(await alice.save(text=text))["post_id"] for text in texts]

    for q in ("has:link", "type:link", "filter:link", "media_type:link"):
        assert sorted(await alice.ids(q=q)) == sorted(ids[:2]), q
    assert sorted(await alice.ids(has="link")) == sorted(ids[:2])
    assert await alice.ids(media_type="link") == []
    assert await alice.ids(q="url:nests.example/eggs") == [ids[1]]


@pytest.mark.both
async def test_an_address_after_a_field_finds_what_is_below_it(alice: Member) -> None:
    links = {
        "music": "https://music.youtube.com/watch?v=dQw4w9WgXcQ",
        "video": "https://youtube.com/watch?v=aaaaaaaaaaa",
        "forum": "https://old.reddit.com/r/birds",
        "new": "https://www.reddit.com/r/nests",
        "branch": "https://github.com/ada/nests/tree/dev",
        "issue": "https://github.com/ada/nests/issues/1",
    }
    posts = {name: make.post(attachments=[link(url)]) for name, url in links.items()}
    await alice.save_all(list(posts.values()))
    names = {post["post_id"]: name for name, post in posts.items()}
    expected = {
        "url:music.youtube.com": {"music"},
        "url:youtube.com": {"music", "video"},
        "url:old.reddit.com": {"forum"},
        "url:reddit.com": {"forum", "new"},
        "url:reddit.com/r/birds": {"forum"},
        "url:github.com/ada/nests/tree/dev": {"branch"},
        "url:github.com/ada/nests/tree/main": set(),
        "https://github.com/ada/nests/tree/main": {"branch", "issue"},
    }

    found = {q: {names[id] for id in await alice.ids(q=q)} for q in expected}

    assert found == expected


@pytest.mark.both
async def test_another_address_of_a_site_finds_nothing(alice: Member) -> None:
    await saved_links(alice)

    for q in (
        "https://github.com/owner/other",
        "https://github.com/ada/nests/tree/main/src",
        "youtube.com/watch?v=aaaaaaaaaaa",
        "url:no.example",
    ):
        assert (await alice.listed(q=q))["data"] == [], q


@pytest.mark.both
async def test_the_address_of_a_post_finds_the_post_itself(alice: Member) -> None:
    record = await alice.save(text="a nest", author="ada")
    await alice.save(text="another nest")
    post_id = record["post_id"]

    for q in (f"https://x.com/ada/status/{post_id}", f"twitter.com/i/status/{post_id}?s=20"):
        assert await alice.ids(q=q) == [post_id], q
        assert await alice.ids(q=q, sort_by="relevance") == [post_id], q
        assert await alice.ids(q=f"nest -{q}") != [post_id], q


@pytest.mark.both
async def test_a_pasted_address_finds_only_its_post_by_words_and_meaning(alice: Member) -> None:
    ids = await saved_links(alice)
    await alice.embed()

    for q, name in (("https://github.com/Owner/name", "code"), ("youtu.be/dQw4w9WgXcQ", "video")):
        assert await alice.ids(q=q, vector_search_term=q) == [ids[name]], q


@pytest.mark.both
async def test_titles_are_found_by_their_words(alice: Member) -> None:
    card = link("https://a.example/1", title="How bower birds build", description="blue nests")
    by_card = await alice.save(text="look", attachments=[card])
    by_article = await alice.save(article={"title": "Blue nests", "plain_text": "bower birds"})

    assert await alice.ids(q="title:birds") == [by_card["post_id"]]
    assert await alice.ids(q='intitle:"bower birds"') == [by_card["post_id"]]
    assert await alice.ids(q="title:nests") == [by_article["post_id"]]
    assert await alice.ids(q="birds -title:birds") == [by_article["post_id"]]
    assert await alice.ids(q='title:"birds bower"') == []


@pytest.mark.both
@in_turn(
    ("text", "q"),
    [
        ("Die Krankenversicherungen werden wieder teurer, und das ist nicht gut.", "versicherung"),
        ("Die Krankenversicherung wird wieder teurer, und das ist nicht gut.", "kranken"),
        ("Der Hauptbahnhof ist wegen einer Störung für den Verkehr gesperrt.", "bahnhof"),
        ("De zorgverzekering is dit jaar duurder geworden voor iedereen.", "verzekering"),
        ("Jag har en sjukförsäkring som inte täcker det här.", "försäkring"),
        ("Det er en ny sykehusavdeling som ikke har åpnet ennå.", "sykehus"),
        ("Shipping a small thing every day #buildinpublic", "build in public"),
        ("Shipping a small thing every day #buildinpublic", "public"),
        ("New course for beginners #machinelearning", "machine learning"),
        ("We moved to Kubernetes last week", "k8s"),
        ("We moved to k8s last week", "Kubernetes"),
        ("A guide to i18n for small teams", "internationalization"),
        ("A guide to accessibility for small teams", "a11y"),
        ("Вчера был концерт, играли Чайковского", "Tchaikovsky"),
        ("В Москве сегодня снег", "moskva"),  # noqa: RUF001 - Cyrillic
        ("We spent a week in Moskva", "Москва"),
        ("Президент Зеленський сьогодні виступив", "Zelenskyy"),
        ("Ο Μητσοτάκης μίλησε χθες", "Mitsotakis"),  # noqa: RUF001 - Greek
    ],
)
async def test_a_part_or_another_form_finds_a_post(alice: Member, text: str, q: str) -> None:
    await alice.save(post_id="1", text=text)
    await alice.save(post_id="2", text="Another post about nothing")

    listed = await alice.listed(q=q)

    assert [post["post_id"] for post in listed["data"]] == ["1"], q
    assert not listed["meta"].get("relaxed"), q
    assert await alice.ids(q=q, sort_by="relevance") == ["1"], q


@pytest.mark.both
async def test_a_part_of_a_compound_ranks_below_the_word(alice: Member) -> None:
    texts = (
        "Die Versicherung zahlt nicht, und das ist gut.",
        "Die Krankenversicherung zahlt nicht.",
    )
    word, compound = [(await alice.save(text=text))["post_id"] for text in texts]

    assert await alice.ids(q="versicherung", sort_by="relevance") == [word, compound]
    assert await alice.ids(q='"versicherung"') == [word]


@pytest.mark.both
async def test_stop_words_are_not_required_beside_other_words(alice: Member) -> None:
    ids = [(await alice.save(text=text))["post_id"] for text in ("nests blue", "blue nests of it")]

    for q in ("the nests and blue", "nests or blue", "Is the nests blue"):
        assert await alice.ids(q=q) == ids[::-1], q
    assert await alice.ids(q="of it") == [ids[1]]
    assert await alice.ids(q='nests "of it"') == [ids[1]]


@pytest.mark.both
async def test_a_version_finds_itself_first(alice: Member) -> None:
    record = await alice.save(text="Released 2.0.0-rc.1 today")
    await alice.save(text="Released 1.0.0-rc.2 today, with 0 changes")
    await alice.save(text="Released 2.0.0 today")

    assert (await alice.ids(q="2.0.0-rc.1"))[0] == record["post_id"]
    assert (await alice.ids(q="2.0.0-rc.1", sort_by="relevance"))[0] == record["post_id"]


@pytest.mark.both
async def test_copies_appear_once_in_ranked_lists(alice: Member) -> None:
    text = "Bower birds collect blue things for their nests"
    copies = [(await alice.save(text=text))["post_id"] for _ in range(3)]
    other = (await alice.save(text="Blue bower"))["post_id"]
    linked = (await alice.save(text=text, attachments=[link("https://a.example/1")]))["post_id"]

    ranked = await alice.listed(q="bower birds OR blue", sort_by="relevance")
    shown = {post["post_id"]: post.get("copies", 1) for post in ranked["data"]}

    assert shown == {copies[-1]: 3, other: 1, linked: 1}
    assert ranked["meta"]["total_count"] == sum(shown.values()) == 5
    assert await alice.crawl(q="bower birds OR blue", sort_by="relevance", limit=1) == list(shown)
    assert set(await alice.ids(q="blue")) == {*copies, other, linked}


LINK = {
    "type": "link",
    "url": "https://www.example.org/a",
    "title": "Bowers of the satin bird",
    "description": "A field guide to ultramarine",
    "domain": "ornithology.example",
}

PICTURE = {"type": "image", "url": "https://img.example/1.jpg", "alt_text": "Heron on a jetty"}

POLL = {"type": "poll", "choices": ["Magpies", {"label": "Jackdaws", "votes": 3}]}

POST = make.post(
    text="Look",
    attachments=[LINK, PICTURE, POLL, {"type": "link", "url": "https://www.corvids.example/x"}],
    article={"title": "Essay", "preview_text": "Feathers at dawn"},
    quoted={
        "text": "Quoted",
        "author_username": "quill_pen",
        "author_details": {"name": "Quilla"},
        "attachments": [{"type": "image", "url": "u", "alt_text": "Kingfisher"}],
    },
)


@pytest.mark.both
@in_turn(
    ("q", "field"),
    [
        ("satin", "attachments.title"),
        ("ultramarine", "attachments.description"),
        ("ornithology.example", "attachments.domain"),
        ("corvids", "attachments.domain"),
        ("jetty", "attachments.alt_text"),
        ("magpies", "attachments.choices"),
        ("jackdaws", "attachments.choices"),
        ("kingfisher", "quoted_tweet.attachments.alt_text"),
        ("feathers", "article.preview_text"),
        ("quill_pen", "quoted_tweet.author_username"),
        ("quilla", "quoted_tweet.author_details.name"),
    ],
)
async def test_a_word_anywhere_in_a_post_finds_it(alice: Member, q: str, field: str) -> None:
    await alice.save_all([POST, make.post(post_id="5", text="Another post")])

    found = await alice.listed(q=q, highlight="true")

    assert [post["post_id"] for post in found["data"]] == [POST["post_id"]]
    assert found["data"][0]["highlight"]["field"] == field


@pytest.mark.both
@in_turn("word", LONG_WORDS)
async def test_a_word_of_thousands_of_letters_is_found(alice: Member, word: str) -> None:
    await alice.save(post_id="1", text=f"Look {word}")

    assert len((await alice.listed(q=f"look {word}"))["data"]) == 1


@pytest.mark.both
def test_the_embedded_text_has_the_texts_of_attachments() -> None:
    text = embedding_text(msgspec.convert(POST, Post))

    parts = ("satin", "ultramarine", "Heron on a jetty", "Magpies", "Jackdaws", "Kingfisher")
    assert [part for part in parts if part not in text] == []


_JSON: Any = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["type", "url", "title", "alt_text", "choices", "domain", "label"]),
            inner,
        )
    ),
)


@pytest.mark.both
@given(_JSON)
def test_attachments_may_have_any_fields(attachments: Any) -> None:
    assert all(name and text for name, text in attached_texts(attachments))


@pytest.fixture
def service() -> Iterator[EmbeddingService]:
    with embedding_service() as running:
        yield running


@pytest.fixture
async def remote(cast: Service, service: EmbeddingService, tmp_path: Path) -> AsyncIterator[Member]:
    """Alice on an instance that uses the embedding service, with a post that it has embedded."""
    settings = Settings(
        data_dir=tmp_path,
        embedding_url=service.url,
        embedding_key=service.key,
        embedding_model="tiny",
    )
    built = app.build(settings, cast.database, cast.clock)
    alice = cast.alice.on(built)
    await alice.save(text="red bird")
    builds = VectorBuilds(alice.database, built.models, alice.clock)
    await builds.build(alice.account_id, ignore)
    yield alice
    await alice.client.aclose()
    await built.models.close()


async def _vectors(member: Member) -> dict[str, Any]:
    shown: dict[str, Any] = (await member.get("/v1/account")).json()["data"]["vector_store"]
    return shown


async def test_search_by_meaning_returns_503_while_the_service_is_down_and_the_rest_works(
    remote: Member, service: EmbeddingService
) -> None:
    known = await remote.ids(vector_search_term="bird")
    service.key = "changed"

    response = await remote.get("/v1/bookmarks", vector_search_term="red")

    assert response.status_code == 503
    assert response.json()["code"] == "SERVICE_UNAVAILABLE"
    assert "the embedding service is not usable" in response.json()["error"]
    assert response.headers["retry-after"] == "30"
    assert (await _vectors(remote))["state"] == "unavailable"
    assert "embedding service" in (await _vectors(remote))["problem"]
    # Requests that need no new embedding still work.
    assert await remote.ids(vector_search_term="bird") == known
    count = await remote.get("/v1/bookmarks/count", vector_search_term="bird")
    assert count.json()["data"]["count"] == len(known)
    assert (await remote.get("/v1/bookmarks/count", vector_search_term="x")).status_code == 503
    assert len(await remote.ids(q="bird")) == 1
    service.key = "sesame"
    assert len(await remote.ids(vector_search_term="red")) == 1
    assert (await _vectors(remote))["state"] == "ready"


async def test_a_search_the_service_rejects_returns_503_and_does_not_affect_others(
    remote: Member, service: EmbeddingService
) -> None:
    service.refused = "poison"

    response = await remote.get("/v1/bookmarks", vector_search_term="poison")

    assert response.status_code == 503
    assert "it rejected this text" in response.json()["error"]
    assert (await _vectors(remote))["state"] == "ready"


async def test_a_change_in_the_vector_length_of_the_service_is_reported(
    remote: Member, service: EmbeddingService
) -> None:
    original = service.answer

    def shorter(body: dict[str, Any], authorization: str | None) -> tuple[int, bytes]:
        status, raw = original(body, authorization)
        return status, raw.replace(b"[0.01, ", b"[")

    service.answer = shorter  # type: ignore[method-assign] # simulates a different model

    response = await remote.get("/v1/bookmarks", vector_search_term="zebra")

    assert response.status_code == 503
    assert "vectors of 23 numbers, but 24 are stored." in response.json()["error"]


async def test_a_build_without_a_model_says_why_it_is_stuck(cast: Service, tmp_path: Path) -> None:
    settings = Settings(data_dir=tmp_path, model_dir=str(tmp_path / "none"))
    alice = cast.alice.on(app.build(settings, cast.database, cast.clock))
    await alice.save(text="red bird")

    response = await alice.get("/v1/bookmarks", vector_search_term="red")

    assert response.status_code == 402
    assert "0 of 1 posts (the embedding model is not installed" in response.json()["error"]
    assert (await _vectors(alice))["state"] == "unavailable"
    await cast.alice.embed()
    built = await alice.get("/v1/bookmarks", vector_search_term="red")
    assert built.status_code == 503
    assert "bowerbird model" in built.json()["error"]
    await alice.client.aclose()
