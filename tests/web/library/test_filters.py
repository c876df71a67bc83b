"""Filters, what is typed, suggestions, and rows of a list."""

import re
from html import unescape
from typing import Any
from urllib.parse import urlencode

import pytest

from bowerbird.model.posts.networks import LEFT, SENTENCES, FailedLink, Reason
from bowerbird.storage.database import Writable
from bowerbird.storage.links import LinkStore
from bowerbird.web.library import filters
from tests.support import writing
from tests.support.digesting import instant
from tests.support.posts.operators import QUERIES, fill
from tests.support.saving import stored
from tests.support.visiting import form_token
from tests.web.house import House, Reader, ids

pytestmark = pytest.mark.anyio


FILTERED = "/library?is_unread_only=false"


def phrases(page: str) -> dict[str, str]:
    """The filters that are applied, and the address of the list without each."""
    found = re.findall(r'class="x" href="([^"]+)".*?Remove the filter “([^”]+)”', page)
    return {unescape(phrase): unescape(url) for url, phrase in found}


APPLIED = {
    "media_type=image": "type image",
    "tag=birds+%26+bees": "label birds & bees",
    "author=%40ines": "by @ines",
    "label=a,b&label_match=all": "labels a,b",
    "has_note=true": "with a note",
    "unlabelled=true": "without a label",
    "has=highlight": "with highlight",
    "is_reply=false": "without replies",
    "is_gone=true": "gone from its network",
    "is_duplicate=true": "with a copy",
    "min_words=500": "words, at least 500",
    "linked_site=example.com": "with a link to example.com",
    "language=de,und": "language Deutsch, unknown",
    "network=Twitter.com": "on X",
    "posted_from=today": "posted today",
    "bookmarked_from=today-6d": "saved in the last 7 days",
    "bookmarked_from=2026-01-01": "saved this year",
    "bookmarked_from=2025-03-01": "saved since 1 Mar 2025",
    "posted_to=2025-03-01": "posted until 1 Mar 2025",
    "posted_from=2025-03-01&posted_to=2025-03-02": "posted 1 Mar 2025 to 2 Mar 2025",
    "posted_from=-7d": "posted after -7d",
    "q=is%3Aread": "state read",
}


async def test_an_applied_filter_is_a_phrase_that_can_be_removed(ann: Reader) -> None:
    ann.house.clock.now = instant("2026-07-18T12:00:00+00:00")
    await ann.member.save()

    shown = {query: phrases(await ann.page(f"{FILTERED}&{query}")) for query in APPLIED}

    assert shown == {query: {phrase: FILTERED} for query, phrase in APPLIED.items()}


async def test_an_option_keeps_the_search_and_the_other_filters(ann: Reader) -> None:
    await ann.member.save(text="a nest", tags=["Birds"])
    await ann.member.save(text="a nest")

    page = await ann.page(f"{FILTERED}&q=nest&has_note=false")

    links = [unescape(url) for url in re.findall(r'<li><a href="([^"]+)"', page)]
    assert f"{FILTERED}&tag=Birds&has_note=false&q=nest" in links
    assert f"{FILTERED}&has_note=false&bookmarked_from=today&q=nest" in links
    assert "/library?has_note=false&q=nest+is%3Aread" in links
    assert page.count('<input type="hidden" name="has_note" value="false">') == 7


async def test_a_panel_finds_names_that_start_like_the_typed_one(ann: Reader) -> None:
    await ann.member.save(author="tomasz", name="<b>Tomasz</b>", tags=["field notes"])

    authors = await ann.page("/library/panels/author?text=tom")
    labels = await ann.page(f"/library/panels/label?{FILTERED.partition('?')[2]}&text=NOTES")

    assert 'href="/library?author=%40tomasz"' in authors
    assert "&lt;b&gt;Tomasz&lt;/b&gt;" in authors
    assert f'href="{FILTERED}&amp;tag=field+notes"' in labels
    assert "No such author." in await ann.page("/library/panels/author?text=nobody")
    languages = await ann.page("/library/panels/language?text=deu")
    assert 'href="/library?language=de"><span class="t" lang="de"><bdi>Deutsch' in languages
    networks = await ann.page("/library/panels/network?text=T")
    assert re.findall(r"<bdi>(\w+)</bdi>", networks) == ["TikTok", "Tumblr", "Threads"]
    assert (await ann.person.open("/library/panels/month")).status_code == 404


async def test_the_panel_of_languages_counts_the_posts_of_the_list(ann: Reader) -> None:
    for code in ("en", "de", "de", "und"):
        await ann.member.save(meta={"language": code})

    panel = await ann.page("/library/panels/language?language=en")

    counts = re.findall(r'lang="(\w+)"><bdi>(\w+)</bdi></span><span class="count">(\d)', panel)
    assert counts == [("de", "Deutsch", "2"), ("en", "English", "1")]


