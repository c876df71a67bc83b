"""/c/NAME: what strangers see of a shared list."""

import re
from typing import Any

import pytest

from tests.rest.test_shares import change, created, path_of
from tests.support import make, writing
from tests.support.service import Member, Service

pytestmark = pytest.mark.anyio

HOSTILE = '<script>alert(1)</script>" onload="x" & \u0001\u202e]]> <b>تصميم</b>'


async def shared(member: Member, **fields: Any) -> str:
    """The path of a shared label."""
    return path_of(await created(member, label_name="birds", **fields))


async def page(cast: Service, path: str) -> str:
    response = await cast.nobody.get(path, headers={"Accept": "text/html"})
    assert response.status_code == 200, response.text
    return response.text


async def test_a_stranger_sees_the_posts_of_the_label_alone(cast: Service) -> None:
    await cast.alice.save(tags=["birds"], text="In the list", is_read=True, is_archived=True)
    await cast.alice.save(tags=["other"], text="Elsewhere")
    await cast.bob.save(tags=["birds"], text="Of bob")

    text = await page(cast, await shared(cast.alice, title="Nests", curator="Ann"))

    assert "In the list" in text
    assert "1 post<" in text
    assert "Collected by <bdi>Ann</bdi>" in text
    assert "Elsewhere" not in text
    assert "Of bob" not in text


@pytest.mark.both
async def test_a_view_is_shown_in_its_order(cast: Service) -> None:
    for number, text in enumerate(("second", "third", "first")):
        await cast.alice.save(text=text, posted_at=f"2026-01-0{[2, 1, 3][number]}T00:00:00+00:00")
    view = {"name": "By date", "default_sort": "posted_at", "base_query": {"author": "@ada"}}
    await writing.send(cast.alice, "POST", "/v1/views", view)

    text = await page(cast, path_of(await created(cast.alice, view="by-date")))

    found = re.findall(r'<p class="text" dir="auto">(\w+)</p>', text)
    assert found == ["first", "second", "third"]


async def test_notes_highlights_and_days_of_saving_are_shown_only_if_chosen(cast: Service) -> None:
    post = await cast.alice.save(
        tags=["birds"], text="A blue nest", bookmarked_at="2026-05-04T00:00:00+00:00"
    )
    bookmark = f"/v1/bookmarks/{post['post_id']}"
    await writing.send(cast.alice, "PATCH", bookmark, {"note": "My own words"})
    passage = {"quote": "blue", "comment": "So blue"}
    await writing.send(cast.alice, "POST", f"{bookmark}/highlights", passage)
    share = await created(cast.alice, label_name="birds")

    closed = await page(cast, path_of(share))
    feeds = [
        (await cast.nobody.get(path_of(share, name))).text for name in ("atom_url", "json_url")
    ]
    await change(cast.alice, share["id"], notes=True, highlights=True, saved_dates=True)
    opened = await page(cast, path_of(share))

    for text in (closed, *feeds):
        assert "My own words" not in text
        assert "<mark" not in text
        assert "So blue" not in text
        assert "2026-05-04" not in text
    assert "My own words" in opened
    assert 'id="h-' in opened
    assert "So blue" in opened
    assert 'datetime="2026-05-04T00:00:00+00:00"' in opened


@pytest.mark.both
async def test_posts_in_the_trash_and_gone_posts_leave_the_page(cast: Service) -> None:
    kept = await cast.alice.save(tags=["birds"], text="Stays here")
    trashed = await cast.alice.save(tags=["birds"], text="Thrown away")
    await cast.alice.save(tags=["birds"], text="Gone there", gone_at="2026-07-01T00:00:00+00:00")
    share = await created(cast.alice, label_name="birds")
    before = await page(cast, path_of(share))

    await writing.send(cast.alice, "DELETE", f"/v1/bookmarks/{trashed['post_id']}")
    after = await page(cast, path_of(share))
    await change(cast.alice, share["id"], hides_gone=False)
    with_gone = await page(cast, path_of(share))

    assert "Thrown away" in before
    assert "Gone there" not in before
    assert "Thrown away" not in after
    assert "Stays here" in after
    assert kept["tweet_details"]["link"] in after
    assert "Gone there" in with_gone


async def test_pages_continue(cast: Service) -> None:
    await cast.alice.save_all(
        [numbered(number) for number in range(45)],
    )
    path = await shared(cast.alice)
    seen: list[str] = []
    address: str | None = path
    while address:
        text = await page(cast, address)
        seen += re.findall(r"number (\d+)<", text)
        following = re.search(r'href="(/c/[^"]*\?after=[^"]*)">Older posts', text)
        address = following[1].replace("&amp;", "&") if following else None

    assert seen == [str(number) for number in range(44, -1, -1)]


