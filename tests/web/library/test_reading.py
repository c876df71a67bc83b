"""/p/{post_id}: the reading view."""

import re
from html import unescape
from urllib.parse import urlencode

import msgspec
import pytest

from tests.support import saving, writing
from tests.support.saving import stored
from tests.web.house import Reader
from tests.web.library.test_changes import part

pytestmark = pytest.mark.anyio

# What a browser sends for a link that somebody follows.
OPENED = {
    "Sec-Fetch-Site": "same-origin",
    "Sec-Fetch-Mode": "navigate",
    "Sec-Fetch-Dest": "document",
    "Sec-Fetch-User": "?1",
}


def count_of(page: str, name: str) -> str:
    """A number in the sidebar."""
    found: list[str] = re.findall(rf'data-count="{name}">([^<]*)<', page)
    return found[0]


async def test_a_post_shows_all_that_is_stored_about_it(ann: Reader) -> None:
    post = await ann.member.save(
        text="look https://example.org/a",
        author="ines",
        name="Ines O.",
        posted_at="2026-01-09T08:30:00+00:00",
        bookmarked_at="2026-02-01T12:00:00+00:00",
        tags=["Birds"],
        note="for the talk",
        metrics={"favorite_count": 1204, "retweet_count": 1},
        attachments=[
            {"type": "image", "url": "https://img.example/1.jpg", "alt_text": "a blue cap"},
            {"type": "video", "url": "https://img.example/2.mp4", "duration_ms": 61_000},
            {"type": "poll", "choices": ["yes", {"label": "no"}], "ends_at": "2026-01-10"},
            {"type": "link", "url": "https://example.org/c", "title": "A card", "domain": "e.org"},
        ],
        quoted={"text": "quoted words", "author_username": "tom", "link": "https://x.com/t/1"},
    )

    page = await ann.page(f"/p/{post['post_id']}")

    for shown in (
        "Ines O.",
        "@ines",
        "9 Jan 2026, 08:30",
        "1 Feb 2026, 12:00",
        "<bdi>Birds</bdi>",
        "for the talk",
        "1,204 likes",
        "1 repost<",
        "a blue cap",
        "Video without a description",
        "1:01",
        '<li dir="auto">no</li>',
        "A card",
        "quoted words",
        '<a href="https://example.org/a" rel="noreferrer" dir="ltr">example.org/a</a>',
        f'href="{post["tweet_details"]["link"]}" rel="noreferrer"',
    ):
        assert shown in page, shown
    assert "<img" not in page


async def test_the_network_is_named_after_the_handle(ann: Reader) -> None:
    post = await ann.member.save(author="ines")

    page = await ann.page(f"/p/{post['post_id']}")

    # The sign of X beside its name looked like a button that closes.
    assert '>@ines</span> <span class="soft">on X</span>' in page


async def test_dates_are_in_the_time_zone_of_the_account(ann: Reader) -> None:
    post = await ann.member.save(posted_at="2026-01-09T23:30:00+00:00")
    await ann.person.send("/account/preferences", "/account", time_zone="Asia/Tokyo")

    page = await ann.page(f"/p/{post['post_id']}")

    zone_page = await ann.page("/account")
    assert 'value="Asia/Tokyo"' in zone_page
    assert "10 Jan 2026, 08:30" in page


async def test_the_json_is_that_of_the_api(ann: Reader) -> None:
    post = await ann.member.save(text="<b>&amp;")

    page = await ann.page(f"/p/{post['post_id']}")
    found = re.search(r'aria-label="JSON"><code>(.*?)</code>', page, re.DOTALL)

    assert found
    api = (await ann.member.get(f"/v1/bookmarks/{post['post_id']}")).json()["data"]
    assert msgspec.json.decode(unescape(found[1])) == api


async def test_an_article_is_set_for_reading(ann: Reader) -> None:
    article = {
        "title": "The quiet web",
        "plain_text": "First paragraph.\n\nSecond #one.",
        "cover_image": "https://img.example/c.jpg",
    }
    post = await ann.member.save(text="https://t.co/x", article=article)

    page = await ann.page(f"/p/{post['post_id']}")

    assert re.search(r'<h1 id="t" dir="auto">The quiet web</h1>', page)
    assert 'data-field="article" data-start="0">First paragraph.</p>' in page
    assert 'data-field="article" data-start="18">Second ' in page
    assert 'href="https://img.example/c.jpg" rel="noreferrer"' in page


async def test_the_saved_parts_of_a_thread_are_shown_in_order(ann: Reader) -> None:
    part = {"is_sub_tweet_of_thread": True, "tweet_conversation_id": "500"}
    await ann.member.save(
        post_id="502", text="third", meta=part, posted_at="2026-01-01T00:02:00+00:00"
    )
    await ann.member.save(
        post_id="501", text="second", meta=part, posted_at="2026-01-01T00:01:00+00:00"
    )
    await ann.member.save(
        post_id="500", text="first", meta={"tweet_is_thread": True, "tweet_conversation_id": "500"}
    )

    for post_id in ("500", "501", "502"):
        page = await ann.page(f"/p/{post_id}")
        places = [page.index(f">{word}</p>") for word in ("first", "second", "third")]
        assert places == sorted(places)