@pytest.mark.parametrize(
    ("text", "rest", "found"),
    [
        ("blue from:ada pen", "blue pen", {"author": "ada"}),
        ('author:"Ada  L." nest', "nest", {"author": "Ada L."}),
        ("label:birds tag:nests", "tag:nests", {"tag": "birds"}),
        ("has:photos has:note", "", {"media_type": "image", "has_note": "true"}),
        ("type:article", "", {"media_type": "article"}),
        ("lang:pt-BR language:de", "language:de", {"language": "pt"}),
        ("nest site:youtube", "nest", {"network": "youtube"}),
        ("network:bsky", "", {"network": "bluesky"}),
        (
            "since:2026-01 until:2026-03-01",
            "",
            {"posted_from": "2026-01-01", "posted_to": "2026-02-28"},
        ),
        ("after:-7d before:-3d", "", {"posted_from": "-7d", "posted_to": "-3d"}),
        ("after:2026-01-01T08:00Z", "", {"posted_from": "2026-01-01T08:00:00.000000+00:00"}),
        ("is:read x", "is:read x", {}),
        (
            "-from:ada (label:a) has:link OR has:poll",
            "-from:ada (label:a) has:link OR has:poll",
            {},
        ),
        ("after:7d until:yesterday", "", {"posted_from": "-7d", "posted_to": "today-2d"}),
        ("is:thread", "", {"media_type": "thread"}),
        ('since:"last month" has:media', 'since:"last month" has:media', {}),
        ("has:nothing since:never", "has:nothing since:never", {}),
        # In Unicode, a long s is an s without regard to case.
        ("\u017fince:2026-01 ha\u017f:note \u0130s:read", None, {}),
        ('"from:ada" https://by:8080/', '"from:ada" https://by:8080/', {}),
    ],
)
def test_a_typed_field_becomes_a_filter(text: str, rest: str | None, found: dict[str, str]) -> None:
    assert filters.taken(text) == (text if rest is None else rest, found)


async def test_the_search_box_understands_every_operator(ann: Reader) -> None:
    names = await fill(ann.member)
    await ann.member.embed()
    wrong = {}
    for query, expected in QUERIES:
        asked = {"search": query, "by": "words", "is_unread_only": "false", "limit": "100"}
        address = f"/library?{urlencode({**asked, 'hide_archived': 'false'})}"
        found = {names[one] for one in ids(await ann.page(address))}
        if found != expected:
            wrong[query] = sorted(found ^ expected)
    assert wrong == {}


async def test_a_search_in_the_trash_leads_to_it(ann: Reader) -> None:
    kept = await ann.member.save(text="a red pen")
    for text in ("a blue pen", "a blue cap", "a red cap"):
        gone = await ann.member.save(text=text)
        await writing.send(ann.member, "DELETE", f"/v1/bookmarks/{gone['post_id']}")

    for by in ("words", "meaning", "both"):
        page = await ann.page(f"/library?{urlencode({'search': 'blue in:trash', 'by': by})}")
        assert ("a blue pen" in page, "a blue cap" in page) == (True, True)
        assert "a red" not in page
        all_of_it = await ann.page(f"/library?{urlencode({'search': 'in:trash', 'by': by})}")
        assert "a red cap" in all_of_it
        assert kept["post_id"] not in all_of_it
    # The trash understands it too, and a search that excludes it stays in the library.
    assert "a red cap" in await ann.page("/trash?q=in%3Atrash+red")
    assert ids(await ann.page("/library?search=red+-in%3Atrash&by=words")) == [kept["post_id"]]


AS_SCRIPT = {"Accept": "application/json"}


async def suggest(reader: Reader, text: str) -> tuple[list[str], list[str]]:
    """The names of labels, and the handles of authors."""
    answer = await reader.person.client.get("/library/suggest", params={"text": text})
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return [each["name"] for each in found["labels"]], [each["handle"] for each in found["authors"]]


async def test_labels_and_authors_are_suggested_by_a_part_of_their_name(ann: Reader) -> None:
    await ann.member.save(author="Mara_L", name="Mara Lindqvist", tags=["Marsh birds"])
    await ann.member.save(author="zed", name="Marta Zed", tags=["Databases"])
    await ann.member.save(author="mara_l", name="Mara Lindqvist")
    await ann.member.save(author="ömer", name="Ömer", tags=["Äpfel"])

    assert await suggest(ann, "MAR") == (["Marsh birds"], ["mara_l", "zed"])
    assert await suggest(ann, "@mar") == ([], ["mara_l"])
    assert await suggest(ann, "#mar") == (["Marsh birds"], [])
    assert await suggest(ann, "ö") == ([], ["ömer"])
    assert await suggest(ann, "ÄP") == (["Äpfel"], [])


