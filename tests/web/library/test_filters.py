"""The filters of a list: chips with phrases, panels, and fields that somebody types."""

import re
from html import unescape

import pytest

from bowerbird.web.library import typed_filters
from tests.support import saving
from tests.support.digesting import instant
from tests.web.house import Reader

pytestmark = pytest.mark.anyio
FILTERED = "/library?is_unread_only=false"


def phrases(page: str) -> dict[str, str]:
    """The filters that are applied, and the address of the list without each."""
    found = re.findall(r'class="x" href="([^"]+)".*?Remove the filter “([^”]+)”', page)
    return {unescape(phrase): unescape(url) for url, phrase in found}


@pytest.mark.parametrize(
    ("query", "phrase"),
    [
        ("media_type=image", "type image"),
        ("tag=birds+%26+bees", "label birds & bees"),
        ("author=%40ines", "by @ines"),
        ("label=a,b&label_match=all", "labels a,b"),
        ("has_note=true", "with a note"),
        ("unlabelled=true", "without a label"),
        ("has=highlight", "with highlight"),
        ("is_reply=false", "without replies"),
        ("is_gone=true", "gone from its network"),
        ("is_duplicate=true", "with a copy"),
        ("min_words=500", "words, at least 500"),
        ("linked_site=example.com", "with a link to example.com"),
        ("language=de,und", "language Deutsch, unknown"),
        ("network=Twitter.com", "on X"),
        ("posted_from=today", "posted today"),
        ("bookmarked_from=today-6d", "saved in the last 7 days"),
        ("bookmarked_from=2026-01-01", "saved this year"),
        ("bookmarked_from=2025-03-01", "saved since 1 Mar 2025"),
        ("posted_to=2025-03-01", "posted until 1 Mar 2025"),
        ("posted_from=2025-03-01&posted_to=2025-03-02", "posted 1 Mar 2025 to 2 Mar 2025"),
        ("posted_from=-7d", "posted after -7d"),
        ("q=is%3Aread", "state read"),
    ],
)
async def test_an_applied_filter_is_a_phrase_that_can_be_removed(
    ann: Reader, query: str, phrase: str
) -> None:
    ann.house.clock.now = instant("2026-07-18T12:00:00+00:00")
    await ann.member.save()

    assert phrases(await ann.page(f"{FILTERED}&{query}")) == {phrase: FILTERED}


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


async def test_the_panel_of_networks_counts_the_posts_of_the_list(ann: Reader) -> None:
    links = ["https://youtu.be/Bower-Bird_", "https://youtu.be/Bower-Bird2", saving.X]
    await saving.save(ann.member, links=links)

    panel = await ann.page("/library/panels/network?network=x")

    counts = re.findall(r"<bdi>(\w+)</bdi></span><span class=\"count\">(\d)", panel)
    assert counts == [("YouTube", "2"), ("X", "1")]
    assert 'href="/library?network=youtube"' in panel


async def test_a_free_account_is_offered_only_the_state(free: Reader) -> None:
    await free.member.save(tags=["Birds"])

    page = await free.page("/library")

    assert re.findall(r'data-kind="(\w+)"', page) == ["state"]
    assert "tag=Birds" not in page.partition("<main")[0]


@pytest.mark.parametrize(
    ("text", "rest", "filters"),
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
def test_a_typed_field_becomes_a_filter(
    text: str, rest: str | None, filters: dict[str, str]
) -> None:
    assert typed_filters.taken(text) == (text if rest is None else rest, filters)