async def test_a_reply_shows_the_saved_posts_that_it_answers(ann: Reader) -> None:
    await ann.member.save(post_id="600", text="the question", author="tom")
    await ann.member.save(post_id="601", text="the answer", meta={"tweet_reply_to_tweet_id": "600"})
    # Two posts that answer each other must not repeat for ever.
    await ann.member.save(post_id="610", text="egg", meta={"tweet_reply_to_tweet_id": "611"})
    await ann.member.save(post_id="611", text="hen", meta={"tweet_reply_to_tweet_id": "610"})

    page = await ann.page("/p/601")
    assert page.index("the question") < page.index(">the answer</p>")
    assert (await ann.page("/p/610")).count(">hen</p>") == 1


async def test_a_quoted_post_that_is_gone_keeps_its_address(ann: Reader) -> None:
    gone = {"unavailable": True, "link": "https://x.com/a/status/1"}
    post = await ann.member.save(quoted=gone, gone_at="2026-03-01T00:00:00+00:00")

    for path in ("/library", f"/p/{post['post_id']}"):
        page = await ann.page(path)
        assert "The quoted post is gone." in page
        assert 'href="https://x.com/a/status/1" rel="noreferrer"' in page
    assert (
        'no longer shows this post since <time datetime="2026-03-01T00:00:00+00:00">1 Mar' in page
    )


async def test_similar_posts_are_shown_when_the_vectors_are_ready(ann: Reader) -> None:
    post = await ann.member.save(text="bowerbirds decorate with blue caps")
    near = await ann.member.save(text="birds that decorate with blue things")
    assert "Similar posts" not in await ann.page(f"/p/{post['post_id']}")

    await ann.member.embed()

    page = await ann.page(f"/p/{post['post_id']}")
    assert "Similar posts" in page
    assert f'href="/p/{near["post_id"]}"' in page


async def test_the_other_posts_of_a_thread_are_not_called_similar(ann: Reader) -> None:
    thread = {"tweet_conversation_id": "500"}
    first = await ann.member.save(
        post_id="500", text="bowerbirds like blue caps", meta={"tweet_is_thread": True, **thread}
    )
    part = {"is_sub_tweet_of_thread": True, **thread}
    await ann.member.save(post_id="501", text="bowerbirds like blue pens", meta=part)
    near = await ann.member.save(post_id="600", text="birds that like blue things")
    await ann.member.embed()

    page = await ann.page(f"/p/{first['post_id']}")

    similar = page.partition('aria-labelledby="near"')[2].partition("</section>")[0]
    assert re.findall(r'href="/p/(\d+)"', similar) == [near["post_id"]]


async def test_an_unknown_post_is_not_found(ann: Reader) -> None:
    for post_id in ["1", "abc", "%00", "9" * 60, "%C3%A9"]:
        shown = await ann.person.open(f"/p/{post_id}")
        assert shown.status_code == 404, post_id
    assert "Page not found" in shown.text


async def test_a_free_account_reads_its_posts(free: Reader) -> None:
    post = await free.member.save(author="ines")

    page = await free.page(f"/p/{post['post_id']}")

    # The filter by author needs a paid plan, the search does not.
    assert 'href="/library?is_unread_only=false&amp;hide_archived=false&amp;q=%40ines"' in page


async def test_a_post_leads_back_to_its_list_without_the_message_there(ann: Reader) -> None:
    post = (await ann.member.save(tags=["Birds"]))["post_id"]

    page = await ann.page(f"/p/{post}?from=%2Flibrary%3Ftag%3DBirds%26change%3D1%26said%3Dread")

    assert f'href="/library?tag=Birds#p-{post}"' in page


async def test_a_post_of_a_view_has_the_posts_beside_it(ann: Reader) -> None:
    ids = [(await ann.member.save(tags=["Birds"]))["post_id"] for _ in range(3)]
    await ann.member.save()
    bucket = {"name": "Some", "query": {"q": "post"}}
    view = {"name": "Birds", "base_query": {"tag": "Birds"}, "triage_buckets": [bucket]}
    await writing.send(ann.member, "POST", "/v1/views", view)

    for before in ("/views/birds", "/views/birds?bucket=some"):
        opened = f"/p/{ids[1]}?{urlencode({'from': before})}"
        page = unescape(await ann.page(opened))
        assert (
            f'href="/p/{ids[2]}?{urlencode({"from": before, "beside": f" {ids[1]}"})}" rel="prev"'
            in page
        )
        assert (
            f'href="/p/{ids[0]}?{urlencode({"from": before, "beside": f"{ids[1]} "})}" rel="next"'
            in page
        )
    for before in ("/views/nothing", "/views/birds?bucket=nothing", "/library?limit=x"):
        page = await ann.page(f"/p/{ids[1]}?{urlencode({'from': before})}")
        assert 'rel="next"' not in page