async def test_odd_texts_suggest_nothing(ann: Reader) -> None:
    await ann.member.save(author="ada", tags=["Birds"])

    for text in ("", " ", "@", "#", "%", "_", "x" * 101, "a\x00b", "\U0010ffff"):
        assert await suggest(ann, text) == ([], []), text


async def test_a_free_account_gets_only_what_it_can_use(free: Reader) -> None:
    await free.member.save(author="ada", tags=["Adapted"])

    assert await suggest(free, "ad") == ([], ["ada"])


@pytest.mark.both
async def test_the_palette_gets_views_and_labels(ann: Reader) -> None:
    await ann.member.save(tags=["Birds & bees"])
    view = {"base_query": {"media_type": "article"}}
    for name in ("Long reads", "New"):
        await writing.send(ann.member, "POST", "/v1/views", {**view, "name": name})
    birds = await writing.label_id(ann.member, "Birds & bees")
    await writing.send(ann.member, "PATCH", f"/v1/labels/{birds}", {"color": "plum"})

    places = (await ann.person.client.get("/library/places")).json()

    assert places["views"] == [
        {"name": "Long reads", "url": "/views/long-reads"},
        # Without the end, it is the page that creates a view.
        {"name": "New", "url": "/views/new/posts"},
    ]
    [label] = places["labels"]
    assert label["name"] == "Birds & bees"
    assert (label["count"], label["colour"]) == (1, "plum")
    assert label["url"] == "/library?is_unread_only=false&hide_archived=false&tag=Birds+%26+bees"


@pytest.mark.both
async def test_a_script_changes_a_post_and_gets_a_short_answer(ann: Reader) -> None:
    post_id = (await ann.member.save())["post_id"]
    token = form_token(await ann.page("/library"))

    async def change(**fields: str) -> Any:
        return await ann.person.post("/library/change", headers=AS_SCRIPT, **fields)

    read = await change(csrf=token, read=post_id)
    assert read.json() == {"said": "Marked read.", "undo": "unread"}
    assert (await stored(ann.member, post_id))["is_read"] is True

    unknown = await change(csrf=token, read="42")
    assert unknown.status_code == 404
    assert "no longer in your library" in unknown.json()["error"]
    forged = await change(csrf="a.b", archive=post_id)
    assert forged.status_code == 403
    assert "form is out of date" in forged.json()["error"]
    assert (await stored(ann.member, post_id))["is_archived"] is False


ALL = "/library?is_unread_only=false"


def buttons(page: str) -> list[str]:
    """The values of the buttons that mark posts: each post, and the next one."""
    return re.findall(r'name="(?:un)?read" value="([^"]*)"', page)


async def test_a_page_is_the_same_when_it_is_shown_again(ann: Reader) -> None:
    for number in range(3):
        await ann.member.save(text=f"post {number} <b>", tags=["Birds"])

    first, second = await ann.page(ALL), await ann.page(ALL)

    rows = [re.findall(r"<li id=\"p-.*?</li>", page, re.DOTALL) for page in (first, second)]
    assert rows[0] == rows[1]
    assert len(rows[0]) == 3
    listed = ids(first)
    assert buttons(first) == [f"{listed[0]} {listed[1]}", f"{listed[1]} {listed[2]}", listed[2]]


async def test_every_change_is_shown(ann: Reader) -> None:
    post = await ann.member.save(text="jackdaw", tags=["Birds"], name="Ada")
    other = await ann.member.save(text="other")
    await ann.page(ALL)

    await ann.member.change(post, is_read=True)
    assert f'name="unread" value="{post["post_id"]}"' in await ann.page(ALL)
    path = f"/v1/labels/{await writing.label_id(ann.member, 'Birds')}"
    await writing.send(ann.member, "PATCH", path, {"color": "rust"})
    assert '<span class="dot rust"></span><bdi>Birds</bdi></a></div>' in await ann.page(ALL)
    await writing.send(ann.member, "PATCH", path, {"label_name": "Owls"})
    assert "<bdi>Owls</bdi></a></div>" in await ann.page(ALL)
    await ann.member.save(post_id=post["post_id"], text="magpie", sort_index=post["sort_index"])
    page = await ann.page(ALL)
    assert ">magpie</p>" in page
    assert "jackdaw" not in page
    # The next post is that of the list, not the one of the time when the row was drawn.
    assert f"{other['post_id']} {post['post_id']}" in buttons(page)
    await ann.change(ALL, trash=post["post_id"])
    assert buttons(await ann.page(ALL)) == [other["post_id"]]


