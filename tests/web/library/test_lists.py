"""/library: lists, search, filters, paging, and the pages without posts."""

import re
from html import unescape
from typing import Any

import pytest

from bowerbird.library.bookmarks.searching import ranking
from bowerbird.web.library import filters
from tests.support import imports, writing
from tests.web.house import Reader, ids

pytestmark = pytest.mark.anyio


def older(page: str) -> str:
    found = re.search(r'<p class="next"><a class="btn" href="([^"]+)"', page)
    assert found, page
    return unescape(found[1])


def headings(page: str) -> list[str]:
    return [unescape(text) for text in re.findall(r"<h[12][^>]*>([^<]+)</h[12]>", page)]


async def test_the_start_page_of_signed_in_people_is_their_library(ann: Reader) -> None:
    response = await ann.person.client.get("/")

    assert response.headers["location"] == "/library"


async def test_a_bound_by_another_name_is_shown_and_removed_by_its_plain_one(ann: Reader) -> None:
    await ann.member.save(bookmarked_at="2024-12-31T08:00:00+00:00")

    page = await ann.page("/library?bookmarked_before=2025-01-01")

    assert "saved until <b><bdi>31 Dec 2024</bdi></b>" in page
    assert "bookmarked_before" not in page
    assert "bookmarked_to=2024-12-31" in page


async def test_an_empty_library_shows_the_ways_in(ann: Reader) -> None:
    page = await ann.page("/library")

    assert "An empty bower" in page
    # One is recommended.
    assert 'class="btn main big" href="/connect"' in page
    for path in ("/sources", "/import", "/keys", "/save"):
        assert f'class="btn" href="{path}"' in page
    assert 'role="search"' not in page


@pytest.mark.parametrize("path", ["/library", "/library?is_unread_only=false"])
async def test_a_library_of_archived_posts_leads_to_the_archive(ann: Reader, path: str) -> None:
    await ann.member.save(is_archived=True)

    page = await ann.page(path)

    assert "Everything is archived" in page
    assert "Show read posts" not in page


async def test_a_library_without_unread_posts_says_that_all_is_read(ann: Reader) -> None:
    await ann.member.save(is_read=True)
    await ann.member.save(is_read=True, is_archived=True)

    page = await ann.page("/library")

    assert "All read" in page
    assert "2 posts are read, 1 archived." in page


async def test_the_list_has_the_posts_of_the_api_in_its_order(ann: Reader) -> None:
    for number in range(5):
        await ann.member.save(is_read=number == 2, is_archived=number == 3)

    for query in ("", "is_unread_only=false", "is_unread_only=false&hide_archived=false"):
        parameters = dict(pair.split("=") for pair in query.split("&") if pair)
        page = await ann.page(f"/library?{query}")
        assert ids(page) == await ann.member.ids(**parameters)
    assert len(ids(page)) == 5


async def test_the_count_says_how_many_and_in_which_order(ann: Reader) -> None:
    for _ in range(3):
        await ann.member.save()
    await ann.member.save(is_read=True)

    assert "<h1>3 unread</h1><span>newest saved first</span>" in await ann.page("/library")
    everything = await ann.page("/library?is_unread_only=false&sort_by=posted_at&sort_order=asc")
    assert "<h1>4 posts</h1><span>oldest posted first</span>" in everything


async def test_density_is_in_the_url(ann: Reader) -> None:
    await ann.member.save(text="first line\nsecond line")

    assert '<div class="posts" data-unread data-hides-archived>' in await ann.page("/library")
    compact = await ann.page("/library?density=compact")
    assert '<div class="posts compact" data-unread data-hides-archived>' in compact
    assert "first line second line</a>" in compact
    assert "/library?density=compact" in compact


async def test_the_sidebar_has_counts_labels_and_views(ann: Reader) -> None:
    await ann.member.save(tags=["Birds", "<b>"])
    await ann.member.save(is_read=True)
    await ann.member.save(is_archived=True)
    view = {"name": "Long reads", "base_query": {"media_type": "article"}}
    created = await writing.send(ann.member, "POST", "/v1/views", view)
    slug = created.json()["data"]["slug"]

    page = await ann.page("/library")

    entries = re.findall(
        r'<span class="t">(?:<bdi>)?([^<]+).*?<span class="count"[^>]*>(\d+)', page
    )
    assert ("Unread", "1") in entries
    assert ("All posts", "3") in entries
    assert ("Archive", "1") in entries
    assert ("Birds", "1") in entries
    assert ("&lt;b&gt;", "1") in entries
    assert f'href="/views/{slug}"' in page