def numbered(number: int) -> dict[str, Any]:
    return make.post(tags=["birds"], text=f"number {number}")


@pytest.mark.parametrize("after", ["x", "c", "%00", "c" * 9_000, "%F0%9F%A6%86"])
async def test_an_address_that_continues_nowhere_is_not_found(cast: Service, after: str) -> None:
    await cast.alice.save(tags=["birds"])
    path = await shared(cast.alice)

    for form in ("", ".atom", ".json"):
        assert (await cast.nobody.get(f"{path}{form}?after={after}")).status_code == 404


async def test_other_parameters_mean_nothing(cast: Service) -> None:
    await cast.alice.save(tags=["birds"])
    path = await shared(cast.alice)
    whole = await page(cast, path)

    assert await page(cast, f"{path}?{'&'.join(['utm=1'] * 500)}&after=") == whole


async def test_the_page_of_another_share_does_not_continue_this_one(cast: Service) -> None:
    await cast.alice.save_all([numbered(number) for number in range(21)])
    first, second = await shared(cast.alice), await shared(cast.alice)
    following = re.search(r"\?(after=[^\"]*)", await page(cast, first))
    assert following

    assert (await cast.nobody.get(f"{first}?{following[1]}")).status_code == 200
    assert (await cast.nobody.get(f"{second}?{following[1]}")).status_code == 404


async def test_text_is_never_markup(cast: Service) -> None:
    await cast.alice.save(
        tags=["birds"],
        text=HOSTILE,
        name=HOSTILE,
        attachments=[
            {"type": "link", "url": "javascript:alert(1)", "title": HOSTILE, "domain": HOSTILE},
            {"type": "image", "url": 'https://x.example/"><script>', "alt_text": HOSTILE},
            {"type": "poll", "choices": [HOSTILE]},
        ],
        quoted={"text": HOSTILE, "author_username": "eve", "link": "data:text/html,x"},
        article={"title": HOSTILE, "plain_text": HOSTILE, "cover_image": "//evil"},
    )
    share = await created(
        cast.alice,
        label_name="birds",
        title="<i>Title</i>",
        description="<i>About</i>",
        curator="<i>Ann</i>",
    )

    text = await page(cast, path_of(share))

    assert "<script" not in text
    assert 'onload="x' not in text
    assert "javascript:" not in re.sub(r">[^<]*<", "><", text)
    assert "<i>Title" not in text
    assert "<i>A" not in text
    assert "\u0001" not in text
    assert "تصميم" in text


async def test_the_headers_of_a_page(cast: Service) -> None:
    await cast.alice.save(tags=["birds"])
    share = await created(cast.alice, label_name="birds")

    hidden = await cast.nobody.get(path_of(share))
    await change(cast.alice, share["id"], is_indexed=True)
    listed = await cast.nobody.get(path_of(share))

    assert hidden.headers["x-robots-tag"] == "noindex"
    assert '<meta name="robots" content="noindex">' in hidden.text
    assert "x-robots-tag" not in listed.headers
    assert "noindex" not in listed.text
    policy = hidden.headers["content-security-policy"]
    assert policy == (
        "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; "
        "form-action 'none'; frame-ancestors 'none'"
    )
    assert hidden.headers["referrer-policy"] == "no-referrer"
    assert hidden.headers["cache-control"] == "public, no-cache"
    assert "set-cookie" not in hidden.headers
    assert "<script" not in hidden.text
    assert "<form" not in hidden.text


@pytest.mark.parametrize("path", ["/c", "/c/", "/c/x", "/c/a%00b", "/c/abc/media/x/y"])
async def test_unknown_addresses_look_alike(cast: Service, path: str) -> None:
    plain = await cast.nobody.get(path)
    html = await cast.nobody.get(path, headers={"Accept": "text/html"})

    assert (plain.status_code, html.status_code) == (404, 404)
    assert plain.text == "Nothing is shared at this address.\n"
    assert "Nothing is shared at this address." in html.text


async def test_a_page_is_only_read(cast: Service) -> None:
    await cast.alice.save(tags=["birds"])
    path = await shared(cast.alice)

    refused = await cast.nobody.post(path)
    head = await cast.nobody.head(path)

    assert (refused.status_code, refused.headers["allow"]) == (405, "GET, HEAD")
    assert (head.status_code, head.content) == (200, b"")


async def test_a_share_that_is_switched_off_is_gone_at_once(cast: Service) -> None:
    await cast.alice.save(tags=["birds"])
    share = await created(cast.alice, label_name="birds")
    assert (await cast.nobody.get(path_of(share))).status_code == 200

    await change(cast.alice, share["id"], is_on=False)
    assert (await cast.nobody.get(path_of(share))).status_code == 404
    await change(cast.alice, share["id"], is_on=True)
    assert (await cast.nobody.get(path_of(share))).status_code == 200