async def test_day_language_time_zone_and_density_change_what_is_shown(
    ann: Reader, house: House
) -> None:
    await ann.member.save(bookmarked_at="2026-05-03T22:30:00+00:00")

    assert ">3 May" in await ann.page(ALL)
    ann.person.client.headers["Accept-Language"] = "de"
    assert ">3. Mai" in await ann.page(ALL)
    await ann.person.send("/account/preferences", "/account", time_zone="Europe/Berlin")
    assert ">4. Mai" in await ann.page(ALL)
    assert 'class="av ' in await ann.page(ALL)
    assert 'class="av ' not in await ann.page(f"{ALL}&density=compact")
    house.clock.now = 1_777_933_800_000_000  # 4 May 2026, 22:30 UTC
    assert 'class="day" dir="auto">Saved yesterday<' in await ann.page(ALL)


async def test_the_same_post_of_two_people_has_the_colours_of_each(
    ann: Reader, bob: Reader
) -> None:
    for reader in (ann, bob):
        await reader.member.save(post_id="77", text="same", tags=["Birds"], sort_index=5)
    path = f"/v1/labels/{await writing.label_id(ann.member, 'Birds')}"
    await writing.send(ann.member, "PATCH", path, {"color": "rust"})

    assert '<span class="dot rust"></span><bdi>Birds</bdi></a></div>' in await ann.page(ALL)
    assert "dot rust" not in await bob.page(ALL)


def dates(page: str, post_id: str) -> str:
    """What a row says about when, and its link."""
    row = page.partition(f'id="p-{post_id}"')[2].partition("</li>")[0]
    found = re.search(r'<a class="when".*?</a>(<span class="saved">.*?</span>)?', row)
    assert found, row
    return " ".join(re.sub(r"<[^>]+>", " ", found[0]).split())


async def test_a_row_says_when_a_post_was_posted_and_saved(ann: Reader, house: House) -> None:
    house.clock.now = 1_777_933_800_000_000  # 4 May 2026, 22:30 UTC
    posted = "2025-08-16T06:00:00+00:00"
    post = await ann.member.save(posted_at=posted, bookmarked_at="2026-05-04T08:12:00+00:00")
    no_date = {"bookmarked_at": None, "imported_at": None, "sort_index": None}
    record = {name: value for name, value in (post | no_date).items() if value is not None}
    await ann.member.save_all([record | {"post_id": "77"}])

    page = await ann.page(ALL)
    assert dates(page, post["post_id"]) == "16 Aug 2025 saved 08:12"
    assert dates(page, "77") == "16 Aug 2025 imported today"
    assert 'class="day" dir="auto">Saved or imported today<' in page
    for other in ("&density=compact", "&sort_by=author"):
        page = await ann.page(ALL + other)
        assert dates(page, post["post_id"]) == "16 Aug 2025 saved 08:12"
        assert dates(page, "77") == "16 Aug 2025 imported today"
    page = await ann.page(f"{ALL}&sort_by=posted_at")
    assert 'class="day" dir="auto">Posted in Aug 2025<' in page
    assert "<dt>Saved</dt>" in await ann.page(f"/p/{post['post_id']}")
    assert "<dt>Imported</dt>" in await ann.page("/p/77")
    house.clock.now += 24 * 3600 * 1_000_000
    assert dates(await ann.page(ALL), "77") == "16 Aug 2025 imported yesterday"
    page = await ann.page(f"{ALL}&density=compact")
    assert dates(page, post["post_id"]) == "16 Aug 2025 saved yesterday"


@pytest.mark.both
async def test_a_link_without_its_text_shows_its_address_and_its_state(
    ann: Reader, house: House
) -> None:
    house.clock.now = 1_777_933_830_000_000  # 4 May 2026, 22:30 UTC
    await ann.member.client.post("/v1/bookmarks", json={"links": ["https://x.com/i/status/29"]})

    for path in (ALL, "/p/29"):
        page = await ann.page(path)
        assert '<span dir="ltr">x.com</span></span><b dir="auto">x.com/i/status/29</b>' in page
        assert "Saved 4 May 2026, 22:30, without its text." in page
        assert "Without text" not in page
    page = await ann.page(f"{ALL}&density=compact")
    assert ">x.com/i/status/29 (being fetched)</a>" in page
    assert "Its network is being asked for it." in await ann.page(ALL)

    failed = FailedLink("29", LEFT, Reason.NO_SOURCE, 1, 0)
    links, account_id = LinkStore(house.database), ann.member.account_id
    await house.database.write(
        lambda transaction: links.failed(Writable(transaction, account_id), [failed]), account_id
    )
    assert f"without its text. {SENTENCES[Reason.NO_SOURCE]}<" in await ann.page(ALL)
    assert "x.com/i/status/29 (not fetched)" in await ann.page(f"{ALL}&density=grid")
    assert dates(page, "29") == "saved 22:30"