async def test_a_view_lists_its_posts_and_its_buckets(ann: Reader) -> None:
    article = {"title": "Bowers", "plain_text": "long"}
    wanted = await ann.member.save(article=article, tags=["Birds"])
    other = await ann.member.save(article=article)
    await ann.member.save()
    view = {
        "name": "Long reads",
        "base_query": {"media_type": "article"},
        "triage_buckets": [{"slug": "birds", "name": "Birds", "query": {"tag": "Birds"}}],
    }
    await writing.send(ann.member, "POST", "/v1/views", view)

    page = await ann.page("/views/long-reads")
    assert ids(page) == [other["post_id"], wanted["post_id"]]
    assert 'href="/views/long-reads?bucket=birds"' in page
    assert ids(await ann.page("/views/long-reads?bucket=birds")) == [wanted["post_id"]]
    assert (await ann.person.open("/views/unknown")).status_code == 404


async def test_the_search_form_leads_to_the_parameters_of_the_api(ann: Reader) -> None:
    async def target(query: str) -> str:
        response = await ann.person.client.get(f"/library?{query}")
        assert response.status_code == 303
        return str(response.headers["location"])

    assert await target("search=blue+pen&by=words") == "/library?q=blue+pen"
    assert await target("search=blue&by=meaning") == "/library?vector_search_term=blue"
    assert await target("search=a&by=both&tag=B") == "/library?tag=B&q=a&vector_search_term=a"
    assert await target("search=&by=words&q=old") == "/library"
    # Exclusions and states are for the words only; other fields are filters.
    both = "/library?author=ada&q=red+-pen&vector_search_term=red"
    assert await target("search=red+-pen+from%3Aada&by=both") == both
    states = "/library?has=link&q=is%3Aread"
    assert await target("search=is%3Aread+has%3Alink&by=both") == states
    # The vectors are not built, so a search without a mode is by word.
    assert await target("search=blue") == "/library?q=blue"
    assert await target("tag=Birds&author=") == "/library?tag=Birds"


async def test_the_search_box_remembers_how_somebody_searched_last(ann: Reader) -> None:
    def chosen(page: str) -> list[str]:
        return re.findall(r'name="by" value="(\w+)" checked', page)

    await ann.member.save(text="blue")
    assert chosen(await ann.page("/library")) == ["words"]
    # The only mode that works without vectors is no choice.
    await ann.page("/library?search=blue&by=words")
    await ann.member.embed()
    assert chosen(await ann.page("/library")) == ["both"]
    for mode in ("meaning", "words", "both"):
        await ann.page(f"/library?search=blue&by={mode}")
        assert chosen(await ann.page("/library")) == [mode]
    await ann.page("/library?search=blue&by=nonsense")
    assert chosen(await ann.page("/library")) == ["both"]


async def test_a_search_with_fields_says_what_it_did_not_understand(ann: Reader) -> None:
    post = await ann.member.save(text="a red pen", is_read=True)
    await ann.member.embed()

    found = await ann.page("/library?q=pen+is%3Aread&vector_search_term=pen")
    page = await ann.page("/library?q=pen+to%3A<b>&is_unread_only=false")

    assert ids(found) == [post["post_id"]]
    assert "Remove the filter “near to" not in found
    assert "to: is not a field of this search" in page
    assert "&#39;to:&lt;b&gt;&#39; counts as words" in page
    assert "label:&#34;to read&#34;" in page


async def test_hits_are_marked_and_their_markup_is_text(ann: Reader) -> None:
    await ann.member.save(text="a <i>bower</i> & nest")
    await ann.member.save(text="a pen")

    page = await ann.page("/library?q=bower")

    assert "a &lt;i&gt;<mark>bower</mark>&lt;/i&gt; &amp; nest" in page
    assert len(ids(page)) == 1
    assert "<h1>1 post</h1>" in page
    compact = await ann.page("/library?q=bower&density=compact")
    assert "<mark>bower</mark>&lt;/i&gt; &amp; nest</a>" in compact


async def test_search_by_meaning_and_by_both(ann: Reader) -> None:
    bird = await ann.member.save(text="birds decorate their nests with blue things")
    await ann.member.save(text="quarterly tax report")
    await ann.member.embed()

    by_meaning = await ann.page("/library?vector_search_term=birds")
    both = await ann.page("/library?q=tax&vector_search_term=birds")

    assert ids(by_meaning) == [bird["post_id"]]
    assert "best first" in by_meaning
    assert 'value="meaning" checked' in by_meaning
    assert len(ids(both)) == 2
    assert both.count("near in meaning") == 1
    assert 'value="both" checked' in await ann.page("/library")


