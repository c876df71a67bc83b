"""q finds posts by addresses, titles, parts of compounds and hashtags, and abbreviations."""

from typing import Any

import pytest

from tests.support import make
from tests.support.in_turn import in_turn
from tests.support.service import Member

pytestmark = [pytest.mark.anyio, pytest.mark.both]

LINKS = {
    "video": "https://www.youtube.com/watch?v=dQw4w9WgXcQ&utm_source=x&feature=share",
    "paper": "https://arxiv.org/pdf/2309.17453v2",
    "code": "https://github.com/Owner/name/issues/12?fbclid=123",
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


async def test_an_address_finds_the_post_that_links_to_it(alice: Member) -> None:
    ids = await saved_links(alice)

    assert {q: await alice.ids(q=q) for q, _ in TYPED} == {q: [ids[name]] for q, name in TYPED}


async def test_another_address_of_a_site_finds_nothing(alice: Member) -> None:
    await saved_links(alice)

    for q in (
        "https://github.com/owner/other",
        "youtube.com/watch?v=aaaaaaaaaaa",
        "url:no.example",
    ):
        assert (await alice.listed(q=q))["data"] == [], q


async def test_the_address_of_a_post_finds_the_post_itself(alice: Member) -> None:
    record = await alice.save(text="a nest", author="ada")
    await alice.save(text="another nest")
    post_id = record["post_id"]

    for q in (f"https://x.com/ada/status/{post_id}", f"twitter.com/i/status/{post_id}?s=20"):
        assert await alice.ids(q=q) == [post_id], q
        assert await alice.ids(q=q, sort_by="relevance") == [post_id], q
        assert await alice.ids(q=f"nest -{q}") != [post_id], q


async def test_a_pasted_address_finds_only_its_post_by_words_and_meaning(alice: Member) -> None:
    ids = await saved_links(alice)
    await alice.embed()

    for q, name in (("https://github.com/Owner/name", "code"), ("youtu.be/dQw4w9WgXcQ", "video")):
        assert await alice.ids(q=q, vector_search_term=q) == [ids[name]], q


async def test_titles_are_found_by_their_words(alice: Member) -> None:
    card = link("https://a.example/1", title="How bower birds build", description="blue nests")
    by_card = await alice.save(text="look", attachments=[card])
    by_article = await alice.save(article={"title": "Blue nests", "plain_text": "bower birds"})

    assert await alice.ids(q="title:birds") == [by_card["post_id"]]
    assert await alice.ids(q='intitle:"bower birds"') == [by_card["post_id"]]
    assert await alice.ids(q="title:nests") == [by_article["post_id"]]
    assert await alice.ids(q="birds -title:birds") == [by_article["post_id"]]
    assert await alice.ids(q='title:"birds bower"') == []


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


async def test_a_part_of_a_compound_ranks_below_the_word(alice: Member) -> None:
    texts = (
        "Die Versicherung zahlt nicht, und das ist gut.",
        "Die Krankenversicherung zahlt nicht.",
    )
    word, compound = [(await alice.save(text=text))["post_id"] for text in texts]

    assert await alice.ids(q="versicherung", sort_by="relevance") == [word, compound]
    assert await alice.ids(q='"versicherung"') == [word]


async def test_stop_words_are_not_required_beside_other_words(alice: Member) -> None:
    ids = [(await alice.save(text=text))["post_id"] for text in ("nests blue", "blue nests of it")]

    for q in ("the nests and blue", "nests or blue", "Is the nests blue"):
        assert await alice.ids(q=q) == ids[::-1], q
    assert await alice.ids(q="of it") == [ids[1]]
    assert await alice.ids(q='nests "of it"') == [ids[1]]


async def test_a_version_finds_itself_first(alice: Member) -> None:
    record = await alice.save(text="Released 2.0.0-rc.1 today")
    await alice.save(text="Released 1.0.0-rc.2 today, with 0 changes")
    await alice.save(text="Released 2.0.0 today")

    assert (await alice.ids(q="2.0.0-rc.1"))[0] == record["post_id"]
    assert (await alice.ids(q="2.0.0-rc.1", sort_by="relevance"))[0] == record["post_id"]


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


async def test_newer_posts_come_first_among_equal_scores(alice: Member) -> None:
    posts = [
        make.post(text=f"blue nest {name}", sort_index=100 - n) for n, name in enumerate("abc")
    ]
    await alice.save_all(posts)

    found = await alice.ids(q="blue nest", sort_by="relevance")

    assert found == [post["post_id"] for post in posts]