async def test_a_time_of_saving_is_not_shown_as_the_time_of_posting(ann: Reader) -> None:
    links = ["https://x.com/jack/status/29", "https://x.com/ada/status/1050118621198921728"]
    await ann.member.client.post("/v1/bookmarks", json={"links": links})
    [undated] = [post for post in (await ann.member.listed())["data"] if post["post_id"] == "29"]
    assert undated["tweet_details"]["posted_at"] == undated["bookmarked_at"]

    assert "Posted" not in await ann.page("/p/29")
    assert "10 Oct 2018, 20:19" in await ann.page("/p/1050118621198921728")
    for density in ("", "&density=compact"):
        page = await ann.page(f"/library?sort_by=posted_at{density}")
        row = page.partition('id="p-29"')[2].partition("<li")[0]
        assert re.search(r'<a class="when" href="/p/29">saved <time[^>]*>08:21</time></a>', row)
        assert row.count("<time") == 1
        assert "10 Oct 2018" in page


async def test_a_link_says_that_its_text_is_on_its_way_or_why_there_is_none(ann: Reader) -> None:
    await saving.save(ann.member, links=[saving.X])
    path = f"/p/{saving.X_ID}"

    page = await ann.page(path)

    assert f'data-follow="{path}/content" data-mark="fetching"' in page
    assert "X is being asked for the text of this post." in page
    state = await ann.person.open(f"{path}/content")
    assert state.json() == {"mark": "fetching", "jobs": []}
    await ann.member.save(post_id=saving.X_ID, text="Here it is.")
    assert (await ann.person.open(f"{path}/content")).json()["mark"] == "whole"
    assert "being asked" not in await ann.page(path)


async def test_opening_a_post_marks_it_read_and_nothing_else_does(ann: Reader) -> None:
    post_id = (await ann.member.save())["post_id"]
    path, get = f"/p/{post_id}", ann.person.client.get

    async def is_read() -> bool:
        return bool((await stored(ann.member, post_id))["is_read"])

    for sent in (
        {},
        OPENED | {"Sec-Purpose": "prefetch;prerender"},
        OPENED | {"Sec-Fetch-Site": "cross-site"},
        OPENED | {"Sec-Fetch-Dest": "empty"},
    ):
        assert "data-opening" in (await get(path, headers=sent)).text
        assert not await is_read()
    shown = await get(path, headers=OPENED)
    assert 'name="unread"' in shown.text
    assert "data-opening" not in shown.text
    assert await is_read()
    # The page that says that it is unread again does not mark it.
    changed = await ann.change(path, unread=post_id)
    await get(changed.headers["location"], headers=OPENED)
    assert not await is_read()
    # The switch is off.
    await ann.person.send("/account/reading", "/account", favourite="favourite")
    assert "data-opening" not in (await get(path, headers=OPENED)).text
    assert not await is_read()


async def test_opening_a_thread_marks_its_posts_read_and_they_are_marked_as_one(
    ann: Reader,
) -> None:
    await ann.member.save_all([part(1, number) for number in range(3)])
    await ann.member.save()
    path, posts = "/p/9101", "9100 9101 9102"
    shown = await ann.person.client.get(path)
    assert count_of(shown.text, "bead") == "4"
    assert 'data-opening="3"' in shown.text

    shown = await ann.person.client.get(path, headers=OPENED)
    assert count_of(shown.text, "bead") == "1"
    assert count_of(await ann.page("/library"), "bead") == "1"
    assert f'name="unread" value="{posts}" formaction="/library/many"' in shown.text
    undone = await ann.person.send("/library/many", path, back=path, unread=posts)
    shown = await ann.person.client.get(undone.headers["location"], headers=OPENED)
    assert count_of(shown.text, "bead") == "4"


async def test_a_post_that_is_read_and_has_left_its_list_keeps_its_neighbours(ann: Reader) -> None:
    ids = [(await ann.member.save())["post_id"] for _ in range(3)]
    path = f"/p/{ids[1]}?{urlencode({'from': '/library'})}"
    await ann.person.client.get(path, headers=OPENED)
    assert ids[1] not in await ann.page("/library")
    shown = await ann.person.client.get(path)
    assert 'rel="next"' not in shown.text
    beside = urlencode({"from": "/library", "beside": f"{ids[2]} {ids[0]}"})
    shown = await ann.person.client.get(f"/p/{ids[1]}?{beside}")
    assert 'rel="prev"' in shown.text
    assert 'rel="next"' in shown.text