async def test_a_list_at_its_bound_says_that_it_has_the_best(
    ann: Reader, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A small bound, because a thousand posts would make this test slow.
    for module in (ranking, filters):
        monkeypatch.setattr(module, "RANKED_MAX", 2)
    for number in range(3):
        await ann.member.save(text=f"birds decorate their nests, {number}")
    await ann.member.embed()

    by_meaning = await ann.page("/library?vector_search_term=birds")
    by_words = await ann.page("/library?q=birds+2")

    assert "<h1>The best 2 posts</h1>" in by_meaning
    assert "<span>The best 2</span></label>" in by_meaning
    assert "that match" not in by_meaning
    assert "<h1>1 post</h1>" in by_words
    assert "<h1>3 posts</h1>" in await ann.page("/library?q=birds")


async def test_posts_that_a_search_by_meaning_does_not_find_yet_are_counted(ann: Reader) -> None:
    await ann.member.save(text="birds decorate their nests")
    await ann.member.embed()

    async def said() -> dict[str, Any]:
        state: dict[str, Any] = (await ann.person.open("/library/meaning")).json()
        return {"mark": state["mark"], "text": state["jobs"][0]["text"]}

    found = "Search by meaning finds all your posts now."
    assert await said() == {"mark": "ready", "text": found}
    assert "data-follow" not in await ann.page("/library?vector_search_term=birds")
    await ann.member.save(text="a red pen")
    waiting = "Search by meaning cannot find 1 post yet. Search by words finds it."
    assert await said() == {"mark": "open", "text": waiting}
    assert waiting in await ann.page("/library?vector_search_term=birds")


async def test_a_refused_search_says_why_on_the_page(ann: Reader, free: Reader) -> None:
    await ann.member.save()
    shown = await ann.person.open("/library?vector_search_term=birds")
    assert shown.status_code == 402
    assert "The vector store is being built" in shown.text

    await free.member.save()
    filtered = await free.person.open("/library?tag=Birds")
    assert filtered.status_code == 402
    assert "The free plan does not include filters (tag)" in filtered.text

    for query in ("limit=x", "cursor=x", "posted_from=yesterday", "sort_by=size"):
        shown = await ann.person.open(f"/library?{query}")
        assert shown.status_code == 400
        assert 'role="alert"' in shown.text


async def test_zero_hits_explain_themselves(ann: Reader) -> None:
    await ann.member.save(text="nest", is_read=True, tags=["Birds"])
    await ann.member.save(text="nest", tags=["Bees"])

    hidden = await ann.page("/library?q=nest&tag=Birds")
    filtered = await ann.page("/library?q=nest&tag=Ants&is_unread_only=false")

    assert "No posts" in hidden
    assert "Look in read and archived posts too" in hidden
    assert 'q=nest"><span class="row"><span class="t"><bdi>Leave out' in hidden
    assert "Leave out the filter “label Ants”" in filtered
    assert "2 posts</small>" in filtered


async def test_a_relaxed_search_says_so_and_links_to_what_was_meant(ann: Reader) -> None:
    await ann.member.save(text="The heron waits at the weir")

    relaxed = await ann.page("/library?q=heron+lake")
    misspelled = await ann.page("/library?q=%22at+the+weir%22+herron")
    nothing = await ann.page("/library?q=%22gone%22+herron")

    assert "No post has all of these words. These have some of them." in relaxed
    assert "best first" in relaxed
    assert "Did you mean" not in relaxed
    link = 'href="/library?q=%22at+the+weir%22+heron"'
    assert f"Did you mean <a {link}><bdi>&#34;at the weir&#34; heron</bdi></a>?" in misspelled
    assert "No post has the words" in nothing


async def test_all_posts_are_picked_only_where_a_change_finds_the_same(ann: Reader) -> None:
    bird = await ann.member.save(text="The heron waits at the weir")
    await ann.member.embed()

    for search, can_pick_all in (("heron+weir", True), ("heron+lake", False)):
        for meaning in ("", "&vector_search_term=tax"):
            page = await ann.page(f"/library?q={search}{meaning}")
            assert ids(page) == [bird["post_id"]]
            assert ('name="all"' in page) is can_pick_all


async def test_orders_are_links_and_the_chosen_one_is_marked(ann: Reader) -> None:
    await ann.member.save(author="zoe", text="nest")
    await ann.member.save(author="ada", text="nest")

    page = await ann.page("/library?q=nest&sort_by=author&sort_order=asc")

    assert "by author" in page
    assert re.search(r'aria-current="true">Author, A to Z', page)
    assert 'sort_by=relevance">Best match first' in page


async def test_posts_are_grouped_by_date_in_the_zone_of_the_account(ann: Reader) -> None:
    # The clock of the tests stands in July 2026.
    await ann.member.save(bookmarked_at="2026-01-05T10:00:00+00:00")
    await ann.member.save(bookmarked_at="2026-02-05T10:00:00+00:00")

    page = await ann.page("/library")

    assert headings(page)[-2:] == ["Saved in Feb 2026", "Saved in Jan 2026"]
    assert "5 Feb</time>" in page

    path = "/library?sort_order=asc"
    changed = await ann.person.send("/library/days", "/library", days="off", back=path)
    assert (changed.status_code, changed.headers["location"]) == (303, path)
    assert "Feb 2026" not in "".join(headings(await ann.page("/library")))
    elsewhere = await ann.person.send("/library/days", "/library", days="on", back="//evil.example")
    assert elsewhere.headers["location"] == "/library"
    assert headings(await ann.page("/library")) == headings(page)


def newer(page: str) -> str:
    found = re.search(r'<p class="next newer"><a class="btn" href="([^"]+)"', page)
    assert found, page
    return unescape(found[1])


@pytest.mark.parametrize(
    "query",
    ["limit=2&", "limit=2&q=nest&tag=Birds&", "limit=2&sort_by=author&sort_order=asc&"],
)
async def test_newer_posts_lead_back_page_by_page(ann: Reader, query: str) -> None:
    for number in range(7):
        await ann.member.save(text="nest", author=f"ada{number % 3}", tags=["Birds"])

    pages = [await ann.page(f"/library?{query}")]
    assert "Newer posts" not in pages[0]
    while "Older posts" in pages[-1] or "More results" in pages[-1]:
        pages.append(await ann.page(older(pages[-1])))
    assert len(pages) == 4

    for number in (3, 2, 1):
        assert ids(await ann.page(newer(pages[number]))) == ids(pages[number - 1])


async def test_newer_posts_of_a_view_and_of_a_ranked_list(ann: Reader) -> None:
    for _ in range(5):
        await ann.member.save(text="nest", tags=["Birds"])
    view = {"name": "Birds", "base_query": {"tag": "Birds"}}
    await writing.send(ann.member, "POST", "/v1/views", view)

    for path in ("/views/birds?limit=2", "/library?q=nest&sort_by=relevance&limit=2"):
        first = await ann.page(path)
        second = await ann.page(older(first))
        third = await ann.page(older(second))
        assert ids(await ann.page(newer(second))) == ids(first)
        expected = second if path.startswith("/views") else first
        assert ids(await ann.page(newer(third))) == ids(expected)


async def test_zero_hits_name_the_label_or_author_that_was_probably_meant(ann: Reader) -> None:
    await ann.member.save(author="mara_fieldnotes", name="Mara Lindqvist", tags=["Databases"])

    by_word = await ann.page("/library?q=datbases")
    by_filter = await ann.page("/library?tag=dtaabases")
    by_handle = await ann.page("/library?author=@mara_feildnotes")
    by_name = await ann.page("/library?author=Mara+Lindquist&is_unread_only=false")
    by_start = await ann.page("/library?author=mara")
    unlike = await ann.page("/library?q=zzzzzzzz")

    assert "author=%40mara_fieldnotes" in by_start
    assert 'href="/library?tag=Databases"' in by_word
    assert "Show the label “Databases”" in by_word
    assert "1 post</small>" in by_word
    assert 'href="/library?tag=Databases"' in by_filter
    assert "author=%40mara_fieldnotes" in by_handle
    assert "Show posts by “@mara_fieldnotes”" in by_name
    assert "Show " not in unlike.partition('class="tryout"')[2].partition("</main>")[0]


async def test_a_grid_shows_the_words_of_a_post_without_a_picture(ann: Reader) -> None:
    post_id = (await ann.member.save(text="Finally."))["post_id"]
    page = await ann.page("/library?density=grid")
    assert f'<a class="face words few" href="/p/{post_id}" dir="auto"><span>Finally.</span>' in page
    assert 'title="Grid" data-density="3" aria-current="true"' in page
    assert 'class="day"' not in page


async def test_a_search_says_that_a_word_stands_in_an_image(ann: Reader) -> None:
    text = {"url": "https://pbs.twimg.com/a.png", "text": "Invoice <48213>"}
    await imports.take(ann.member, imports.found(text="a receipt", image_texts=[text]))

    page = await ann.page("/library?q=48213")

    assert "in an image: Invoice &lt;<mark>48213</mark>&gt;" in page
    assert "in an image" not in await ann.page("/library?q=receipt")
